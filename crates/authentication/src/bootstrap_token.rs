//! `BootstrapToken`: a token with which a node joins a cluster, kept in a Secret of `kube-system`.

use kubist_api::core::v1::Secret;
use kubist_apimachinery::{Str, Time};
use kubist_authorization::User;

/// The type of the Secrets.
const SECRET_TYPE: &str = "bootstrap.kubernetes.io/token";
const SECRET_PREFIX: &str = "bootstrap-token-";
const USER_PREFIX: &str = "system:bootstrap:";
const DEFAULT_GROUP: &str = "system:bootstrappers";
const GROUP_PREFIX: &str = "system:bootstrappers:";
/// What may follow the prefix of a group, at most.
const GROUP_REST_MAX: usize = 256;
const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;

/// A token of the form `id.secret`.
#[derive(Clone, Copy)]
pub struct BootstrapToken<'a> {
    id: &'a str,
    secret: &'a str,
}

impl std::fmt::Debug for BootstrapToken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BootstrapToken")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl<'a> BootstrapToken<'a> {
    /// The namespace of the Secrets.
    pub const NAMESPACE: &'static str = "kube-system";

    /// Parses a token; `None` for tokens of another form.
    pub fn parse(token: &'a str) -> Option<Self> {
        let (id, secret) = token.split_once('.')?;
        let fits = |text: &str, length| {
            text.len() == length
                && text
                    .bytes()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        (fits(id, ID_LENGTH) && fits(secret, SECRET_LENGTH)).then_some(Self { id, secret })
    }

    /// Returns the name of the Secret that decides about it.
    pub fn secret_name(&self) -> String {
        format!("{SECRET_PREFIX}{}", self.id)
    }

    /// Returns the user of the token if its Secret says so at `now`; without the group of all
    /// authenticated users. The Secret must have this type, the same id and secret, be meant for
    /// authentication, and neither have expired nor be on its way out.
    pub fn user(&self, of: &Secret, now: Time) -> Option<User> {
        let text = |key: &str| of.data.get(key).map_or(&[][..], |it| &it.0[..]);
        let is_same = |key: &str, own: &str| equal(text(key), own.as_bytes());
        let is_own = is_same("token-secret", self.secret) && is_same("token-id", self.id);
        if of.metadata.deletion_timestamp.is_some()
            || *of.type_ != *SECRET_TYPE
            || !is_own
            || has_expired(text("expiration"), now)
            || text("usage-bootstrap-authentication") != b"true"
        {
            return None;
        }
        Some(User {
            name: format!("{USER_PREFIX}{}", self.id).into(),
            groups: groups(text("auth-extra-groups"))?,
            ..User::default()
        })
    }
}

/// Compares in constant time, but for the lengths.
fn equal(left: &[u8], right: &[u8]) -> bool {
    let pairs = left.iter().zip(right);
    left.len() == right.len() && pairs.fold(0, |all, (left, right)| all | (left ^ right)) == 0
}

/// A date that cannot be read has passed, as upstream.
fn has_expired(date: &[u8], now: Time) -> bool {
    if date.is_empty() {
        return false;
    }
    let date: Option<Time> = std::str::from_utf8(date)
        .ok()
        .and_then(|it| it.parse().ok());
    date.is_none_or(|date| date <= now)
}

/// Returns the groups in order; `None` if one cannot be that of a bootstrap token.
fn groups(extra: &[u8]) -> Option<Vec<Str>> {
    let mut groups = vec![Str::from(DEFAULT_GROUP)];
    let extra = std::str::from_utf8(extra).ok()?;
    for group in extra.split(',').filter(|_| !extra.is_empty()) {
        let rest = group.strip_prefix(GROUP_PREFIX)?;
        let is_inner =
            |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b":-".contains(&it);
        let ends_well = rest
            .bytes()
            .last()
            .is_some_and(|it| is_inner(it) && !b":-".contains(&it));
        if rest.len() > GROUP_REST_MAX || !ends_well || !rest.bytes().all(is_inner) {
            return None;
        }
        groups.push(group.into());
    }
    groups.sort();
    groups.dedup();
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "abcdef.0123456789abcdef";

    fn secret(pairs: &[(&str, &str)]) -> Secret {
        let mut secret = Secret {
            type_: SECRET_TYPE.into(),
            ..Secret::default()
        };
        let usual = [
            ("token-id", "abcdef"),
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
        ];
        for (key, value) in usual.iter().chain(pairs) {
            secret.data.insert((*key).into(), value.as_bytes().into());
        }
        secret
    }

    fn user(of: &Secret) -> Option<User> {
        let now = Time::from_unix(1_700_000_000);
        BootstrapToken::parse(TOKEN)?.user(of, now)
    }

    #[test]
    fn a_token_is_the_user_that_its_secret_names() {
        let it = BootstrapToken::parse(TOKEN).expect("it has the form");
        assert_eq!(it.secret_name(), "bootstrap-token-abcdef");
        let extra = "system:bootstrappers:b,system:bootstrappers:a-1";
        let found = user(&secret(&[("auth-extra-groups", extra)])).expect("it is good");
        assert_eq!(&*found.name, "system:bootstrap:abcdef");
        assert_eq!(
            found.groups,
            [
                "system:bootstrappers",
                "system:bootstrappers:a-1",
                "system:bootstrappers:b"
            ]
        );
    }

    #[test]
    fn a_secret_that_says_something_else_names_nobody() {
        for wrong in [
            ("token-id", "abcdee"),
            ("token-secret", "0123456789abcdee"),
            ("usage-bootstrap-authentication", "True"),
            ("expiration", "2023-01-01T00:00:00Z"),
            ("expiration", "never"),
            ("auth-extra-groups", "system:masters"),
            ("auth-extra-groups", "system:bootstrappers:"),
            ("auth-extra-groups", "system:bootstrappers:a,"),
        ] {
            assert_eq!(user(&secret(&[wrong])), None, "{wrong:?}");
        }
        assert!(user(&secret(&[("expiration", "2033-01-01T00:00:00Z")])).is_some());
        let mut other = secret(&[]);
        other.type_ = "Opaque".into();
        assert_eq!(user(&other), None);
        let mut leaving = secret(&[]);
        leaving.metadata.deletion_timestamp = Some(Time::from_unix(1));
        assert_eq!(user(&leaving), None);
    }

    #[test]
    fn other_tokens_have_another_form() {
        for token in [
            "",
            "abcdef",
            "abcde.0123456789abcdef",
            "Abcdef.0123456789abcdef",
        ] {
            assert!(BootstrapToken::parse(token).is_none(), "{token}");
        }
        let longer = format!("{TOKEN}0");
        assert!(BootstrapToken::parse(&longer).is_none());
    }
}
