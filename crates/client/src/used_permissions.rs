//! `UsedPermissions`: the rights that a client's requests need.
//!
//! It records what is asked for, allowed or not, by the rules with which API servers turn a request
//! into a verb and a resource (`k8s.io/apiserver/pkg/endpoints/request`). A streaming list, which
//! is a watch, counts as a list, too, because that is what servers without it are asked for. Roles
//! are written from it, or compared with it. It is not an authorizer: names of objects are not
//! recorded, nor is what a server wants beyond the request (`bind`, `escalate`, `use`, `finalizers`
//! of blocking owners).

mod asked;
#[cfg(test)]
mod tests;

pub(crate) use self::asked::Asked;
#[cfg(feature = "ws")]
use self::asked::resource_of;
use http::StatusCode;
use kubist_apimachinery::{Status, Str};
use parking_lot::Mutex;
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
