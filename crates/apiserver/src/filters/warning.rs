//! `Warning` headers of responses.

use http::header::{HeaderMap, HeaderValue, WARNING};

/// Bytes of all warnings of a response, as upstream; longer ones are truncated.
pub(crate) const WARNINGS_BYTES_MAX: usize = 4 << 10;
/// Characters to which each warning is truncated then.
pub(crate) const WARNING_CHARACTERS_MAX: usize = 256;

/// Adds each warning as a header of its own.
pub(crate) fn add_warnings(headers: &mut HeaderMap, warnings: &[String]) {
    let total: usize = warnings.iter().map(String::len).sum();
    let cut = total > WARNINGS_BYTES_MAX;
    let mut left = WARNINGS_BYTES_MAX;
    for warning in warnings {
        let text: String = if cut {
            warning.chars().take(WARNING_CHARACTERS_MAX).collect()
        } else {
            warning.clone()
        };
        let Some(after) = left.checked_sub(text.len()) else {
            return;
        };
        left = after;
        if let Ok(value) = HeaderValue::from_bytes(quoted(&text).as_bytes()) {
            headers.append(WARNING, value);
        }
    }
}

fn quoted(text: &str) -> String {
    let mut value = String::with_capacity(text.len() + 10);
    value.push_str("299 - \"");
    for character in text.chars() {
        match character {
            '"' | '\\' => value.extend(['\\', character]),
            // Header values have no control characters.
            _ if character.is_control() => value.push(' '),
            _ => value.push(character),
        }
    }
    value.push('"');
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(warnings: &[String]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        add_warnings(&mut headers, warnings);
        let values = headers.get_all(WARNING).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    }

    #[test]
    fn warnings_are_quoted() {
        let warning = "unknown field \"a\\b\"\n".to_owned();
        let expected = r#"299 - "unknown field \"a\\b\" ""#;
        assert_eq!(headers(&[warning]), [expected]);
    }

    #[test]
    fn many_warnings_are_cut() {
        let warnings = vec!["x".repeat(1_000); 100];
        let headers = headers(&warnings);
        assert_eq!(headers.len(), WARNINGS_BYTES_MAX / WARNING_CHARACTERS_MAX);
        assert_eq!(
            headers[0].len(),
            WARNING_CHARACTERS_MAX + "299 - \"\"".len()
        );
    }
}
