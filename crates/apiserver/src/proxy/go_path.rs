//! Paths and queries as Go writes them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What Go escapes in paths.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');
/// What Go escapes in queries, besides spaces.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b' ');

/// Returns a path from a URL without `.` and `..`, which lead nowhere above the root, and without
/// empty segments. A slash at the end stays; an empty path stays empty.
pub(crate) fn clean(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let mut kept: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let mut cleaned = format!("/{}", kept.join("/"));
    if decoded.ends_with('/') && !cleaned.ends_with('/') {
        cleaned.push('/');
    }
    utf8_percent_encode(&cleaned, PATH).to_string()
}

/// Escapes one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// Returns a query: sorted by name, as Go encodes it.
pub(crate) fn query(pairs: &[(&str, String)]) -> String {
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let escaped = |it: &str| utf8_percent_encode(it, QUERY).to_string().replace(' ', "+");
    let pairs = sorted
        .iter()
        .map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_climb() {
        for (path, expected) in [
            ("", ""),
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("/a//b/", "/a/b/"),
            ("/../../etc", "/etc"),
            ("/a/%2e%2e/b", "/b"),
            ("/a/..", "/"),
            ("/x%20y%3fz", "/x%20y%3Fz"),
        ] {
            assert_eq!(clean(path), expected, "{path}");
        }
    }

    #[test]
    fn queries_are_sorted_and_keep_the_order_of_equal_names() {
        let pairs = [
            ("output", "1".to_owned()),
            ("command", "sh".to_owned()),
            ("command", "echo a&b".to_owned()),
        ];
        assert_eq!(query(&pairs), "command=sh&command=echo+a%26b&output=1");
    }
}
