//! Names of a kind: the default plural, and what servers accept.

use syn::{Error, LitStr};

/// Returns the plural of a lower-case English noun, by the rules that kube and kubebuilder share.
pub(crate) fn plural_of(singular: &str) -> String {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|it| singular.ends_with(it));
    if ends(&["s", "x", "z", "ch", "sh"]) {
        return format!("{singular}es");
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{singular}s"),
    }
}

/// Checks a DNS label that begins with a letter.
pub(crate) fn check_label(text: &LitStr, what: &str, example: &str) -> Result<(), Error> {
    let value = text.value();
    let allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let first = value
        .chars()
        .next()
        .is_some_and(|it| it.is_ascii_lowercase());
    if first && value.len() <= 63 && value.chars().all(allowed) && !value.ends_with('-') {
        return Ok(());
    }
    let text_of = format!(
        "{value:?} is no {what}: it must begin with a lower-case letter and have at most 63 \
         lower-case letters, digits and hyphens, as in {example:?}"
    );
    Err(Error::new(text.span(), text_of))
}

/// Checks a group: a DNS name with a dot.
pub(crate) fn check_group(text: &LitStr) -> Result<(), Error> {
    let value = text.value();
    let allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let is_label = |it: &str| !it.is_empty() && it.chars().all(allowed);
    if value.contains('.') && value.split('.').all(is_label) {
        return Ok(());
    }
    let text_of = format!(
        "{value:?} is no API group: it must be a lower-case DNS name with a dot, of a domain that \
         you own, as in \"example.com\""
    );
    Err(Error::new(text.span(), text_of))
}

/// Checks a kind.
pub(crate) fn check_kind(text: &LitStr) -> Result<(), Error> {
    let value = text.value();
    let first = value
        .chars()
        .next()
        .is_some_and(|it| it.is_ascii_uppercase());
    if first && value.len() <= 63 && value.chars().all(|it| it.is_ascii_alphanumeric()) {
        return Ok(());
    }
    let text_of = format!(
        "{value:?} is no kind: it must begin with an upper-case letter and have at most 63 letters \
         and digits, as in \"Fig\""
    );
    Err(Error::new(text.span(), text_of))
}

/// Checks a JSON path.
pub(crate) fn check_path(text: &LitStr) -> Result<(), Error> {
    if text.value().starts_with('.') {
        return Ok(());
    }
    let text_of = format!(
        "{:?} is no JSON path: it must begin with a dot, as in \".spec.size\"",
        text.value()
    );
    Err(Error::new(text.span(), text_of))
}
