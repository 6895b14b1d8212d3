//! Ranks API versions by their names.

use std::cmp::Reverse;

/// Returns the sort key of a version, as upstream ranks versions: `v2` above `v1` above `v1beta1`
/// above `v1alpha1` above all other names, which are in alphabetical order.
pub fn rank(version: &str) -> (u8, u64, u64, Reverse<String>) {
    let none = (0, 0, 0, Reverse(version.to_owned()));
    let Some(rest) = version.strip_prefix('v') else {
        return none;
    };
    let digits = rest.find(|it: char| !it.is_ascii_digit());
    let (major, rest) = rest.split_at(digits.unwrap_or(rest.len()));
    let Ok(major) = major.parse() else {
        return none;
    };
    let minor = |stage: u8, text: &str| match text.parse() {
        Ok(minor) => (stage, major, minor, Reverse(String::new())),
        Err(_) => none.clone(),
    };
    if rest.is_empty() {
        (3, major, 0, Reverse(String::new()))
    } else if let Some(text) = rest.strip_prefix("beta") {
        minor(2, text)
    } else if let Some(text) = rest.strip_prefix("alpha") {
        minor(1, text)
    } else {
        none
    }
}
