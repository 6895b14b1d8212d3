//! `Requests`: which requests a rule is about.

use super::call::{Call, Verb};
use kubist::apimachinery::{ResourceFacts, Str};
use std::collections::BTreeSet;
use std::fmt;

/// A set of requests. Every method narrows it.
///
/// ```
/// use kubist_test::faults::{Requests, Verb};
///
/// let requests = Requests::verb(Verb::Create).resource("pods").by("operator").within("shop");
/// assert_eq!(requests.to_string(), "create pods in shop by operator");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// None for all.
    verbs: Option<BTreeSet<Verb>>,
    group: Option<Str>,
    resource: Option<Str>,
    subresource: Option<Str>,
    user: Option<Str>,
    client: Option<Str>,
    namespace: Option<Str>,
    name: Option<Str>,
}

impl Requests {
    /// All requests about resources. Discovery and health checks are never matched.
    pub fn all() -> Self {
        Self::default()
    }

    /// All that change something.
    pub fn writes() -> Self {
        Self::verbs(Verb::is_write)
    }

    /// All that read objects: get, list and watch.
    pub fn reads() -> Self {
        Self::verbs(Verb::is_read)
    }

    /// Those with this verb. None have [`Verb::Other`], so a rule about it never acts.
    pub fn verb(verb: Verb) -> Self {
        Self::verbs(|it| it == verb)
    }

    fn verbs(is: impl Fn(Verb) -> bool) -> Self {
        const ALL: [Verb; 8] = [
            Verb::Get,
            Verb::List,
            Verb::Watch,
            Verb::Create,
            Verb::Update,
            Verb::Patch,
            Verb::Delete,
            Verb::DeleteCollection,
        ];
        Self {
            verbs: Some(ALL.into_iter().filter(|it| is(*it)).collect()),
            ..Self::default()
        }
    }

    /// Those about objects of a kind.
    #[must_use]
    pub fn of<K: ResourceFacts>(self) -> Self {
        let resource = K::api_resource();
        Self {
            group: Some(resource.group),
            resource: Some(resource.plural),
            ..self
        }
    }

    /// Those about a resource, by its plural, of any group.
    #[must_use]
    pub fn resource(self, plural: impl Into<Str>) -> Self {
        Self {
            resource: Some(plural.into()),
            ..self
        }
    }

    /// Those about a subresource, such as `status`; empty for the objects. Default: both.
    #[must_use]
    pub fn subresource(self, name: impl Into<Str>) -> Self {
        Self {
            subresource: Some(name.into()),
            ..self
        }
    }

    /// Those of an authenticated user.
    #[must_use]
    pub fn of_user(self, user: impl Into<Str>) -> Self {
        Self {
            user: Some(user.into()),
            ..self
        }
    }

    /// Those of a client, by the name it was created with: of a controller in an exploration, the
    /// name of the controller.
    #[must_use]
    pub fn by(self, client: impl Into<Str>) -> Self {
        Self {
            client: Some(client.into()),
            ..self
        }
    }

    /// Those in a namespace.
    #[must_use]
    pub fn within(self, namespace: impl Into<Str>) -> Self {
        Self {
            namespace: Some(namespace.into()),
            ..self
        }
    }

    /// Those about one object, by its name.
    #[must_use]
    pub fn named(self, name: impl Into<Str>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// Reports whether a request is one of them.
    pub(crate) fn has(&self, call: &Call) -> bool {
        let is = |wanted: &Option<Str>, found: &Str| wanted.as_ref().is_none_or(|it| it == found);
        call.verb != Verb::Other
            && self.verbs.as_ref().is_none_or(|it| it.contains(&call.verb))
            && is(&self.group, &call.group)
            && is(&self.resource, &call.resource)
            && is(&self.subresource, &call.subresource)
            && is(&self.user, &call.sender.user)
            && is(&self.client, &call.sender.client)
            && is(&self.namespace, &call.namespace)
            && is(&self.name, &call.name)
    }
}

/// `create pods in shop by operator`.
impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verbs = self.verbs.iter().flatten();
        let verbs: Vec<&str> = verbs.map(|it| it.name()).collect();
        match *verbs {
            [] => f.write_str("any request")?,
            [_] => f.write_str(verbs[0])?,
            _ => f.write_str(&verbs.join("/"))?,
        }
        if let Some(resource) = &self.resource {
            write!(f, " {resource}")?;
        }
        if let Some(subresource) = self.subresource.as_ref().filter(|it| !it.is_empty()) {
            write!(f, "/{subresource}")?;
        }
        for (word, value) in [
            ("named", &self.name),
            ("in", &self.namespace),
            ("by", &self.client),
            ("of user", &self.user),
        ] {
            if let Some(value) = value {
                write!(f, " {word} {value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::call::Sender;
    use http::Request;

    fn call(method: &str, path: &str) -> Call {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .unwrap();
        let sender = Sender {
            user: "alice".into(),
            client: "operator".into(),
        };
        Call::of(&sender, &request)
    }

    #[test]
    fn each_method_narrows_the_set() {
        let create = call("POST", "/api/v1/namespaces/shop/pods");
        let all = Requests::writes().resource("pods").within("shop");
        assert!(all.has(&create));
        assert!(all.clone().by("operator").of_user("alice").has(&create));
        assert!(!all.clone().by("other").has(&create));
        assert!(!all.clone().named("web").has(&create));
        assert!(!all.subresource("status").has(&create));
        assert!(!Requests::reads().has(&create));
        assert!(!Requests::all().has(&call("GET", "/version")));
    }
}
