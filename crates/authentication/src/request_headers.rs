//! `RequestHeaders`: the headers in which a trusted proxy names its user.
//!
//! Whether the proxy is trusted is decided by its certificate, before.

use kubist_apimachinery::Str;
use kubist_authorization::User;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// The names of the headers; case does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct RequestHeaders {
    /// Those of the user name; the first that is not empty counts.
    pub username: Vec<String>,
    /// Those of the uid; the first that is not empty counts.
    pub uid: Vec<String>,
    /// Those of groups; all values count.
    pub group: Vec<String>,
    /// The prefixes of those of extra fields; all values count. What follows the prefix is the key,
    /// percent-encoded.
    pub extra_prefix: Vec<String>,
}

impl RequestHeaders {
    /// The headers that upstream's aggregator sends.
    pub fn standard() -> Self {
        let only = |name: &str| vec![name.to_owned()];
        Self {
            username: only("X-Remote-User"),
            uid: only("X-Remote-Uid"),
            group: only("X-Remote-Group"),
            extra_prefix: only("X-Remote-Extra-"),
        }
    }

    /// Reports whether a header is one of these.
    pub fn has(&self, header: &str) -> bool {
        let all = self.username.iter().chain(&self.uid).chain(&self.group);
        let is_one = all.into_iter().any(|it| it.eq_ignore_ascii_case(header));
        is_one
            || self.extra_prefix.iter().any(|prefix| {
                let beginning = header.get(..prefix.len());
                beginning.is_some_and(|it| it.eq_ignore_ascii_case(prefix))
            })
    }

    /// Returns the user that headers name; `None` if they name nobody. Header names are in lower
    /// case, in their order.
    pub fn user(&self, headers: &[(&str, &str)]) -> Option<User> {
        let first = |names: &[String]| {
            let of = |name: &String| {
                let mut values = headers.iter().filter(|it| name.eq_ignore_ascii_case(it.0));
                // As upstream, only the first header of a name.
                values.next().map(|it| it.1).filter(|it| !it.is_empty())
            };
            names.iter().find_map(of).unwrap_or_default()
        };
        let name = first(&self.username);
        if name.is_empty() {
            return None;
        }
        let of_groups = self.group.iter().flat_map(|name| {
            let own = headers.iter().filter(|it| name.eq_ignore_ascii_case(it.0));
            own.map(|it| it.1).filter(|it| !it.is_empty())
        });
        Some(User {
            name: name.into(),
            uid: first(&self.uid).into(),
            groups: of_groups.map(Str::from).collect(),
            extra: self.extra(headers),
        })
    }

    fn extra(&self, headers: &[(&str, &str)]) -> BTreeMap<Str, Vec<Str>> {
        let mut extra: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
        for prefix in &self.extra_prefix {
            for &(name, value) in headers {
                let Some((start, key)) = name.split_at_checked(prefix.len()) else {
                    continue;
                };
                if start.eq_ignore_ascii_case(prefix) {
                    let key = unescape(&key.to_ascii_lowercase());
                    extra.entry(key.into()).or_default().push(value.into());
                }
            }
        }
        extra
    }
}

/// As upstream, a key that is not percent-encoded is taken as it is.
fn unescape(key: &str) -> String {
    let mut parts = key.split('%');
    parts.next();
    let is_encoded = parts.clone().all(|it| {
        let digits = it.as_bytes().get(..2);
        digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
    });
    if !is_encoded {
        return key.to_owned();
    }
    percent_decode_str(key).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(headers: &[(&str, &str)]) -> Option<User> {
        RequestHeaders::standard().user(headers)
    }

    #[test]
    fn a_proxy_names_user_groups_and_extra_fields() {
        let found = user(&[
            ("x-remote-user", "alice"),
            ("x-remote-user", "mallory"),
            ("x-remote-uid", "7"),
            ("x-remote-group", "devs"),
            ("x-remote-group", ""),
            ("x-remote-group", "ops"),
            ("x-remote-extra-acme.com%2fscopes", "view"),
            ("x-remote-extra-acme.com%2fscopes", "edit"),
            ("x-remote-extra-100%", "x"),
        ]);
        let found = found.expect("there is a name");
        assert_eq!((&*found.name, &*found.uid), ("alice", "7"));
        assert_eq!(found.groups, ["devs", "ops"]);
        assert_eq!(found.extra["acme.com/scopes"], ["view", "edit"]);
        assert_eq!(found.extra["100%"], ["x"]);
    }

    #[test]
    fn without_a_name_there_is_nobody() {
        assert_eq!(user(&[("x-remote-group", "devs")]), None);
        assert_eq!(user(&[("x-remote-user", "")]), None);
    }

    #[test]
    fn a_header_is_one_of_these_whatever_its_case() {
        let headers = RequestHeaders::standard();
        for name in ["x-remote-user", "X-REMOTE-GROUP", "x-remote-extra-a"] {
            assert!(headers.has(name), "{name}");
        }
        for name in ["x-remote", "x-remote-users", "accept"] {
            assert!(!headers.has(name), "{name}");
        }
    }
}
