//! Typed reads of other objects.

use kubist_apimachinery::{AnyObject, KubeObject};
use std::any::Any;

/// Returns an object as a `K`, if it is one.
pub(crate) fn typed<K: KubeObject>(object: &dyn AnyObject) -> Option<&K> {
    (object as &dyn Any).downcast_ref()
}
