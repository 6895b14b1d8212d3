//! `Call`: one request of the API as rules see it: verb, resource, object and client.
//!
//! It is read from the path and the query only; bodies are not decoded.

use http::{Method, Request};
use kubist::apimachinery::Str;
use std::fmt;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Watches a collection.
    Watch,
    /// Creates an object, or posts to a subresource.
    Create,
    /// Replaces an object.
    Update,
    /// Patches or applies an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
    /// Anything else: discovery, versions, health.
    Other,
}

impl Verb {
    /// Returns the verb as roles name it; `other` for what has none.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "other",
        }
    }

    /// Reports whether it changes something.
    pub fn is_write(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection
        )
    }

    /// Reports whether it reads objects: get, list and watch.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who sends requests: a user, and the name of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sender {
    /// The authenticated user.
    pub(crate) user: Str,
    /// The name of the client: of a controller, or as given when it was created.
    pub(crate) client: Str,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) sender: Sender,
    pub(crate) verb: Verb,
    pub(crate) group: Str,
    pub(crate) version: Str,
    /// The plural; empty for [`Verb::Other`].
    pub(crate) resource: Str,
    /// Empty for cluster-scoped objects and all namespaces.
    pub(crate) namespace: Str,
    /// Empty for collections.
    pub(crate) name: Str,
    pub(crate) subresource: Str,
    pub(crate) dry_run: bool,
}

/// Requests that are sent with POST and store nothing.
const REVIEW_GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

impl Call {
    /// Reads a request.
    pub(crate) fn of<B>(sender: &Sender, request: &Request<B>) -> Self {
        let mut call = Self {
            sender: sender.clone(),
            verb: Verb::Other,
            group: Str::default(),
            version: Str::default(),
            resource: Str::default(),
            namespace: Str::default(),
            name: Str::default(),
            subresource: Str::default(),
            dry_run: has_query(request.uri().query(), "dryRun", |it| !it.is_empty()),
        };
        let path = request.uri().path().trim_matches('/');
        let parts: Vec<&str> = path.split('/').collect();
        let rest = match parts[..] {
            ["api", version, ref rest @ ..] => {
                call.version = version.into();
                rest
            }
            ["apis", group, version, ref rest @ ..] => {
                call.group = group.into();
                call.version = version.into();
                rest
            }
            _ => return call,
        };
        if !call.read_target(rest) {
            return call;
        }
        call.verb = verb_of(request, !call.name.is_empty());
        call
    }

    /// Reads what follows the version. Returns false for discovery.
    fn read_target(&mut self, parts: &[&str]) -> bool {
        let own = |part: &str| matches!(part, "status" | "finalize");
        let parts = match parts {
            // `namespaces/a/status` is a subresource; `namespaces/a/pods` a collection.
            ["namespaces", _] => parts,
            ["namespaces", _, last] if own(last) => parts,
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                self.namespace = (*namespace).into();
                rest
            }
            _ => parts,
        };
        match parts {
            [] => return false,
            [resource] => self.resource = (*resource).into(),
            [resource, name] => {
                self.resource = (*resource).into();
                self.name = (*name).into();
            }
            [resource, name, subresource @ ..] => {
                self.resource = (*resource).into();
                self.name = (*name).into();
                self.subresource = subresource.join("/").into();
            }
        }
        !self.resource.is_empty()
    }

    /// Reports whether it stores something: no dry run, and no review.
    pub(crate) fn is_write(&self) -> bool {
        self.verb.is_write()
            && !self.dry_run
            && !REVIEW_GROUPS.contains(&self.group.as_str())
            && self.subresource != "token"
    }

    /// Reports whether it is what happens beside the work of a controller: leases and events.
    pub(crate) fn is_bookkeeping(&self) -> bool {
        matches!(self.resource.as_str(), "leases" | "events")
    }
}

/// `update pods/status shop/web`.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, "") => write!(f, " in {namespace}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}

fn verb_of<B>(request: &Request<B>, has_name: bool) -> Verb {
    let watches = || {
        has_query(request.uri().query(), "watch", |it| {
            it == "true" || it == "1"
        })
    };
    match (request.method(), has_name) {
        (&Method::GET, true) => Verb::Get,
        (&Method::GET, false) if watches() => Verb::Watch,
        (&Method::GET, false) => Verb::List,
        (&Method::POST, _) => Verb::Create,
        (&Method::PUT, _) => Verb::Update,
        (&Method::PATCH, _) => Verb::Patch,
        (&Method::DELETE, true) => Verb::Delete,
        (&Method::DELETE, false) => Verb::DeleteCollection,
        _ => Verb::Other,
    }
}

/// Reports whether a query has this parameter with such a value.
pub(crate) fn has_query(query: Option<&str>, name: &str, is: impl Fn(&str) -> bool) -> bool {
    let pairs = query.unwrap_or_default().split('&');
    let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.any(|(key, value)| key == name && is(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: Method, uri: &str) -> Call {
        let request = Request::builder().method(method).uri(uri).body(()).unwrap();
        Call::of(&Sender::default(), &request)
    }

    #[test]
    fn requests_are_read_from_their_paths() {
        for (method, uri, text) in [
            (Method::GET, "/api/v1/pods", "list pods"),
            (
                Method::GET,
                "/api/v1/namespaces/a/pods?watch=true",
                "watch pods in a",
            ),
            (Method::GET, "/api/v1/namespaces/a/pods/b", "get pods a/b"),
            (Method::GET, "/api/v1/namespaces/a", "get namespaces a"),
            (
                Method::PUT,
                "/api/v1/namespaces/a/finalize",
                "update namespaces/finalize a",
            ),
            (
                Method::POST,
                "/apis/apps/v1/namespaces/a/deployments",
                "create deployments in a",
            ),
            (
                Method::PATCH,
                "http://x/apis/g/v1/figs/f/status",
                "patch figs/status f",
            ),
            (Method::DELETE, "/api/v1/nodes/n", "delete nodes n"),
            (Method::DELETE, "/api/v1/nodes", "deletecollection nodes"),
        ] {
            assert_eq!(call(method, uri).to_string(), text, "{uri}");
        }
        for other in ["/version", "/apis", "/api/v1", "/apis/apps/v1"] {
            assert_eq!(call(Method::GET, other).verb, Verb::Other, "{other}");
        }
    }

    #[test]
    fn what_stores_nothing_is_no_write() {
        let dry = call(Method::PUT, "/api/v1/nodes/n?dryRun=All");
        let review = call(
            Method::POST,
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        );
        assert!(!dry.is_write() && !review.is_write());
        assert!(call(Method::PUT, "/api/v1/nodes/n").is_write());
    }
}
