//! `Query`: the query of a URL, decoded as Go's server decodes it.
//!
//! `+` is a space. A pair with a malformed escape or a semicolon is dropped without an error.

use percent_encoding::percent_decode_str;

/// Decoded pairs, in the order of the URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Maximum number of pairs; further ones are ignored.
    pub(crate) const PAIRS_MAX: usize = 1_000;

    pub(crate) fn parse(query: Option<&str>) -> Self {
        let pairs = query.unwrap_or_default().split('&');
        let pairs = pairs.filter(|pair| !pair.is_empty() && !pair.contains(';'));
        let decoded = pairs.filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(key)?, decode(value)?))
        });
        Self(decoded.take(Self::PAIRS_MAX).collect())
    }

    /// Returns the pairs.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the first value of a key.
    pub(crate) fn first(&self, key: &str) -> Option<&str> {
        self.pairs()
            .find(|(found, _)| *found == key)
            .map(|(_, value)| value)
    }

    /// Returns all values of a key.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs()
            .filter(move |(found, _)| *found == key)
            .map(|(_, value)| value)
    }

    /// Reports whether a key is present.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.first(key).is_some()
    }

    /// Reports whether a key is present with a value other than `0` or `false`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.first(key)
            .is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }
}

fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    well_formed(&text).then(|| percent_decode_str(&text).decode_utf8_lossy().into_owned())
}

/// Reports whether each `%` is followed by two hexadecimal digits.
fn well_formed(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes();
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_as_go_does() {
        let query = Query::parse(Some("a=1&b=x+y%21&a=2&c&&d=%zz&e=1;2&f=%"));
        let pairs: Vec<_> = query.pairs().collect();
        assert_eq!(pairs, [("a", "1"), ("b", "x y!"), ("a", "2"), ("c", "")]);
        assert_eq!(query.first("a"), Some("1"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert!(query.flag("c") && query.flag("a") && !query.flag("z"));
        assert!(!Query::parse(Some("watch=False")).flag("watch"));
        assert!(!Query::parse(Some("watch=0")).flag("watch"));
        assert_eq!(Query::parse(None), Query::default());
    }
}
