//! The namespace life cycle: a namespace is removed only after its contents.

use super::deletion::{FOREGROUND, ORPHAN, with_dependents};
use kubist_api::core::v1::Namespace;
use kubist_apimachinery::{
    AnyObject, DeleteOptions, GroupResource, ObjectMeta, Preconditions, PropagationPolicy, Status,
    Time,
};
use std::any::Any;

/// Namespaces that cannot be deleted, as upstream.
pub(super) const PROTECTED: [&str; 3] = ["default", "kube-system", "kube-public"];
/// `status.phase` of a terminating namespace.
const TERMINATING: &str = "Terminating";

pub(super) fn namespace_mut(object: &mut dyn AnyObject) -> Option<&mut Namespace> {
    (object as &mut dyn Any).downcast_mut()
}

/// Reports whether the namespace still has finalizers.
pub(super) fn has_finalizers(object: &dyn AnyObject) -> bool {
    let namespace: Option<&Namespace> = (object as &dyn Any).downcast_ref();
    namespace.is_some_and(|it| !it.spec.finalizers.is_empty())
}

/// Marks a namespace as terminating: its own finalizers stand for its contents, and it has no grace
/// period. Upstream sets the garbage collector's finalizers here by rules that differ from those of
/// other objects.
pub(super) fn begin_deletion(object: &mut dyn AnyObject, options: &DeleteOptions, now: Time) {
    let meta = object.meta_mut();
    let has = |name: &str| meta.finalizers.iter().any(|it| *it == name);
    let is = |policy: PropagationPolicy| {
        let word = options.propagation_policy.as_ref();
        word.is_some_and(|word| *word == policy.as_str())
    };
    let (orphan, foreground) = match options.orphan_dependents {
        Some(orphan) => (orphan, !orphan),
        None if options.propagation_policy.is_some() => (
            is(PropagationPolicy::Orphan),
            is(PropagationPolicy::Foreground),
        ),
        None => (has(ORPHAN), has(FOREGROUND)),
    };
    if let Some(finalizers) = with_dependents(meta, orphan, foreground) {
        meta.finalizers = finalizers;
    }
    meta.deletion_timestamp.get_or_insert(now);
    if let Some(namespace) = namespace_mut(object) {
        namespace.status.phase = TERMINATING.into();
    }
}

/// Checks the preconditions of a delete, with upstream's messages for namespaces.
pub(super) fn check_preconditions(
    meta: &ObjectMeta,
    preconditions: &Preconditions,
) -> Result<(), Status> {
    let conflict = |what: &str, wanted: &str, found: &str| {
        let why = format!(
            "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
        );
        let resource = GroupResource::new("", "namespaces");
        Err(Status::conflict(&resource, &meta.name, why))
    };
    match (&preconditions.uid, &preconditions.resource_version) {
        (Some(uid), _) if *uid != meta.uid => conflict("UID", uid, &meta.uid),
        (_, Some(version)) if *version != meta.resource_version => {
            conflict("ResourceVersion", version, &meta.resource_version)
        }
        _ => Ok(()),
    }
}
