//! `RequestLabels`: what a request is counted under. Every value comes from a bounded set.

use crate::discovery;
use crate::health::Health;
use crate::request::Request;
use crate::route::{ResourcePath, Route};
use http::header::CONTENT_TYPE;
use kubist_api::ResourceFacts;
use kubist_registry::Registry;

/// The value of the label `component`.
const COMPONENT: &str = "apiserver";
/// Subresources whose requests last as long as their clients like, as upstream.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
/// Paths outside the API proper that are counted by name, as a subresource, as upstream.
const PATHS: [&str; 7] = [
    "/api",
    "/apis",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/version",
    crate::backup::PATH,
];

/// What a request is counted under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestLabels {
    /// Upper case, `LIST` and `WATCH` told from `GET`; `other` for methods that nobody knows.
    pub(crate) verb: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    /// Empty if nothing of that name is served.
    pub(crate) resource: &'static str,
    pub(crate) subresource: &'static str,
    /// `resource`, `namespace`, `cluster`, or empty.
    pub(crate) scope: &'static str,
    /// `All` or empty.
    pub(crate) dry_run: &'static str,
    /// Whether it lasts as long as its client likes.
    pub(crate) long_running: bool,
}

impl RequestLabels {
    /// The labels of a request.
    pub(crate) fn of(request: &Request, route: &Route, registry: &Registry) -> Self {
        let dry_run = if request.query.first("dryRun") == Some("All") {
            "All"
        } else {
            ""
        };
        let other = Self {
            verb: method(request),
            dry_run,
            ..Self::default()
        };
        if let Route::Resource(path) = route {
            let Some(facts) = facts(registry, path) else {
                return other;
            };
            return Self {
                dry_run,
                ..Self::of_resource(request, path, facts)
            };
        }
        let subresource = named_path(&request.path);
        Self {
            subresource,
            long_running: subresource == crate::backup::PATH,
            ..other
        }
    }

    fn of_resource(request: &Request, path: &ResourcePath, facts: &ResourceFacts) -> Self {
        let named = path.subresource.as_deref().unwrap_or_default();
        let subresource = facts.subresources.iter().find(|it| it.name == named);
        let subresource = subresource.map_or("", |it| it.name);
        let verb = verb(request, path);
        Self {
            verb,
            group: facts.group,
            version: facts.version,
            resource: facts.plural,
            subresource,
            scope: match (&path.name, &path.namespace) {
                (Some(_), _) => "resource",
                (None, Some(_)) => "namespace",
                (None, None) => "cluster",
            },
            dry_run: "",
            long_running: verb == "WATCH" || LONG_RUNNING.contains(&subresource),
        }
    }

    /// Whether it may change something.
    pub(crate) fn is_mutating(&self) -> bool {
        !matches!(self.verb, "GET" | "HEAD" | "LIST" | "WATCH")
    }

    pub(super) fn request(&self) -> [&str; 7] {
        [
            self.verb,
            self.group,
            self.version,
            self.resource,
            self.subresource,
            self.scope,
            COMPONENT,
        ]
    }

    pub(super) fn timed(&self) -> [&str; 8] {
        let [verb, rest @ ..] = self.request();
        let [group, version, resource, subresource, scope, component] = rest;
        [
            verb,
            self.dry_run,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ]
    }

    pub(super) fn counted<'a>(&'a self, code: &'a str) -> [&'a str; 9] {
        let [verb, dry_run, rest @ ..] = self.timed();
        let [group, version, resource, subresource, scope, component] = rest;
        [
            verb,
            dry_run,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
            code,
        ]
    }

    pub(super) fn aborted(&self) -> [&str; 6] {
        let [verb, group, version, resource, subresource, scope, _] = self.request();
        [verb, group, version, resource, subresource, scope]
    }
}

/// The facts of a resource that is served, stored or not.
fn facts(registry: &Registry, path: &ResourcePath) -> Option<&'static ResourceFacts> {
    if let Some(storage) = registry.storage(&path.group, &path.version, &path.plural) {
        return Some(storage.facts());
    }
    let groups = registry.groups();
    let version = discovery::group(&groups, &path.group)?.version(&path.version)?;
    Some(version.resource(&path.plural)?.facts)
}

fn method(request: &Request) -> &'static str {
    match request.method.as_str() {
        "DELETE" => "DELETE",
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        _ => "other",
    }
}

fn verb(request: &Request, path: &ResourcePath) -> &'static str {
    let one = path.name.is_some();
    match method(request) {
        "GET" if path.watch || (!one && request.query.flag("watch")) => "WATCH",
        "GET" if !one => "LIST",
        "DELETE" if !one => "DELETECOLLECTION",
        "PATCH" => {
            let media_type = request.headers.get(CONTENT_TYPE);
            let media_type = media_type.map_or(&b""[..], |it| it.as_bytes());
            if media_type.starts_with(b"application/apply-patch") {
                "APPLY"
            } else {
                "PATCH"
            }
        }
        method => method,
    }
}

fn named_path(path: &str) -> &'static str {
    if let Some((health, _)) = Health::of_path(path) {
        return health.path();
    }
    let path = match path.trim_end_matches('/') {
        path if path.starts_with("/openapi/v3/") => "/openapi/v3",
        path => path,
    };
    let found = PATHS.iter().find(|it| **it == path);
    found.copied().unwrap_or_default()
}
