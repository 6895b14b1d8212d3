//! Validation of names, labels and other short texts, with upstream's messages.
//!
//! Every function but [`domain_prefixed_path`] returns the messages of the rules that `value`
//! violates, none if it is valid; callers make [`FieldError`]s of them. Lengths are in bytes.

use crate::{FieldError, FieldPath};

/// The length limit of DNS labels, label values and the name part of label keys.
pub const LABEL_LENGTH_MAX: usize = 63;
/// The length limit of DNS subdomains.
pub const SUBDOMAIN_LENGTH_MAX: usize = 253;

const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORM: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Validates a DNS label (RFC 1123), as for most names within Pods.
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, LABEL_LENGTH_MAX);
    if !is_dns1123_label(value) {
        messages.push(if is_dns1123_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            regex_message(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
                 '-', and must start and end with an alphanumeric character",
                LABEL_FORM,
                &["my-name", "123-abc"],
            )
        });
    }
    messages
}

/// Validates a DNS subdomain (RFC 1123), as for most object names.
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, SUBDOMAIN_LENGTH_MAX);
    if !is_dns1123_subdomain(value) {
        messages.push(subdomain_message());
    }
    messages
}

/// Validates a DNS label that begins with a letter (RFC 1035), as for Services.
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, LABEL_LENGTH_MAX);
    if !is_dns1123_label(value) || !value.starts_with(|c: char| c.is_ascii_lowercase()) {
        messages.push(regex_message(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
             with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    messages
}

/// Validates a DNS subdomain whose first part is `*`.
pub fn wildcard_dns1123_subdomain(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, SUBDOMAIN_LENGTH_MAX);
    if !value.strip_prefix("*.").is_some_and(is_dns1123_subdomain) {
        messages.push(regex_message(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS \
             subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and \
             end with an alphanumeric character",
            &format!(r"\*\.{SUBDOMAIN_FORM}"),
            &["*.example.com"],
        ));
    }
    messages
}

/// Returns the errors of a value that has to be a domain, a slash, and what may be in the path of a
/// URL, such as `acme.io/foo`.
pub fn domain_prefixed_path(value: &str, path: &FieldPath) -> Vec<FieldError> {
    const FORM: &str = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+";
    if value.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let (domain, rest) = value.split_once('/').unwrap_or_default();
    if domain.is_empty() || rest.is_empty() {
        let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        return vec![FieldError::invalid(path, value, detail)];
    }
    let problems = dns1123_subdomain(domain).into_iter();
    let mut errors: Vec<_> = problems
        .map(|why| FieldError::invalid(path, domain, why))
        .collect();
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&it);
    if !rest.bytes().all(is_fine) {
        let detail = format!("Invalid path (regex used for validation is '{FORM}')");
        errors.push(FieldError::invalid(path, rest, detail));
    }
    errors
}

/// Validates a name, or a DNS subdomain, a slash and a name: label and annotation keys, finalizers.
pub fn qualified_name(value: &str) -> Vec<String> {
    const WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
                         and end with an alphanumeric character";
    let rule = |what: &str| {
        let examples = ["MyName", "my.name", "123-abc"];
        regex_message(&format!("{what} {WORDS}"), KEY_FORM, &examples)
    };
    let mut messages = Vec::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, name)) if name.contains('/') => {
            let end = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![rule("a valid label key") + end];
        }
        Some(("", name)) => {
            messages.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            // Here upstream counts bytes, and the message says bytes.
            if prefix.len() > SUBDOMAIN_LENGTH_MAX {
                let max = SUBDOMAIN_LENGTH_MAX;
                messages.push(format!("prefix part must be no more than {max} bytes"));
            }
            if !is_dns1123_subdomain(prefix) {
                messages.push(format!("prefix part {}", subdomain_message()));
            }
            name
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_LENGTH_MAX {
        messages.push(format!(
            "name part must be no more than {LABEL_LENGTH_MAX} bytes"
        ));
    }
    if !is_key_name(name) {
        messages.push(rule("name part"));
    }
    messages
}

/// Validates a label value; it may be empty.
pub fn label_value(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > LABEL_LENGTH_MAX {
        messages.push(format!("must be no more than {LABEL_LENGTH_MAX} bytes"));
    }
    if !value.is_empty() && !is_key_name(value) {
        messages.push(regex_message(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character",
            &format!("({KEY_FORM})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    messages
}

/// Validates a key of a `ConfigMap` or a `Secret`.
pub fn config_map_key(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, SUBDOMAIN_LENGTH_MAX);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if value.is_empty() || !value.bytes().all(allowed) {
        messages.push(regex_message(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    messages.extend(parent_directory(value));
    messages
}

/// Validates an environment variable name by the older, stricter rule.
pub fn env_var_name(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let digit_first = value.starts_with(|c: char| c.is_ascii_digit());
    if value.is_empty() || digit_first || !value.bytes().all(allowed) {
        messages.push(regex_message(
            "a valid environment variable name must consist of alphabetic characters, digits, \
             '_', '-', or '.', and must not start with a digit",
            "[-._a-zA-Z][-._a-zA-Z0-9]*",
            &["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
        ));
    }
    messages.extend(parent_directory(value));
    messages
}

/// Validates an environment variable name by the current rule: printable ASCII without `=`.
pub fn relaxed_env_var_name(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.is_empty() {
        messages.push("environment variable name must be non-empty".to_owned());
    }
    if !value
        .bytes()
        .all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=')
    {
        messages.push(
            "a valid environment variable name must consist only of printable ASCII characters \
             other than '='"
                .to_owned(),
        );
    }
    messages
}

/// Validates a C identifier.
pub fn c_identifier(value: &str) -> Vec<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let digit_first = value.starts_with(|c: char| c.is_ascii_digit());
    if !value.is_empty() && !digit_first && value.bytes().all(allowed) {
        return Vec::new();
    }
    vec![regex_message(
        "a valid C identifier must start with alphabetic character or '_', followed by a string \
         of alphanumeric characters or '_'",
        "[A-Za-z_][A-Za-z0-9_]*",
        &["my_name", "MY_NAME", "MyName"],
    )]
}

/// Validates a port name, as Services and probes refer to it (at most 15 bytes).
pub fn port_name(value: &str) -> Vec<String> {
    let mut messages = longer_than(value, 15);
    let mut rule = |broken: bool, message: &str| {
        if broken {
            messages.push(message.to_owned());
        }
    };
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    rule(
        value.is_empty() || !value.bytes().all(allowed),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    let letter = value.bytes().any(|byte| byte.is_ascii_lowercase());
    rule(!letter, "must contain at least one letter (a-z)");
    rule(value.contains("--"), "must not contain consecutive hyphens");
    let outer = value.starts_with('-') || value.ends_with('-');
    rule(outer, "must not begin or end with a hyphen");
    messages
}

/// Validates a port number.
pub fn port_number(value: i64) -> Vec<String> {
    in_range(value, 1, 65_535)
}

/// Validates a number from `min` to `max`.
pub fn in_range(value: i64, min: i64, max: i64) -> Vec<String> {
    if (min..=max).contains(&value) {
        return Vec::new();
    }
    vec![format!("must be between {min} and {max}, inclusive")]
}

/// Validates a percentage: digits and `%`.
pub fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![regex_message(
        "a valid percent string must be a numeric string followed by an ending '%'",
        "[0-9]+%",
        &["1%", "93%"],
    )]
}

/// Validates an HTTP header name.
pub fn http_header_name(value: &str) -> Vec<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !value.is_empty() && value.bytes().all(allowed) {
        return Vec::new();
    }
    vec![regex_message(
        "a valid HTTP header must consist of alphanumeric characters or '-'",
        "[-A-Za-z0-9]+",
        &["X-Header-Name"],
    )]
}

/// Validates the prefix of a generated name that must satisfy `rule`. A trailing hyphen is valid,
/// because a suffix follows. (Upstream does not check the byte before it either.)
pub fn name_prefix(value: &str, rule: fn(&str) -> Vec<String>) -> Vec<String> {
    let masked = value.len().checked_sub(2).and_then(|end| value.get(..end));
    match masked {
        Some(head) if value.ends_with('-') => rule(&format!("{head}a")),
        _ => rule(value),
    }
}

fn is_dns1123_label(value: &str) -> bool {
    let ends = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_framed(value, ends, |byte| ends(byte) || byte == b'-')
}

fn is_dns1123_subdomain(value: &str) -> bool {
    value.split('.').all(is_dns1123_label)
}

fn is_key_name(value: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    is_framed(value, |byte| byte.is_ascii_alphanumeric(), inner)
}

/// Reports whether the first and last byte satisfy `ends` and all bytes satisfy `inner`.
fn is_framed(value: &str, ends: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = value.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => ends(first) && ends(last) && value.bytes().all(inner),
        _ => false,
    }
}

fn longer_than(value: &str, max: usize) -> Vec<String> {
    if value.len() <= max {
        return Vec::new();
    }
    // Upstream's message says characters but means bytes.
    vec![format!("must be no more than {max} characters")]
}

fn parent_directory(value: &str) -> Option<String> {
    match value {
        "." => Some("must not be '.'".to_owned()),
        ".." => Some("must not be '..'".to_owned()),
        _ => value
            .starts_with("..")
            .then(|| "must not start with '..'".to_owned()),
    }
}

fn subdomain_message() -> String {
    regex_message(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
         or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN_FORM,
        &["example.com"],
    )
}

fn regex_message(message: &str, form: &str, examples: &[&str]) -> String {
    let quoted: Vec<String> = examples
        .iter()
        .map(|example| format!("'{example}', "))
        .collect();
    format!(
        "{message} (e.g. {}regex used for validation is '{form}')",
        quoted.join(" or ")
    )
}

#[cfg(test)]
mod tests;
