//! Owner references: which object another one belongs to.
//!
//! When the last owner of an object is deleted, the garbage collector deletes the object. The
//! owner that is marked as the controller is the one whose key [`Controller::owns`] enqueues.
//!
//! [`Controller::owns`]: crate::Controller::owns

use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{
    ApiResource, GroupVersion, HasMetadata, Object, OwnerReference, OwnerReferences as _, Str,
};

/// Why an object cannot belong to an owner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// Another object is the controller of the object. Do not take it over: leave it alone, or
    /// give yours another name.
    #[error("{object} is already controlled by {kind} {owner:?}; only one controller is possible")]
    AlreadyControlled {
        /// The object's name.
        object: Str,
        /// The kind of the controller that it has.
        kind: Str,
        /// The name of the controller that it has.
        owner: Str,
    },
    /// A cluster-scoped object cannot belong to one in a namespace.
    #[error(
        "{object} is cluster-scoped and cannot belong to {kind} {owner:?} in namespace \
         {namespace:?}: clean it up with a finalizer"
    )]
    ClusterScoped {
        /// The object's name.
        object: Str,
        /// The owner's kind.
        kind: Str,
        /// The owner's name.
        owner: Str,
        /// The owner's namespace.
        namespace: Str,
    },
    /// Owner references do not cross namespaces: the garbage collector would delete the object.
    #[error(
        "{object} is in namespace {found:?} and cannot belong to {kind} {owner:?} in namespace \
         {namespace:?}: create it in the owner's namespace, or clean it up with a finalizer"
    )]
    OtherNamespace {
        /// The object's name.
        object: Str,
        /// The object's namespace.
        found: Str,
        /// The owner's kind.
        kind: Str,
        /// The owner's name.
        owner: Str,
        /// The owner's namespace.
        namespace: Str,
    },
    /// The owner has not been created: it has no uid.
    #[error("{kind} {owner:?} has no uid: it must be read from a server before it owns something")]
    NoUid {
        /// The owner's kind.
        kind: Str,
        /// The owner's name.
        owner: Str,
    },
}

/// Returns a reference to an owner that is not the controller.
pub fn owner_reference<O: Ingest>(owner: &O) -> OwnerReference {
    let resource = ApiResource::of::<O::Kind>();
    OwnerReference {
        api_version: resource.group_version().to_string().into(),
        kind: resource.kind,
        name: owner.name().into(),
        uid: owner.uid().into(),
        controller: None,
        block_owner_deletion: None,
    }
}

/// Returns a reference that makes `owner` the controller, and its foreground deletion wait for the
/// object, as upstream's `NewControllerRef`.
pub fn controller_reference<O: Ingest>(owner: &O) -> OwnerReference {
    OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..owner_reference(owner)
    }
}

/// Makes `owner` the controller of `object`, in memory; the caller writes the object. A reference
/// to the same owner is replaced, with other versions of its API too. controller-runtime's
/// `SetControllerReference`.
///
/// ```
/// # use kubist_api::apps::v1::Deployment;
/// # use kubist_api::core::v1::ConfigMap;
/// # use kubist_controller::{OwnerError, set_controller_reference};
/// # fn example(owner: &Deployment) -> Result<(), OwnerError> {
/// let mut map = ConfigMap::default();
/// map.metadata.name = format!("{}-settings", owner.metadata.name).into();
/// map.metadata.namespace = owner.metadata.namespace.clone();
/// set_controller_reference(owner, &mut map)?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// The object has another controller, or the owner cannot own it; see [`OwnerError`].
pub fn set_controller_reference<O, C>(owner: &O, object: &mut C) -> Result<(), OwnerError>
where
    O: Ingest,
    C: Object + HasMetadata,
{
    let reference = controller_reference(owner);
    let owners = object.object_metadata().owner_references();
    let mut controllers = owners.iter().filter(|it| it.controller == Some(true));
    if let Some(other) = controllers.find(|it| !is_same(it, &reference)) {
        return Err(OwnerError::AlreadyControlled {
            object: object.name().into(),
            kind: other.kind.clone(),
            owner: other.name.clone(),
        });
    }
    put(owner, object, reference)
}

/// Makes `owner` an owner of `object`, beside others, in memory. controller-runtime's
/// `SetOwnerReference`.
///
/// # Errors
/// The owner cannot own the object; see [`OwnerError`].
pub fn set_owner_reference<O, C>(owner: &O, object: &mut C) -> Result<(), OwnerError>
where
    O: Ingest,
    C: Object + HasMetadata,
{
    put(owner, object, owner_reference(owner))
}

/// Removes the reference to `owner` in memory, and reports whether there was one.
pub fn remove_owner_reference<O: Ingest>(owner: &O, object: &mut impl HasMetadata) -> bool {
    let reference = owner_reference(owner);
    let metadata = object.object_metadata_mut();
    let mut owners = metadata.owner_references();
    let before = owners.len();
    owners.retain(|it| !is_same(it, &reference));
    let was_there = owners.len() < before;
    metadata.set_owner_references(owners);
    was_there
}

fn put<O, C>(owner: &O, object: &mut C, reference: OwnerReference) -> Result<(), OwnerError>
where
    O: Ingest,
    C: Object + HasMetadata,
{
    check(owner.namespace(), &reference, &*object)?;
    let metadata = object.object_metadata_mut();
    let mut owners = metadata.owner_references();
    match owners.iter_mut().find(|it| is_same(it, &reference)) {
        Some(found) => *found = reference,
        None => owners.push(reference),
    }
    metadata.set_owner_references(owners);
    Ok(())
}

fn check(
    namespace: &str,
    reference: &OwnerReference,
    object: &impl Object,
) -> Result<(), OwnerError> {
    let (kind, owner) = (reference.kind.clone(), reference.name.clone());
    if reference.uid.is_empty() {
        return Err(OwnerError::NoUid { kind, owner });
    }
    let found = object.namespace();
    if namespace.is_empty() || found == namespace {
        return Ok(());
    }
    let (object, namespace) = (object.name().into(), namespace.into());
    Err(if found.is_empty() {
        OwnerError::ClusterScoped {
            object,
            kind,
            owner,
            namespace,
        }
    } else {
        OwnerError::OtherNamespace {
            object,
            found: found.into(),
            kind,
            owner,
            namespace,
        }
    })
}

/// Reports whether two references name the same object, as upstream: by group, kind and name.
fn is_same(left: &OwnerReference, right: &OwnerReference) -> bool {
    let group = |it: &OwnerReference| {
        let version: Result<GroupVersion, _> = it.api_version.parse();
        version.map(|it| it.group).unwrap_or_default()
    };
    left.kind == right.kind && left.name == right.name && group(left) == group(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::Deployment;
    use kubist_api::core::v1::{ConfigMap, Namespace};

    fn owner(name: &str) -> Deployment {
        let mut owner = Deployment::default();
        owner.metadata.name = name.into();
        owner.metadata.namespace = "shop".into();
        owner.metadata.uid = format!("uid-{name}").into();
        owner
    }

    fn map(namespace: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = "settings".into();
        map.metadata.namespace = namespace.into();
        map
    }

    #[test]
    fn the_reference_is_set_once_and_follows_a_recreated_owner() {
        let mut object = map("shop");
        set_controller_reference(&owner("web"), &mut object).expect("it may own");
        let mut recreated = owner("web");
        recreated.metadata.uid = "uid-2".into();
        set_controller_reference(&recreated, &mut object).expect("it is the same owner");
        assert_eq!(
            object.metadata.owner_references,
            [controller_reference(&recreated)]
        );
        assert_eq!(&*object.metadata.owner_references[0].api_version, "apps/v1");
    }

    #[test]
    fn there_is_one_controller_and_any_number_of_owners() {
        let mut object = map("shop");
        set_controller_reference(&owner("web"), &mut object).expect("it may own");
        let error = set_controller_reference(&owner("db"), &mut object).expect_err("it is taken");
        let text = "settings is already controlled by Deployment \"web\"; only one controller is \
                    possible";
        assert_eq!(error.to_string(), text);
        set_owner_reference(&owner("db"), &mut object).expect("it may own");
        assert_eq!(object.metadata.owner_references.len(), 2);
        assert!(remove_owner_reference(&owner("web"), &mut object));
        assert!(!remove_owner_reference(&owner("web"), &mut object));
        set_controller_reference(&owner("db"), &mut object).expect("it is free");
        assert_eq!(
            object.metadata.owner_references,
            [controller_reference(&owner("db"))]
        );
    }

    #[test]
    fn references_do_not_leave_the_namespace_of_the_owner() {
        let error = set_owner_reference(&owner("web"), &mut map("other")).expect_err("elsewhere");
        assert!(
            matches!(error, OwnerError::OtherNamespace { .. }),
            "{error}"
        );
        let mut namespace = Namespace::default();
        let error = set_owner_reference(&owner("web"), &mut namespace).expect_err("wider");
        assert!(matches!(error, OwnerError::ClusterScoped { .. }), "{error}");
        namespace.metadata.uid = "n".into();
        set_owner_reference(&namespace, &mut map("shop")).expect("a cluster-scoped owner may");
    }

    #[test]
    fn an_owner_that_was_never_created_owns_nothing() {
        let mut unborn = owner("web");
        unborn.metadata.uid = "".into();
        let error = set_controller_reference(&unborn, &mut map("shop")).expect_err("no uid");
        assert!(matches!(error, OwnerError::NoUid { .. }), "{error}");
    }
}
