//! `Anonymous`: which requests without credentials are served.

use crate::authentication::authenticator::{ANONYMOUS_USER, UNAUTHENTICATED_GROUP};
use kubist_authentication::AnonymousAuthConfig;
use kubist_registry::User;

/// Which requests without credentials are served, as `system:anonymous`. The others get 401.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a request is anonymous by its path, or not at all"
)]
pub enum Anonymous {
    /// All, and the authorization decides about them, as upstream's default. A server that allows
    /// everything serves those of [`PublicPaths`](Self::PublicPaths) only.
    #[default]
    Authorized,
    /// Those of `/healthz`, `/livez`, `/readyz` and `/version`.
    PublicPaths,
    /// Those of these paths, compared in full, as upstream's conditions.
    Paths(Vec<String>),
    /// None.
    Never,
}

impl Anonymous {
    /// Reports whether a request for a path may be anonymous. `allows_all`: nobody decides about
    /// requests. `is_public`: the path is one of the public ones.
    pub(crate) fn serves(&self, path: &str, allows_all: bool, is_public: bool) -> bool {
        match self {
            Self::Authorized => !allows_all || is_public,
            Self::PublicPaths => is_public,
            Self::Paths(paths) => paths.iter().any(|it| it == path),
            Self::Never => false,
        }
    }

    /// Returns the anonymous user.
    pub(crate) fn user() -> User {
        User {
            name: ANONYMOUS_USER.into(),
            groups: vec![UNAUTHENTICATED_GROUP.into()],
            ..User::default()
        }
    }
}

/// What upstream's file says.
impl From<&AnonymousAuthConfig> for Anonymous {
    fn from(file: &AnonymousAuthConfig) -> Self {
        match &file.conditions[..] {
            _ if !file.enabled => Self::Never,
            [] => Self::Authorized,
            conditions => Self::Paths(conditions.iter().map(|it| it.path.clone()).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_allows_everything_is_not_open_to_everybody() {
        let all = Anonymous::Authorized;
        assert!(all.serves("/api", false, false));
        assert!(!all.serves("/api", true, false));
        assert!(all.serves("/livez", true, true));
        let some = Anonymous::Paths(vec!["/livez".to_owned()]);
        assert!(some.serves("/livez", false, true) && !some.serves("/livez/ping", false, true));
        assert!(!Anonymous::Never.serves("/livez", false, true));
        assert!(!Anonymous::PublicPaths.serves("/api", false, false));
    }
}
