//! The life of namespaces: one ends only when what is in it is gone.

use kubist_api::core::v1::Namespace;
use kubist_apimachinery::AnyObject;
use std::any::Any;

/// Namespaces that cannot be deleted, as upstream.
pub(super) const PROTECTED: [&str; 3] = ["default", "kube-system", "kube-public"];
/// `status.phase` of a namespace that is ending.
const TERMINATING: &str = "Terminating";

pub(super) fn namespace_mut(object: &mut dyn AnyObject) -> Option<&mut Namespace> {
    (object as &mut dyn Any).downcast_mut()
}

/// Whether somebody still has to clear the namespace.
pub(super) fn has_finalizers(object: &dyn AnyObject) -> bool {
    let namespace: Option<&Namespace> = (object as &dyn Any).downcast_ref();
    namespace.is_some_and(|it| !it.spec.finalizers.is_empty())
}

/// Marks a namespace as ending.
pub(super) fn terminate(object: &mut dyn AnyObject) {
    if let Some(namespace) = namespace_mut(object) {
        namespace.status.phase = TERMINATING.into();
    }
}
