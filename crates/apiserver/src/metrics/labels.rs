//! `RequestLabels`: the metric labels of a request, each from a bounded set of values.

use super::table::Labels;
use crate::discovery;
use crate::request::Request;
use crate::request::route::{ResourcePath, Route};
use crate::routes::health::Health;
use http::header::CONTENT_TYPE;
use kubist_api::ResourceFacts;
use kubist_registry::Registry;

/// Label names, as upstream, sorted.
pub(super) const REQUEST: &[&str] = &[
    "component",
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];
/// The same with the dry run.
pub(super) const TIMED: &[&str] = &[
    "component",
    "dry_run",
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];
/// The same with the status code.
pub(super) const COUNTED: &[&str] = &[
    "code",
    "component",
    "dry_run",
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];
/// For requests terminated by the server.
pub(super) const TERMINATED: &[&str] = &[
    "code",
    "component",
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];
/// For requests aborted by the client.
pub(super) const ABORTED: &[&str] = &[
    "group",
    "resource",
    "scope",
    "subresource",
    "verb",
    "version",
];
/// For bodies.
pub(super) const BODIES: &[&str] = &["group", "resource", "verb"];
/// For deprecated resources.
pub(super) const DEPRECATED: &[&str] = &[
    "group",
    "removed_release",
    "resource",
    "subresource",
    "version",
];

/// The usual value of the label `component`.
const COMPONENT: &str = "apiserver";
/// Long-running subresources, whose verb is `CONNECT`, as upstream.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
/// Non-resource paths that are counted by name, as a subresource, as upstream.
const PATHS: [&str; 8] = [
    "/api",
    "/apis",
    "/metrics",
    "/openapi/v2",
    "/version",
    crate::routes::openid::CONFIGURATION,
    crate::routes::openid::KEYS,
    crate::routes::backup::PATH,
];

/// The metric labels of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestLabels {
    /// Upper case; `LIST`, `WATCH`, `APPLY` and `CONNECT` as upstream, and `other` for unknown
    /// methods.
    pub(crate) verb: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    /// Empty for unserved resources.
    pub(crate) resource: &'static str,
    pub(crate) subresource: &'static str,
    /// `resource`, `namespace`, `cluster`, or empty.
    pub(crate) scope: &'static str,
    /// `apiserver`, or empty for some paths, as upstream.
    component: &'static str,
    /// `All`, `invalid` or empty.
    pub(crate) dry_run: &'static str,
    /// Whether it is mutating.
    pub(crate) mutating: bool,
    /// Whether it is long-running.
    pub(crate) long_running: bool,
}

impl RequestLabels {
    /// Returns the labels of a request.
    pub(crate) fn of(request: &Request, route: &Route, registry: &Registry) -> Self {
        let other = Self {
            verb: verb_of_method(request),
            group: "",
            version: "",
            resource: "",
            subresource: "",
            scope: "",
            component: COMPONENT,
            dry_run: dry_run(request),
            mutating: !matches!(request.method.as_str(), "GET" | "HEAD"),
            long_running: false,
        };
        if let Route::Resource(path) = route {
            let facts = facts(registry, path);
            return match facts {
                Some(facts) => other.of_resource(request, path, facts),
                None => other.of_unserved(request, path),
            };
        }
        let (subresource, component) = named_path(&request.path);
        Self {
            subresource,
            component,
            long_running: subresource == crate::routes::backup::PATH,
            ..other
        }
    }

    fn of_resource(self, request: &Request, path: &ResourcePath, facts: &ResourceFacts) -> Self {
        let named = path.subresource.as_deref().unwrap_or_default();
        let subresource = facts.subresources.iter().find(|it| it.name == named);
        let subresource = subresource.map_or("", |it| it.name);
        let method = request.method.as_str();
        let scope = match (&path.name, &path.namespace) {
            (Some(_), _) => "resource",
            // A create request concerns one object.
            (None, _) if method == "POST" => "resource",
            (None, Some(_)) => "namespace",
            (None, None) => "cluster",
        };
        let asked = method == "GET" && request.query.flag("watch");
        let connects = LONG_RUNNING.contains(&subresource);
        Self {
            verb: match method {
                _ if connects => "CONNECT",
                "GET" if path.watch || asked => "WATCH",
                "GET" | "HEAD" if scope != "resource" => "LIST",
                "PATCH" if is_apply(request) => "APPLY",
                _ => self.verb,
            },
            group: facts.group,
            version: facts.version,
            resource: facts.plural,
            subresource,
            scope,
            long_running: watches(request, path) || connects,
            ..self
        }
    }

    /// A resource that another server may serve: what is known is whether it goes on for long.
    fn of_unserved(self, request: &Request, path: &ResourcePath) -> Self {
        let named = path.subresource.as_deref().unwrap_or_default();
        let connects = LONG_RUNNING.iter().find(|it| **it == named);
        Self {
            subresource: connects.copied().unwrap_or_default(),
            long_running: watches(request, path) || connects.is_some(),
            ..self
        }
    }

    /// Whether it is passed on to another server.
    pub(crate) fn connects(&self) -> bool {
        LONG_RUNNING.contains(&self.subresource)
    }

    /// Returns the labels of the body size metric, with upstream's verb; `None` without a body.
    pub(super) fn body(&self) -> Option<Labels> {
        let verb = match self.verb {
            "POST" => "create",
            "PUT" => "update",
            "PATCH" | "APPLY" => "patch",
            "DELETE" if self.scope == "resource" => "delete",
            "DELETE" => "delete_collection",
            _ => return None,
        };
        Some(Labels {
            group: self.group,
            resource: self.resource,
            verb,
            ..Labels::default()
        })
    }

    pub(super) fn request(&self) -> Labels {
        Labels {
            component: self.component,
            ..self.aborted()
        }
    }

    pub(super) fn timed(&self) -> Labels {
        Labels {
            dry_run: self.dry_run,
            ..self.request()
        }
    }

    pub(super) fn counted(&self, code: u16) -> Labels {
        Labels {
            code,
            ..self.timed()
        }
    }

    pub(super) fn terminated(&self, code: u16) -> Labels {
        Labels {
            code,
            ..self.request()
        }
    }

    pub(super) fn aborted(&self) -> Labels {
        Labels {
            scope: self.scope,
            verb: self.verb,
            ..self.deprecated()
        }
    }

    pub(super) fn deprecated(&self) -> Labels {
        Labels {
            group: self.group,
            resource: self.resource,
            subresource: self.subresource,
            version: self.version,
            ..Labels::default()
        }
    }

    pub(super) fn watch_list(&self, scope: &'static str) -> Labels {
        Labels {
            scope,
            subresource: "",
            ..self.deprecated()
        }
    }
}

/// Reports whether a request is a watch.
fn watches(request: &Request, path: &ResourcePath) -> bool {
    let asked = request.method == "GET" && request.query.flag("watch");
    path.watch || (asked && path.name.is_none())
}

/// Returns the facts of a served resource, stored or not.
fn facts(registry: &Registry, path: &ResourcePath) -> Option<&'static ResourceFacts> {
    if let Some(storage) = registry.storage(&path.group, &path.version, &path.plural) {
        return Some(storage.facts());
    }
    let groups = registry.groups();
    let version = discovery::group(&groups, &path.group)?.version(&path.version)?;
    Some(version.resource(&path.plural)?.facts)
}

/// Returns the verb of a method.
fn verb_of_method(request: &Request) -> &'static str {
    match request.method.as_str() {
        "DELETE" => "DELETE",
        "GET" | "HEAD" => "GET",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        _ => "other",
    }
}

fn is_apply(request: &Request) -> bool {
    let media_type = request.headers.get(CONTENT_TYPE);
    media_type.is_some_and(|it| it.as_bytes().starts_with(b"application/apply-patch"))
}

fn dry_run(request: &Request) -> &'static str {
    let mut values = request.query.all("dryRun").peekable();
    if values.peek().is_none() {
        ""
    } else if values.all(|it| it == "All") {
        "All"
    } else {
        "invalid"
    }
}

/// Returns the subresource label and the component of a non-resource path.
fn named_path(path: &str) -> (&'static str, &'static str) {
    if let Some((health, _)) = Health::of_path(path) {
        return (health.path(), "");
    }
    match path.trim_end_matches('/') {
        "/openapi/v3" => ("openapi/v3", ""),
        path if path.starts_with("/openapi/v3/") => ("openapi/v3/", ""),
        path => {
            let found = PATHS.iter().find(|it| **it == path);
            (found.copied().unwrap_or_default(), COMPONENT)
        }
    }
}
