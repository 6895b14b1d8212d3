//! `Attributes`: what is to be decided.

use crate::User;
use kubist_apimachinery::{FieldSelector, Selector};
use std::fmt;

/// A user and what it wants to do.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Attributes<'a> {
    /// The user.
    pub user: &'a User,
    /// The verb: of the API, such as `list`, or the method of a path, such as `get`.
    pub verb: &'a str,
    /// What it is about.
    pub action: Action<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request is about either")]
pub enum Action<'a> {
    /// Resources.
    Resource(ResourceAction<'a>),
    /// A path outside of the resources, such as `/healthz`.
    Path(&'a str),
}

/// Which resources a request is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ResourceAction<'a> {
    /// The API group; empty for core.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// The subresource; empty for none.
    pub subresource: &'a str,
    /// The namespace; empty for cluster-scoped objects and for all namespaces.
    pub namespace: &'a str,
    /// The name; empty for a collection.
    pub name: &'a str,
    /// What the fields of the objects are limited to, of a list, a watch or a deletion of a
    /// collection.
    pub fields: Option<&'a FieldSelector>,
    /// What their labels are limited to.
    pub labels: Option<&'a Selector>,
}

impl<'a> Attributes<'a> {
    /// Returns the namespace; empty for what is outside of namespaces.
    pub fn namespace(&self) -> &'a str {
        match self.action {
            Action::Resource(it) => it.namespace,
            Action::Path(_) => "",
        }
    }
}

/// Says what is refused, as upstream: `User "bob" cannot list resource "pods" in API group "" in
/// the namespace "default"`.
impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, verb) = (&*self.user.name, self.verb);
        let it = match self.action {
            Action::Path(path) => return write!(f, "User {user:?} cannot {verb} path {path:?}"),
            Action::Resource(it) => it,
        };
        write!(f, "User {user:?} cannot {verb} resource \"{}", it.resource)?;
        if !it.subresource.is_empty() {
            write!(f, "/{}", it.subresource)?;
        }
        write!(f, "\" in API group {:?} ", it.group)?;
        match it.namespace {
            "" => f.write_str("at the cluster scope"),
            namespace => write!(f, "in the namespace {namespace:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_in_upstreams_words() {
        let user = User {
            name: "bob".into(),
            ..User::default()
        };
        let pods = ResourceAction {
            version: "v1",
            resource: "pods",
            namespace: "default",
            ..ResourceAction::default()
        };
        let say = |verb, action| {
            let user = &user;
            Attributes { user, verb, action }.to_string()
        };
        assert_eq!(
            say("list", Action::Resource(pods)),
            r#"User "bob" cannot list resource "pods" in API group "" in the namespace "default""#
        );
        let scale = ResourceAction {
            group: "apps",
            resource: "deployments",
            subresource: "scale",
            namespace: "",
            ..pods
        };
        assert_eq!(
            say("patch", Action::Resource(scale)),
            "User \"bob\" cannot patch resource \"deployments/scale\" in API group \"apps\" at the \
             cluster scope"
        );
        assert_eq!(
            say("get", Action::Path("/metrics")),
            r#"User "bob" cannot get path "/metrics""#
        );
    }
}
