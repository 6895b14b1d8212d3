//! The bearer token of a request.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Returns the token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(AUTHORIZATION)?
        .to_str()
        .ok()
        .and_then(of_header)
}

/// Returns the token of a header; what follows it is ignored, as upstream.
pub(crate) fn of_header(header: &str) -> Option<&str> {
    let mut words = header.trim().split(' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Reports whether extra spaces before the token make a header invalid.
pub(crate) fn has_extra_space(headers: &HeaderMap) -> bool {
    let header = headers.get(AUTHORIZATION).map(|it| it.to_str());
    let Some(Ok(header)) = header else {
        return false;
    };
    let mut words = header.trim().split(' ');
    let scheme = words.next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("bearer") && words.next() == Some("") && words.next().is_some()
}

/// Compares in constant time, but for the lengths.
pub(crate) fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    let pairs = left.iter().zip(right);
    left.len() == right.len()
        && pairs.fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extra_space_before_the_token_is_detected() {
        for (value, expected) in [
            ("Bearer  secret", true),
            ("bearer   secret", true),
            ("Bearer secret", false),
            ("Bearer secret ", false),
            ("Bearer ", false),
            ("Basic  x", false),
            ("", false),
        ] {
            let value = http::HeaderValue::from_static(value);
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.clone())]);
            assert_eq!(has_extra_space(&headers), expected, "{value:?}");
        }
    }

    #[test]
    fn other_schemes_have_no_token() {
        assert_eq!(of_header(" bEarer a b"), Some("a"));
        for other in ["Basic eDp5", "Bearer", "Bearer ", "Bearer  a", ""] {
            assert_eq!(of_header(other), None, "{other:?}");
        }
    }
}
