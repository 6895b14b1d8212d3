//! Follows the stored roles and bindings, and keeps the policy of the authorizer up to date.

use crate::following::{self, Followed};
use kubist_api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kubist_apimachinery::Status;
use kubist_authorization::rbac::RbacAuthorizer;
use kubist_registry::Registry;
use std::sync::Arc;

/// Implements [`Followed`] for a kind by the policy's own functions.
macro_rules! followed {
    ($kind:ty, $put:ident, $clear:ident, |$policy:ident, $namespace:ident, $name:ident| $remove:expr) => {
        impl Followed<RbacAuthorizer> for $kind {
            fn put(&self, to: &RbacAuthorizer) {
                to.change(|policy| policy.$put(self));
            }
            fn remove(from: &RbacAuthorizer, $namespace: &str, $name: &str) {
                from.change(|$policy| $remove);
            }
            fn replace(of: &RbacAuthorizer, all: &[&Self]) {
                of.change(|policy| {
                    policy.$clear();
                    for it in all {
                        policy.$put(it);
                    }
                });
            }
        }
    };
}

followed!(
    ClusterRole,
    put_cluster_role,
    clear_cluster_roles,
    |policy, _namespace, name| policy.remove_cluster_role(name)
);
followed!(Role, put_role, clear_roles, |policy, namespace, name| {
    policy.remove_role(namespace, name);
});
followed!(
    ClusterRoleBinding,
    put_cluster_role_binding,
    clear_cluster_role_bindings,
    |policy, _namespace, name| policy.remove_cluster_role_binding(name)
);
followed!(
    RoleBinding,
    put_role_binding,
    clear_role_bindings,
    |policy, namespace, name| policy.remove_role_binding(namespace, name)
);

/// Follows the roles and bindings of a registry. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time. The policy then stays as it is.
pub(crate) async fn follow(registry: &Registry, of: &Arc<RbacAuthorizer>) {
    let of: &RbacAuthorizer = of;
    tokio::join!(
        following::follow::<ClusterRole, _>(registry, of),
        following::follow::<ClusterRoleBinding, _>(registry, of),
        following::follow::<Role, _>(registry, of),
        following::follow::<RoleBinding, _>(registry, of),
    );
}

/// Reads all roles and bindings once, so that a server obeys them from its first request.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load(registry: &Registry, of: &RbacAuthorizer) -> Result<(), Status> {
    following::load::<ClusterRole, _>(registry, of).await?;
    following::load::<ClusterRoleBinding, _>(registry, of).await?;
    following::load::<Role, _>(registry, of).await?;
    following::load::<RoleBinding, _>(registry, of).await
}
