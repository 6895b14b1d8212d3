//! `UsedPermissions`: the rights that a client's requests need.
//!
//! It records what is asked for, allowed or not, by the rules with which API servers turn a request
//! into a verb and a resource (`k8s.io/apiserver/pkg/endpoints/request`). Roles are written from
//! it, or compared with it. It is not an authorizer: names of objects are not recorded, nor is what
//! a server wants beyond the request (`bind`, `escalate`, `use`, `finalizers` of blocking owners).

use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use kubist_apimachinery::Str;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The content type of Server-Side Apply, which creates what is missing.
const APPLY: &str = "application/apply-patch+yaml";

/// The right to do something with a resource, in some namespace or in all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Permission {
    /// The API group; empty for the core group.
    pub group: Str,
    /// The plural, with a subresource after a slash: `pods/log`.
    pub resource: Str,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
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
        const ORDER: [&str; 8] = [
            "get",
            "list",
            "watch",
            "create",
            "update",
            "patch",
            "delete",
            "deletecollection",
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
        self.used.lock().entry(of.clone()).or_default().insert(verb);
    }

    /// Notes what the response shows: an apply that has created needs that right too.
    pub(crate) fn note_response(&self, asked: &Asked, code: StatusCode) {
        if asked.may_create && code == StatusCode::CREATED {
            let mut used = self.used.lock();
            used.entry(asked.of.clone()).or_default().insert("create");
        }
    }

    /// Notes a WebSocket, which servers let through with either verb, depending on their version
    /// (KEP-5808: upgrades need `create`).
    #[cfg(feature = "ws")]
    pub(crate) fn note_upgrade(&self, path: &str) {
        if let Some(of) = resource_of(path).map(|(of, _)| of) {
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
}

impl Asked {
    /// Returns `None` for a request that is not about a resource.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let (of, has_name) = resource_of(request.uri().path())?;
        let method = request.method();
        let content_type = request.headers().get(CONTENT_TYPE);
        let applies = content_type.is_some_and(|it| it.as_bytes().starts_with(APPLY.as_bytes()));
        let verb = match *method {
            Method::GET | Method::HEAD if has_name => "get",
            Method::GET | Method::HEAD if watches(request.uri().query()) => "watch",
            Method::GET | Method::HEAD => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if has_name => "delete",
            Method::DELETE => "deletecollection",
            _ => return None,
        };
        let may_create = applies || *method == Method::PUT;
        Some(Self {
            of,
            verb,
            may_create,
        })
    }
}

fn watches(query: Option<&str>) -> bool {
    let mut pairs = query.unwrap_or_default().split('&');
    pairs.any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

/// Returns group and resource, and whether a name is given.
fn resource_of(path: &str) -> Option<((Str, Str), bool)> {
    let segments: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    let (group, rest) = match &segments[..] {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    let rest = match rest {
        // Subresources of the namespace itself, not resources in it.
        ["namespaces", _, "status" | "finalize"] => rest,
        ["namespaces", _, inner @ ..] if !inner.is_empty() => inner,
        _ => rest,
    };
    let resource = match rest {
        [] => return None,
        [plural] | [plural, _] => Str::from(*plural),
        [plural, _, subresource, ..] => format!("{plural}/{subresource}").into(),
    };
    Some(((group.into(), resource), rest.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (Method::PATCH, scale, "patch deployments.apps/scale"),
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
        ] {
            let found = asked(method.clone(), path, "application/json");
            assert_eq!(found.as_deref(), Some(expected), "{method} {path}");
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
        let found = asked(Method::PATCH, path, "application/apply-patch+yaml");
        assert_eq!(
            found.as_deref(),
            Some("create deployments.apps, patch deployments.apps")
        );
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
