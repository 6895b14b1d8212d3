//! [`Version`]: a semantic version, with the errors of upstream's parser.

use crate::value::format::quote;
use std::cmp::Ordering;

/// A semantic version. The build metadata does not matter for its precedence, so it is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    prerelease: Vec<Identifier>,
}

/// An identifier of a prerelease. Numbers come before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(String),
}

impl Version {
    /// Compares two versions. A prerelease comes before its release.
    pub(super) fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |it: &Self| (it.major, it.minor, it.patch);
        let release = |it: &Self| it.prerelease.is_empty();
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| release(self).cmp(&release(other)))
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

/// Parses a version.
pub(super) fn parse(text: &str) -> Result<Version, String> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let (major, minor) = (
        number("major", "Major", major)?,
        number("minor", "Minor", minor)?,
    );
    let (rest, build) = divided(rest, '+');
    let (patch, prerelease) = divided(rest, '-');
    let patch = number("patch", "Patch", patch)?;
    let prerelease =
        prerelease.map(|it| it.split('.').map(identifier).collect::<Result<Vec<_>, _>>());
    let prerelease = prerelease.transpose()?.unwrap_or_default();
    for part in build.iter().flat_map(|it| it.split('.')) {
        if part.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !part.bytes().all(is_identifier) {
            let part = quote(part);
            return Err(format!(
                "Invalid character(s) found in build meta data {part}"
            ));
        }
    }
    Ok(Version {
        major,
        minor,
        patch,
        prerelease,
    })
}

/// Parses a version after its mending: a leading `v` and leading zeros are dropped, and absent
/// numbers are zero.
pub(super) fn parse_normalized(text: &str) -> Result<Version, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|it| it.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize_with(3, || "0".to_owned());
    }
    parse(&parts.join("."))
}

fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|it: char| it.is_ascii_digit()) {
        rest.to_owned()
    } else {
        format!("0{rest}")
    }
}

fn divided(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((head, tail)) => (head, Some(tail)),
        None => (text, None),
    }
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn number(name: &str, title: &str, text: &str) -> Result<u64, String> {
    if !text.bytes().all(|it| it.is_ascii_digit()) {
        let text = quote(text);
        return Err(format!(
            "Invalid character(s) found in {name} number {text}"
        ));
    }
    if has_leading_zero(text) {
        let text = quote(text);
        return Err(format!(
            "{title} number must not contain leading zeroes {text}"
        ));
    }
    unsigned(text)
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

fn unsigned(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let why = if text.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        format!("strconv.ParseUint: parsing {}: {why}", quote(text))
    })
}

fn identifier(text: &str) -> Result<Identifier, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if text.bytes().all(|it| it.is_ascii_digit()) {
        if has_leading_zero(text) {
            let text = quote(text);
            return Err(format!(
                "Numeric PreRelease version must not contain leading zeroes {text}"
            ));
        }
        return unsigned(text).map(Identifier::Number);
    }
    if text.bytes().all(is_identifier) {
        return Ok(Identifier::Text(text.to_owned()));
    }
    let text = quote(text);
    Err(format!("Invalid character(s) found in prerelease {text}"))
}
