//! Follows the stored roles and bindings, and keeps the policy of the authorizer up to date.

use kubist_api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kubist_apimachinery::{AnyObject, ListOptions, Resource, ResourceVersion, Status};
use kubist_authorization::rbac::{Policy, RbacAuthorizer};
use kubist_registry::{Registry, RequestContext, Rest, User, WatchEvent};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The pause after a storage error.
const RETRY: Duration = Duration::from_secs(1);

/// A kind of roles or bindings, in a policy.
trait InPolicy: Resource + Any {
    fn put(&self, policy: &mut Policy);
    fn remove(policy: &mut Policy, namespace: &str, name: &str);
    /// Removes all of the kind.
    fn clear(policy: &mut Policy);
}

impl InPolicy for ClusterRole {
    fn put(&self, policy: &mut Policy) {
        policy.put_cluster_role(self);
    }
    fn remove(policy: &mut Policy, _namespace: &str, name: &str) {
        policy.remove_cluster_role(name);
    }
    fn clear(policy: &mut Policy) {
        policy.clear_cluster_roles();
    }
}

impl InPolicy for Role {
    fn put(&self, policy: &mut Policy) {
        policy.put_role(self);
    }
    fn remove(policy: &mut Policy, namespace: &str, name: &str) {
        policy.remove_role(namespace, name);
    }
    fn clear(policy: &mut Policy) {
        policy.clear_roles();
    }
}

impl InPolicy for ClusterRoleBinding {
    fn put(&self, policy: &mut Policy) {
        policy.put_cluster_role_binding(self);
    }
    fn remove(policy: &mut Policy, _namespace: &str, name: &str) {
        policy.remove_cluster_role_binding(name);
    }
    fn clear(policy: &mut Policy) {
        policy.clear_cluster_role_bindings();
    }
}

impl InPolicy for RoleBinding {
    fn put(&self, policy: &mut Policy) {
        policy.put_role_binding(self);
    }
    fn remove(policy: &mut Policy, namespace: &str, name: &str) {
        policy.remove_role_binding(namespace, name);
    }
    fn clear(policy: &mut Policy) {
        policy.clear_role_bindings();
    }
}

/// Follows the roles and bindings of a registry. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time. The policy then stays as it is.
pub(crate) async fn follow(registry: &Registry, of: &Arc<RbacAuthorizer>) {
    tokio::join!(
        follow_kind::<ClusterRole>(registry, of),
        follow_kind::<ClusterRoleBinding>(registry, of),
        follow_kind::<Role>(registry, of),
        follow_kind::<RoleBinding>(registry, of),
    );
}

/// Reads all roles and bindings once, so that a server obeys them from its first request.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load(registry: &Registry, of: &RbacAuthorizer) -> Result<(), Status> {
    load_kind::<ClusterRole>(registry, of).await?;
    load_kind::<ClusterRoleBinding>(registry, of).await?;
    load_kind::<Role>(registry, of).await?;
    load_kind::<RoleBinding>(registry, of).await
}

fn rest<K: InPolicy>(registry: &Registry) -> Option<(Arc<Rest>, RequestContext)> {
    let rest = registry.resource(K::GROUP, K::VERSION, K::PLURAL)?;
    let mut cx = registry.request(User {
        name: "system:apiserver".into(),
        ..User::default()
    });
    // What cannot be decoded grants nothing.
    cx.skip_unreadable = true;
    Some((rest, cx))
}

async fn load_kind<K: InPolicy>(registry: &Registry, of: &RbacAuthorizer) -> Result<(), Status> {
    let Some((rest, cx)) = rest::<K>(registry) else {
        return Ok(());
    };
    list::<K>(&rest, &cx, of).await.map(drop)
}

/// Replaces all of a kind by what is stored, in one step, and returns the version of it.
async fn list<K: InPolicy>(
    rest: &Rest,
    cx: &RequestContext,
    of: &RbacAuthorizer,
) -> Result<ResourceVersion, Status> {
    let page = rest.list(cx, "", &ListOptions::default()).await?;
    of.change(|policy| {
        K::clear(policy);
        for stored in &page.items {
            if let Ok(object) = stored.object() {
                put::<K>(policy, &**object);
            }
        }
    });
    Ok(page.metadata.resource_version.to_string().into())
}

async fn follow_kind<K: InPolicy>(registry: &Registry, of: &RbacAuthorizer) {
    loop {
        // It ends only with a storage error, or when the watch is over; the next round begins with
        // all objects.
        drop(follow_once::<K>(registry, of).await);
        tokio::time::sleep(RETRY).await;
    }
}

async fn follow_once<K: InPolicy>(registry: &Registry, of: &RbacAuthorizer) -> Result<(), Status> {
    let Some((rest, cx)) = rest::<K>(registry) else {
        return std::future::pending().await;
    };
    let options = ListOptions {
        resource_version: list::<K>(&rest, &cx, of).await?,
        ..ListOptions::default()
    };
    let mut events = rest.watch(&cx, "", None, &options, None).await?;
    while let Some(batch) = events.next().await {
        for event in batch {
            let (stored, is_there) = match event {
                WatchEvent::Added(stored) | WatchEvent::Modified(stored) => (stored, true),
                WatchEvent::Deleted(stored) => (stored, false),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(status) => return Err(*status),
            };
            let Ok(object) = stored.object() else {
                continue;
            };
            let object = &**object;
            of.change(|policy| {
                if is_there {
                    put::<K>(policy, object);
                } else {
                    let meta = object.meta();
                    K::remove(policy, &meta.namespace, &meta.name);
                }
            });
        }
    }
    Ok(())
}

fn put<K: InPolicy>(policy: &mut Policy, object: &dyn AnyObject) {
    if let Some(typed) = (object as &dyn Any).downcast_ref::<K>() {
        typed.put(policy);
    }
}
