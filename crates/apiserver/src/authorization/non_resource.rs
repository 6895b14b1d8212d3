//! Authorization of the non-resource paths for metrics and backups.
//!
//! As in upstream's default roles, `system:masters` may do everything, the group
//! `system:monitoring` may read `/metrics`, and so may users bound to a cluster role with a rule
//! for that path. Other requests are not authorized here.

use crate::authorization::authorizer;
use kubist_api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kubist_apimachinery::{AnyObject, Status};
use kubist_authorization::rbac::{GROUP, Policy};
use kubist_authorization::{Action, Attributes, MASTERS_GROUP};
use kubist_registry::{Lookup, User};
use std::any::Any;
use std::sync::Arc;

/// The group that may read metrics, as upstream.
const MONITORING_GROUP: &str = "system:monitoring";

/// Reports whether a user is in `system:masters`.
pub(crate) fn is_master(user: &User) -> bool {
    user.is_in(MASTERS_GROUP)
}

/// Reports whether a user may read metrics at this path.
pub(crate) async fn can_read_metrics(user: &User, path: &str, lookup: &dyn Lookup) -> bool {
    is_master(user) || user.is_in(MONITORING_GROUP) || is_bound(user, path, lookup).await
}

/// 403 for a path, in upstream's words.
pub(crate) fn forbidden(user: &User, path: &str) -> Status {
    authorizer::forbidden(getting(user, path), "")
}

fn getting<'a>(user: &'a User, path: &'a str) -> Attributes<'a> {
    Attributes {
        user,
        verb: "get",
        action: Action::Path(path),
    }
}

/// Reports whether a binding grants a user a cluster role that allows GET of a path. What cannot be
/// read grants nothing.
async fn is_bound(user: &User, path: &str, lookup: &dyn Lookup) -> bool {
    let mut policy = Policy::default();
    let bindings = lookup.list(GROUP, "clusterrolebindings", "").await;
    for binding in bindings.unwrap_or_default() {
        if let Some(binding) = cast::<ClusterRoleBinding>(&binding) {
            policy.put_cluster_role_binding(binding);
        }
    }
    for role in policy.cluster_roles_of(user) {
        if let Ok(Some(role)) = lookup.get(GROUP, "clusterroles", "", &role).await
            && let Some(role) = cast::<ClusterRole>(&role)
        {
            policy.put_cluster_role(role);
        }
    }
    policy.authorize(&getting(user, path)).is_allowed()
}

fn cast<K: 'static>(object: &Arc<dyn AnyObject>) -> Option<&K> {
    let object: &dyn AnyObject = &**object;
    (object as &dyn Any).downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::rbac::v1::PolicyRule;
    use kubist_authorization::rbac::allows;

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
                allows(&rule(verb, url), &getting(&User::default(), "/metrics")),
                expected,
                "{verb} {url}"
            );
        }
    }
}
