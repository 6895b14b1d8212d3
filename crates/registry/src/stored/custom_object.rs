//! Custom objects among the objects of the API.

use kubist_apimachinery::{AnyObject, CustomObject};
use std::any::Any;

/// The object as a custom one.
pub(crate) fn custom(object: &dyn AnyObject) -> Option<&CustomObject> {
    (object as &dyn Any).downcast_ref()
}

/// The object as a custom one, to change it.
pub(crate) fn custom_mut(object: &mut dyn AnyObject) -> Option<&mut CustomObject> {
    (object as &mut dyn Any).downcast_mut()
}
