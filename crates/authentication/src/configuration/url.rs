//! What is wrong with the URL of an issuer.

use kubist_apimachinery::{FieldError, FieldPath};

/// Returns what is wrong with a URL, as upstream.
pub(super) fn problems(url: &str, disallowed: &[String], path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut say = |detail: String| errors.push(FieldError::invalid(path, url, detail));
    if disallowed.iter().any(|it| it == url) {
        let mut sorted = disallowed.to_vec();
        sorted.sort();
        let sorted = sorted.join(" ");
        say(format!(
            "URL must not overlap with disallowed issuers: [{sorted}]"
        ));
    }
    if url.chars().any(|it| it.is_ascii_control()) {
        say(format!(
            "parse {}: net/url: invalid control character in URL",
            kubist_apimachinery::go_text::quote(url)
        ));
        return errors;
    }
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = rest.split('/').next().unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("https") {
        say("URL scheme must be https".to_owned());
    }
    if !scheme.is_empty() && authority.contains('@') {
        say("URL must not contain a username or password".to_owned());
    }
    if !query.is_empty() {
        say("URL must not contain a query".to_owned());
    }
    if !fragment.is_empty() {
        say("URL must not contain a fragment".to_owned());
    }
    errors
}
