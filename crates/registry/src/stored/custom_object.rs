//! Access to custom objects behind `AnyObject`.

use kubist_apimachinery::{AnyObject, CustomObject};
use std::any::Any;

/// Returns the object as a custom object.
pub(crate) fn custom(object: &dyn AnyObject) -> Option<&CustomObject> {
    (object as &dyn Any).downcast_ref()
}

/// Returns the object as a mutable custom object.
pub(crate) fn custom_mut(object: &mut dyn AnyObject) -> Option<&mut CustomObject> {
    (object as &mut dyn Any).downcast_mut()
}
