//! `User`: who makes a request.

use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// The group whose members may do everything, before any role is asked, as upstream.
pub const MASTERS_GROUP: &str = "system:masters";

/// The user that a request was authenticated as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "authenticators fill it in")]
pub struct User {
    /// The name.
    pub name: Str,
    /// The uid; empty if the authenticator has none.
    pub uid: Str,
    /// The groups.
    pub groups: Vec<Str>,
    /// Further attributes from the authenticator.
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl User {
    /// Reports whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|it| **it == *group)
    }
}
