//! `UsedPermissions`: the rights that a client's requests need.
//!
//! It records what is asked for, allowed or not, by the rules with which API servers turn a request
//! into a verb and a resource (`k8s.io/apiserver/pkg/endpoints/request`). A streaming list, which
//! is a watch, counts as a list, too, because that is what servers without it are asked for. Roles
//! are written from it, or compared with it. It is not an authorizer: names of objects are not
//! recorded, nor is what a server wants beyond the request (`bind`, `escalate`, `use`, `finalizers`
//! of blocking owners).

use http::{Method, Request, StatusCode};
use kubist_apimachinery::{Status, Str};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The right to do something with a resource, in some namespace or in all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Permission {
    /// The API group; empty for the core group.
    pub group: Str,
    /// The plural, with a subresource after a slash: `pods/log`.
    pub resource: Str,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or
    /// `proxy` for the old paths that begin with it.
    pub verb: &'static str,
}

/// As `kubectl auth can-i` takes it: `list deployments.apps`.
impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            group,
            resource,
            verb,
        } = self;
        let (plural, subresource) = match resource.split_once('/') {
            Some((plural, subresource)) => (plural, Some(subresource)),
            None => (&**resource, None),
        };
        write!(f, "{verb} {plural}")?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        match subresource {
            Some(subresource) => write!(f, "/{subresource}"),
            None => Ok(()),
        }
    }
}

type Verbs = BTreeSet<&'static str>;

/// The rights that were used. Clones share their content; one can serve several clients.
///
/// [`Client::recording`](crate::Client::recording) fills it: let a test drive a program with such a
/// client, and the rules of its role follow.
#[derive(Clone, Debug, Default)]
pub struct UsedPermissions {
    /// The verbs for each group and resource.
    used: Arc<Mutex<BTreeMap<(Str, Str), Verbs>>>,
}

impl UsedPermissions {
    /// Returns each, in order of group, resource and verb.
    pub fn permissions(&self) -> Vec<Permission> {
        let used = self.used.lock();
        let each = used.iter().flat_map(|((group, resource), verbs)| {
            verbs.iter().map(|verb| Permission {
                group: group.clone(),
                resource: resource.clone(),
                verb,
            })
        });
        each.collect()
    }

    /// Returns rules that grant this and nothing else, one for the resources of a group with the
    /// same verbs, with the verbs in the usual order.
    #[cfg(feature = "rbac-v1")]
    pub fn policy_rules(&self) -> Vec<kubist_api::rbac::v1::PolicyRule> {
        const ORDER: [&str; 9] = [
            "get",
            "list",
            "watch",
            "create",
            "update",
            "patch",
            "delete",
            "deletecollection",
            "proxy",
        ];
        let mut rules = Vec::<kubist_api::rbac::v1::PolicyRule>::new();
        for ((group, resource), used) in &*self.used.lock() {
            let verbs = ORDER.iter().filter(|it| used.contains(*it));
            let verbs: Vec<Str> = verbs.map(|it| Str::from(*it)).collect();
            let same = |it: &&mut kubist_api::rbac::v1::PolicyRule| {
                it.api_groups[..] == [group.clone()] && it.verbs == verbs
            };
            if let Some(rule) = rules.iter_mut().find(same) {
                rule.resources.push(resource.clone());
                continue;
            }
            rules.push(kubist_api::rbac::v1::PolicyRule {
                api_groups: vec![group.clone()],
                resources: vec![resource.clone()],
                verbs,
                ..Default::default()
            });
        }
        rules
    }

    /// Returns what was used and these rules do not grant. Rules for single objects
    /// (`resourceNames`) grant nothing here.
    #[cfg(feature = "rbac-v1")]
    pub fn lacking<'a>(
        &self,
        rules: impl IntoIterator<Item = &'a kubist_api::rbac::v1::PolicyRule>,
    ) -> Vec<Permission> {
        let mut lacking = self.permissions();
        for rule in rules {
            lacking.retain(|it| !grants(rule, it));
        }
        lacking
    }

    /// Notes what a request needs, if it is about a resource.
    pub(crate) fn note(&self, asked: &Asked) {
        let Asked { of, verb, .. } = asked;
        let mut used = self.used.lock();
        let verbs = used.entry(of.clone()).or_default();
        verbs.insert(verb);
        if asked.streams_list {
            verbs.insert("list");
        }
    }

    /// Notes what the response shows: an apply that has created needs that right too.
    pub(crate) fn note_response(&self, asked: &Asked, code: StatusCode) {
        if asked.may_create && code == StatusCode::CREATED {
            self.note_creation(asked);
        }
    }

    /// Notes what a refusal shows: the right to create was asked for, and denied.
    pub(crate) fn note_refusal(&self, asked: &Asked, status: &Status) {
        // The only place where servers tell it.
        let of_creation = || status.message.contains(" cannot create resource ");
        if asked.may_create && status.is_forbidden() && of_creation() {
            self.note_creation(asked);
        }
    }

    fn note_creation(&self, asked: &Asked) {
        let mut used = self.used.lock();
        used.entry(asked.of.clone()).or_default().insert("create");
    }

    /// Notes a WebSocket, which servers let through with either verb, depending on their version
    /// (KEP-5808: upgrades need `create`).
    #[cfg(feature = "ws")]
    pub(crate) fn note_upgrade(&self, path: &str) {
        if let Some(of) = resource_of(path).map(|it| it.of) {
            let mut used = self.used.lock();
            used.entry(of).or_default().extend(["create", "get"]);
        }
    }
}

/// Reports whether a rule grants a right to every object.
#[cfg(feature = "rbac-v1")]
fn grants(rule: &kubist_api::rbac::v1::PolicyRule, wanted: &Permission) -> bool {
    let has = |list: &[Str], value: &str| list.iter().any(|it| *it == "*" || *it == value);
    let every = |it: &Str| {
        let of_any = it.strip_prefix("*/");
        of_any.is_some_and(|it| {
            wanted
                .resource
                .split_once('/')
                .is_some_and(|(_, s)| s == it)
        })
    };
    rule.resource_names.is_empty()
        && has(&rule.verbs, wanted.verb)
        && has(&rule.api_groups, &wanted.group)
        && (has(&rule.resources, &wanted.resource) || rule.resources.iter().any(every))
}

/// What a request asks for.
pub(crate) struct Asked {
    of: (Str, Str),
    verb: &'static str,
    /// The request creates what is missing.
    may_create: bool,
    /// The request is a watch in place of a list.
    streams_list: bool,
}

impl Asked {
    /// Returns `None` for a request that is not about a resource.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let found = resource_of(request.uri().path())?;
        let method = request.method();
        let has_name = found.has_name;
        let query = request.uri().query();
        let verb = match *method {
            _ if found.verb.is_some() => found.verb?,
            Method::GET | Method::HEAD if has_name => "get",
            Method::GET | Method::HEAD if has_flag(query, "watch") => "watch",
            Method::GET | Method::HEAD => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if has_name => "delete",
            Method::DELETE => "deletecollection",
            _ => return None,
        };
        // Server-Side Apply is one of the patches, in several formats.
        let may_create = matches!(*method, Method::PUT | Method::PATCH);
        Some(Self {
            of: found.of,
            verb,
            may_create,
            streams_list: verb == "watch" && has_flag(query, "sendInitialEvents"),
        })
    }
}

/// Reports whether a parameter is true, as servers read it: the first value counts, and everything
/// but `false` and `0` is true.
fn has_flag(query: Option<&str>, name: &str) -> bool {
    let pairs = query.unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    });
    let value = values.next();
    value.is_some_and(|it| it != "0" && !it.eq_ignore_ascii_case("false"))
}

/// What a path is about.
struct Found {
    /// Group and resource.
    of: (Str, Str),
    has_name: bool,
    /// The verb, if it is in the path: `/api/v1/watch/pods`.
    verb: Option<&'static str>,
}

/// Reads a path as servers do, which decode it first.
fn resource_of(path: &str) -> Option<Found> {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, rest) = match &segments[..] {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    let (verb, rest) = match rest {
        ["watch", rest @ ..] => (Some("watch"), rest),
        ["proxy", rest @ ..] => (Some("proxy"), rest),
        _ => (None, rest),
    };
    let rest = match rest {
        // Subresources of the namespace itself, not resources in it.
        ["namespaces", _, "status" | "finalize", ..] => rest,
        ["namespaces", _, inner @ ..] if !inner.is_empty() => inner,
        _ => rest,
    };
    let resource = match rest {
        [] => return None,
        [plural, _, subresource, ..] if verb != Some("proxy") && !subresource.is_empty() => {
            format!("{plural}/{subresource}").into()
        }
        [plural, ..] => Str::from(*plural),
    };
    Some(Found {
        of: (group.into(), resource),
        has_name: rest.get(1).is_some_and(|it| !it.is_empty()),
        verb,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::CONTENT_TYPE;

    fn asked(method: Method, path: &str, content_type: &str) -> Option<String> {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(CONTENT_TYPE, content_type).body(());
        let asked = Asked::of(&request.unwrap())?;
        let used = UsedPermissions::default();
        used.note(&asked);
        used.note_response(&asked, StatusCode::OK);
        assert_eq!(used.permissions().len(), 1);
        used.note_response(&asked, StatusCode::CREATED);
        let used: Vec<_> = used
            .permissions()
            .iter()
            .map(Permission::to_string)
            .collect();
        Some(used.join(", "))
    }

    #[test]
    fn a_request_is_a_verb_and_a_resource() {
        let pods = "/api/v1/namespaces/shop/pods";
        let scale = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
        let proxy = "/api/v1/nodes/a/proxy/logs/syslog";
        for (method, path, expected) in [
            (Method::GET, "/api/v1/pods?watch=true", "watch pods"),
            (Method::GET, "/api/v1/pods?limit=1&watch=1", "watch pods"),
            (Method::GET, "/api/v1/pods?watch=false", "list pods"),
            (Method::GET, pods, "list pods"),
            (Method::DELETE, pods, "deletecollection pods"),
            (Method::POST, pods, "create pods"),
            (
                Method::PUT,
                scale,
                "create deployments.apps/scale, update deployments.apps/scale",
            ),
            (Method::DELETE, scale, "delete deployments.apps/scale"),
            (Method::GET, proxy, "get nodes/proxy"),
            (Method::GET, "/api/v1/namespaces", "list namespaces"),
            (
                Method::DELETE,
                "/api/v1/namespaces/shop",
                "delete namespaces",
            ),
            (
                Method::GET,
                "/api/v1/namespaces/shop/status",
                "get namespaces/status",
            ),
            (
                Method::PUT,
                "/api/v1/namespaces/shop/finalize",
                "create namespaces/finalize, update namespaces/finalize",
            ),
        ] {
            let found = asked(method.clone(), path, "application/json");
            assert_eq!(found.as_deref(), Some(expected), "{method} {path}");
        }
    }

    /// As `k8s.io/apiserver/pkg/endpoints/request` reads them.
    #[test]
    fn odd_paths_and_queries_are_read_as_servers_do() {
        for (path, expected) in [
            ("/api/v1/watch/pods", "watch pods"),
            ("/api/v1/watch/namespaces/shop/pods/web", "watch pods"),
            (
                "/apis/apps/v1/watch/namespaces/shop/deployments",
                "watch deployments.apps",
            ),
            ("/api/v1/proxy/namespaces/shop/pods/web/a/b", "proxy pods"),
            ("/api/v1/pods?watch=True", "watch pods"),
            ("/api/v1/pods?watch", "watch pods"),
            ("/api/v1/pods?watch=0&watch=1", "list pods"),
            ("/api/v1/pods?watch=FALSE", "list pods"),
            (
                "/api/v1/pods?fieldSelector=metadata.name%3Dweb",
                "list pods",
            ),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                "get clusterroles.rbac.authorization.k8s.io",
            ),
            ("/api/v1/namespaces/shop/pods/web%2Flog", "get pods/log"),
            ("/api/v1/namespaces/shop/status/x", "get namespaces/status"),
            ("/api/v1/namespaces/shop/pods/", "list pods"),
            (
                "/api/v1/namespaces/shop/services/http:web:80/proxy/a?watch=1",
                "get services/proxy",
            ),
        ] {
            let found = asked(Method::GET, path, "");
            assert_eq!(found.as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_streaming_list_needs_the_right_of_the_list_that_replaces_it() {
        let request = Request::get("/api/v1/pods?watch=true&sendInitialEvents=true");
        let used = UsedPermissions::default();
        used.note(&Asked::of(&request.body(()).unwrap()).unwrap());
        let used = used.permissions();
        let used: Vec<_> = used.iter().map(Permission::to_string).collect();
        assert_eq!(used, ["list pods", "watch pods"]);
    }

    #[test]
    fn a_refusal_to_create_shows_that_the_right_was_asked_for() {
        let path = "/apis/apps/v1/namespaces/shop/deployments/web";
        for (method, verb, code, expected) in [
            (Method::PATCH, "create", 403, 2),
            (Method::PUT, "create", 403, 2),
            (Method::PATCH, "patch", 403, 1),
            (Method::DELETE, "create", 403, 1),
            (Method::PATCH, "create", 422, 1),
        ] {
            let request = Request::builder().method(method.clone()).uri(path);
            let asked = Asked::of(&request.body(()).unwrap()).unwrap();
            let used = UsedPermissions::default();
            used.note(&asked);
            let message = format!(
                "deployments.apps \"web\" is forbidden: User \"a\" cannot {verb} resource \
                 \"deployments\" in API group \"apps\" in the namespace \"shop\""
            );
            let status = Status {
                message: message.into(),
                reason: if code == 403 { "Forbidden" } else { "Invalid" }.into(),
                code,
                ..Status::default()
            };
            used.note_refusal(&asked, &status);
            assert_eq!(used.permissions().len(), expected, "{method} {verb} {code}");
        }
    }

    #[test]
    fn what_is_not_about_a_resource_needs_no_rule() {
        for path in [
            "/",
            "/version",
            "/api",
            "/api/v1",
            "/apis/apps/v1",
            "/openapi/v3/apis/apps",
        ] {
            assert_eq!(asked(Method::GET, path, ""), None, "{path}");
        }
        assert_eq!(asked(Method::OPTIONS, "/api/v1/pods", ""), None);
    }

    #[test]
    fn an_apply_that_creates_needs_both_rights() {
        let path = "/apis/apps/v1/namespaces/shop/deployments/web";
        for format in ["yaml", "cbor"] {
            let found = asked(
                Method::PATCH,
                path,
                &format!("application/apply-patch+{format}"),
            );
            assert_eq!(
                found.as_deref(),
                Some("create deployments.apps, patch deployments.apps")
            );
        }
    }

    #[cfg(feature = "rbac-v1")]
    #[test]
    fn rules_grant_what_was_used_and_nothing_else() {
        let used = UsedPermissions::default();
        for (method, path) in [
            (Method::GET, "/api/v1/pods?watch=1"),
            (Method::GET, "/api/v1/pods"),
            (Method::GET, "/api/v1/nodes"),
            (Method::GET, "/api/v1/nodes?watch=1"),
            (Method::GET, "/api/v1/namespaces/shop/pods/web-0/log"),
            (Method::POST, "/apis/batch/v1/namespaces/shop/jobs"),
        ] {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .body(())
                .unwrap();
            used.note(&Asked::of(&request).unwrap());
        }
        let rules = used.policy_rules();
        let text = |list: &[Str]| list.join(",");
        let found: Vec<_> = rules
            .iter()
            .map(|it| [text(&it.api_groups), text(&it.resources), text(&it.verbs)].join(" "))
            .collect();
        assert_eq!(
            found,
            [
                " nodes,pods list,watch",
                " pods/log get",
                "batch jobs create"
            ]
        );
        assert_eq!(used.lacking(&rules), []);
        assert_eq!(used.lacking(&rules[1..]).len(), 4);
        let mut every = rules[1].clone();
        every.resources = vec!["*/log".into()];
        assert_eq!(used.lacking([&rules[0], &rules[2], &every]), []);
        every.resource_names = vec!["web-0".into()];
        let lacking = used.lacking([&rules[0], &rules[2], &every]);
        assert_eq!(lacking[0].to_string(), "get pods/log");
    }
}
