//! The identity of a user in the headers of a forwarded request.

use http::{HeaderMap, HeaderName, HeaderValue};
use kubist_registry::User;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

const USER: HeaderName = HeaderName::from_static("x-remote-user");
const UID: HeaderName = HeaderName::from_static("x-remote-uid");
const GROUP: HeaderName = HeaderName::from_static("x-remote-group");
const EXTRA: &str = "x-remote-extra-";

/// What the name of a header cannot have, and the sign of an escape.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'(')
    .add(b')')
    .add(b',')
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'{')
    .add(b'}');

/// The user that asks other servers what they serve.
pub(crate) fn aggregator() -> User {
    User {
        name: "system:kube-aggregator".into(),
        groups: vec!["system:masters".into()],
        ..User::default()
    }
}

/// Reports whether a header says who a user is.
pub(crate) fn is_identity(name: &HeaderName) -> bool {
    [USER, UID, GROUP].contains(name) || name.as_str().starts_with(EXTRA)
}

/// Returns the headers that name a user; `None` if one of its texts fits no header.
pub(crate) fn headers(user: &User) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, text: &str| {
        let value = HeaderValue::from_bytes(text.as_bytes()).ok()?;
        headers.append(name, value);
        Some(())
    };
    add(USER, &user.name)?;
    if !user.uid.is_empty() {
        add(UID, &user.uid)?;
    }
    for group in &user.groups {
        add(GROUP, group)?;
    }
    for (key, values) in &user.extra {
        let escaped = utf8_percent_encode(key, ESCAPED);
        let name = format!("{EXTRA}{escaped}").to_ascii_lowercase();
        let name: HeaderName = name.parse().ok()?;
        for value in values {
            add(name.clone(), value)?;
        }
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_with_uid_groups_and_what_else_is_known() {
        let user = User {
            name: "ann".into(),
            uid: "7".into(),
            groups: vec!["a".into(), "b".into()],
            extra: [("example.com/scopes".into(), vec!["x".into(), "y".into()])].into(),
        };
        let headers = headers(&user).unwrap();
        let all = |name: &str| {
            let values = headers.get_all(name).iter();
            values.map(|it| it.to_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(all("x-remote-user"), ["ann"]);
        assert_eq!(all("x-remote-uid"), ["7"]);
        assert_eq!(all("x-remote-group"), ["a", "b"]);
        assert_eq!(all("x-remote-extra-example.com%2fscopes"), ["x", "y"]);
        assert_eq!(headers.len(), 6);
        assert!(headers.keys().all(is_identity));
    }

    #[test]
    fn a_user_that_fits_no_header_is_not_forwarded_as_another() {
        let user = User {
            name: "ann\nX-Remote-Group: system:masters".into(),
            ..User::default()
        };
        assert_eq!(headers(&user), None);
    }
}
