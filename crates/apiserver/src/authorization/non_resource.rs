//! Authorization of the non-resource paths for metrics and backups.
//!
//! As in upstream's default roles, `system:masters` may do everything, the group
//! `system:monitoring` may read `/metrics`, and so may users bound to a cluster role with a rule
//! for that path. Other requests are not authorized here.

use crate::authentication::authenticator::MASTERS_GROUP;
use kubist_api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Subject};
use kubist_apimachinery::{AnyObject, GroupResource, Status};
use kubist_registry::{Lookup, User};
use std::any::Any;
use std::sync::Arc;

/// The group that may read metrics, as upstream.
const MONITORING_GROUP: &str = "system:monitoring";
/// The API group of roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// Reports whether a user is in `system:masters`.
pub(crate) fn is_master(user: &User) -> bool {
    is_in(user, MASTERS_GROUP)
}

/// Reports whether a user may read metrics at this path.
pub(crate) async fn can_read_metrics(user: &User, path: &str, lookup: &dyn Lookup) -> bool {
    is_master(user) || is_in(user, MONITORING_GROUP) || is_bound(user, path, lookup).await
}

/// 403 for a path, in upstream's words.
pub(crate) fn forbidden(user: &User, path: &str) -> Status {
    let why = format_args!("User {:?} cannot get path {path:?}", &*user.name);
    Status::forbidden(&GroupResource::default(), "", why)
}

fn is_in(user: &User, group: &str) -> bool {
    user.groups.iter().any(|it| **it == *group)
}

/// Reports whether a binding grants a user a cluster role that allows GET of a path.
async fn is_bound(user: &User, path: &str, lookup: &dyn Lookup) -> bool {
    let bindings = lookup.list(RBAC, "clusterrolebindings", "").await;
    for binding in bindings.unwrap_or_default() {
        let Some(binding) = cast::<ClusterRoleBinding>(&binding) else {
            continue;
        };
        if !binding
            .subjects
            .iter()
            .any(|subject| subject_matches(user, subject))
        {
            continue;
        }
        let role = lookup.get(RBAC, "clusterroles", "", &binding.role_ref.name);
        let Ok(Some(role)) = role.await else {
            continue;
        };
        let role = cast::<ClusterRole>(&role);
        if role.is_some_and(|role| role.rules.iter().any(|rule| allows(rule, path))) {
            return true;
        }
    }
    false
}

fn cast<K: 'static>(object: &Arc<dyn AnyObject>) -> Option<&K> {
    let object: &dyn AnyObject = &**object;
    (object as &dyn Any).downcast_ref()
}

fn subject_matches(user: &User, subject: &Subject) -> bool {
    match &*subject.kind {
        "User" => subject.name == user.name,
        "Group" => is_in(user, &subject.name),
        "ServiceAccount" => {
            let name = format!(
                "system:serviceaccount:{}:{}",
                subject.namespace, subject.name
            );
            name == *user.name
        }
        _ => false,
    }
}

/// Reports whether a rule allows GET of a path. `*` matches any verb or any path; at the end of a
/// path it matches any suffix.
fn allows(rule: &PolicyRule, path: &str) -> bool {
    let verb = rule.verbs.iter().any(|it| matches!(&**it, "get" | "*"));
    let covers = |url: &str| match url.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == url,
    };
    verb && rule.non_resource_urls.iter().any(|it| covers(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_verbs_and_paths_with_stars() {
        let rule = |verb: &str, url: &str| PolicyRule {
            verbs: vec![verb.into()],
            non_resource_urls: vec![url.into()],
            ..PolicyRule::default()
        };
        for (verb, url, expected) in [
            ("get", "/metrics", true),
            ("*", "*", true),
            ("get", "/met*", true),
            ("get", "/metrics/*", false),
            ("list", "/metrics", false),
            ("get", "/healthz", false),
        ] {
            assert_eq!(
                allows(&rule(verb, url), "/metrics"),
                expected,
                "{verb} {url}"
            );
        }
    }
}
