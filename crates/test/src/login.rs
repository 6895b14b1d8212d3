//! `Login`: whom a client acts as, and which program it claims to be; and what users may do.

use kubist::Authorization;
use kubist::apimachinery::Str;
use kubist::registry::User;

/// A user with groups, and the user agent of its program.
///
/// Each request is authenticated as this user, as a certificate with these names would be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "tests fill it in")]
pub struct Login {
    /// The name of the user.
    pub user: Str,
    /// Its groups; `system:authenticated` is added.
    pub groups: Vec<Str>,
    /// The user agent: what stands before its first `/` is the default name of the field manager.
    /// Default: that of the client.
    pub user_agent: Option<Str>,
}

impl Login {
    /// The administrator, who may do everything.
    pub fn admin() -> Self {
        Self {
            user: "kubernetes-admin".into(),
            groups: vec!["system:masters".into()],
            user_agent: None,
        }
    }

    /// A user with groups.
    pub fn user<G: Into<Str>>(name: impl Into<Str>, groups: impl IntoIterator<Item = G>) -> Self {
        Self {
            user: name.into(),
            groups: groups.into_iter().map(Into::into).collect(),
            user_agent: None,
        }
    }

    /// A service account, with the groups that upstream gives it.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::user(
            format!("system:serviceaccount:{namespace}:{name}"),
            [
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ],
        )
    }

    /// Sets the user agent.
    #[must_use]
    pub fn with_user_agent(mut self, user_agent: impl Into<Str>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    pub(crate) fn to_user(&self) -> User {
        User {
            name: self.user.clone(),
            groups: self.groups.clone(),
            ..User::default()
        }
    }
}

/// Returns what decides about the users of a server: roles, or nothing, so that they may do
/// everything.
pub(crate) fn authorization(obeys_roles: bool) -> Authorization {
    if obeys_roles {
        Authorization::rbac()
    } else {
        Authorization::default()
    }
}
