//! The check of roles and bindings for what they grant, in the requests that write them.

use kubist_api::rbac::v1::{PolicyRule, RoleRef};
use kubist_apimachinery::{GroupResource, KubeObject, Status};
use kubist_authorization::ResourceAction;
use kubist_authorization::rbac::{GROUP, GrantError};
use kubist_registry::{Admission, changes_only_ownership};

/// Checks a role. `old` is the stored one, and `aggregates` whether either has an aggregation rule.
pub(super) async fn check_role<K: KubeObject>(
    cx: &Admission<'_>,
    new: &K,
    old: Option<&K>,
    rules: &[PolicyRule],
    aggregates: bool,
) -> Result<(), Status> {
    let Some(grants) = cx.request.grants.as_deref() else {
        return Ok(());
    };
    if old.is_some_and(|old| changes_only_ownership(new, old)) {
        return Ok(());
    }
    let metadata = new.metadata();
    // A create has no name in its path.
    let name = old.map_or("", |it| &*it.metadata().name);
    let role = ResourceAction {
        group: GROUP,
        resource: K::PLURAL,
        namespace: &metadata.namespace,
        name,
        ..ResourceAction::default()
    };
    let user = &cx.request.user;
    let checked = grants.check_role(user, role, rules, aggregates).await;
    checked.map_err(|error| refusal(K::PLURAL, &metadata.name, &error))
}

/// Checks a binding of a role.
pub(super) async fn check_binding<K: KubeObject>(
    cx: &Admission<'_>,
    new: &K,
    old: Option<&K>,
    role: &RoleRef,
) -> Result<(), Status> {
    let Some(grants) = cx.request.grants.as_deref() else {
        return Ok(());
    };
    if old.is_some_and(|old| changes_only_ownership(new, old)) {
        return Ok(());
    }
    let metadata = new.metadata();
    let user = &cx.request.user;
    let checked = grants.check_binding(user, &metadata.namespace, role).await;
    checked.map_err(|error| refusal(K::PLURAL, &metadata.name, &error))
}

fn refusal(resource: &str, name: &str, error: &GrantError) -> Status {
    let resource = GroupResource::new(GROUP, resource);
    if let GrantError::NotFound(role) = error {
        // As upstream, it has the role's name and the resource of the binding.
        return Status::not_found(&resource, &role.name);
    }
    Status::forbidden(&resource, name, format_args!("{error}"))
}
