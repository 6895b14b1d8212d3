//! `OwnerReferencesPermissionEnforcement`: who may make objects depend on others.
//!
//! An object with an owner is deleted with it, and may keep it from being deleted.

use kubist_api::ResourceFacts;
use kubist_apimachinery::{AnyObject, OwnerReference, Status};
use kubist_authorization::{Action, Attributes as Access, Authorizer, Decision, ResourceAction};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

/// Lets only those change owners who may delete the object, and only those block the deletion of an
/// owner who may set its finalizers.
#[derive(Debug)]
pub(crate) struct OwnerReferencesPermissionEnforcement(pub(crate) Arc<dyn Authorizer>);

impl AdmissionPlugin for OwnerReferencesPermissionEnforcement {
    fn name(&self) -> &'static str {
        "OwnerReferencesPermissionEnforcement"
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        // The status of Pods cannot change owners.
        let is_status = target.is("", "pods") && target.subresource == "status";
        writes && !is_status
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let new = attributes.object().map(owners).unwrap_or_default();
            let old = attributes.old_object().map(owners).unwrap_or_default();
            if new == old {
                return Ok(());
            }
            // Who creates an object could as well not do it.
            if attributes.target().operation != Operation::Create {
                may_delete(attributes, &*self.0).await?;
            }
            let blocking: Vec<_> = newly_blocking(new, old).collect();
            if blocking.is_empty() || may_finalize_all(attributes, &*self.0).await {
                return Ok(());
            }
            for owner in blocking {
                may_finalize(attributes, owner, &*self.0).await?;
            }
            Ok(())
        })
    }
}

fn owners(object: &dyn AnyObject) -> &[OwnerReference] {
    &object.meta().owner_references
}

/// Returns the owners that did not have to wait for the object before.
fn newly_blocking<'a>(
    new: &'a [OwnerReference],
    old: &'a [OwnerReference],
) -> impl Iterator<Item = &'a OwnerReference> {
    let blocks = |it: &&OwnerReference| it.block_owner_deletion == Some(true);
    new.iter().filter(blocks).filter(move |new| {
        // Of equal uids upstream knows the last one.
        let before = old.iter().rev().find(|old| old.uid == new.uid);
        !before.as_ref().is_some_and(blocks)
    })
}

async fn decide(
    attributes: &Attributes<'_>,
    verb: &str,
    action: ResourceAction<'_>,
    authorizer: &dyn Authorizer,
) -> Decision {
    let access = Access {
        user: attributes.user(),
        verb,
        action: Action::Resource(action),
    };
    authorizer.authorize(access).await
}

async fn may_delete(
    attributes: &Attributes<'_>,
    authorizer: &dyn Authorizer,
) -> Result<(), Status> {
    let target = attributes.target();
    let action = ResourceAction {
        group: target.resource.group,
        version: target.resource.version,
        resource: target.resource.plural,
        subresource: target.subresource,
        namespace: target.namespace,
        name: target.name,
        ..ResourceAction::default()
    };
    let decision = decide(attributes, "delete", action, authorizer).await;
    if decision.is_allowed() {
        return Ok(());
    }
    Err(attributes.forbidden(format_args!(
        "cannot set an ownerRef on a resource you can't delete: {}, <nil>",
        decision.reason()
    )))
}

/// Reports whether the user may set the finalizers of all objects.
async fn may_finalize_all(attributes: &Attributes<'_>, authorizer: &dyn Authorizer) -> bool {
    let action = ResourceAction {
        group: "*",
        version: "*",
        resource: "*",
        subresource: "finalizers",
        name: "*",
        ..ResourceAction::default()
    };
    let decision = decide(attributes, "update", action, authorizer).await;
    decision.is_allowed()
}

async fn may_finalize(
    attributes: &Attributes<'_>,
    owner: &OwnerReference,
    authorizer: &dyn Authorizer,
) -> Result<(), Status> {
    for found in resources_of(attributes, owner)? {
        // Owners in a namespace are in that of the object.
        let namespace = if found.namespaced {
            attributes.target().namespace
        } else {
            ""
        };
        let action = ResourceAction {
            group: found.group,
            version: found.version,
            resource: found.plural,
            subresource: "finalizers",
            namespace,
            name: &owner.name,
            ..ResourceAction::default()
        };
        let decision = decide(attributes, "update", action, authorizer).await;
        if !decision.is_allowed() {
            return Err(attributes.forbidden(format_args!(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't \
                 set finalizers on: {}, <nil>",
                decision.reason()
            )));
        }
    }
    Ok(())
}

/// Returns the served resources that an owner may be of.
fn resources_of(
    attributes: &Attributes<'_>,
    owner: &OwnerReference,
) -> Result<Vec<&'static ResourceFacts>, Status> {
    let (api_version, kind) = (owner.api_version.as_str(), owner.kind.as_str());
    let found = attributes.stores().of_kind(api_version, kind);
    if !found.is_empty() {
        return Ok(found);
    }
    let why = if api_version.matches('/').count() > 1 {
        format!("unexpected GroupVersion string: {api_version}")
    } else {
        format!("no matches for kind {kind:?} in version {api_version:?}")
    };
    Err(attributes.forbidden(format_args!(
        "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for \
         APIVersion {api_version} Kind {kind}: {why}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(uid: &str, blocks: bool) -> OwnerReference {
        OwnerReference {
            uid: uid.into(),
            block_owner_deletion: blocks.then_some(true),
            ..OwnerReference::default()
        }
    }

    #[test]
    fn an_owner_that_waits_already_is_not_new() {
        let old = [owner("a", true), owner("b", false)];
        let new = [owner("a", true), owner("b", true), owner("c", true)];
        let found: Vec<_> = newly_blocking(&new, &old).map(|it| &*it.uid).collect();
        assert_eq!(found, ["b", "c"]);
        assert_eq!(newly_blocking(&old, &new).count(), 0);
    }
}
