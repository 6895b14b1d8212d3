//! `Target`: the resource, and possibly the object, that a request is about.

use kubist_apimachinery::{AnyObject, Status};
use kubist_codec::Format;
use kubist_registry::RestStorage;
use std::sync::Arc;

/// An existing resource, and possibly one object of it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) rest: Arc<dyn RestStorage>,
    /// Empty for cluster-scoped resources, and for all namespaces.
    pub(crate) namespace: String,
    /// Empty for collections.
    pub(crate) name: String,
}

impl Target {
    /// Returns the formats that bodies may have.
    pub(crate) fn formats(&self) -> &'static [Format] {
        if self.rest.body_kind().is_custom() {
            Format::TEXT
        } else {
            Format::ALL
        }
    }

    /// Sets the namespace of an object to that of the path.
    ///
    /// # Errors
    /// 400 if the object has another one.
    pub(crate) fn set_namespace(&self, object: &mut dyn AnyObject) -> Result<(), Status> {
        set_namespace(object, &self.namespace)
    }

    /// Checks that an object has the name in the path.
    ///
    /// # Errors
    /// 400 if it has another one, or none.
    pub(crate) fn check_name(&self, object: &dyn AnyObject) -> Result<(), Status> {
        let (own, name) = (&object.meta().name, &self.name);
        if own.is_empty() {
            return Err(Status::bad_request(format!(
                "the name of the object ({name} based on URL) was undeterminable: name must be \
                 provided"
            )));
        }
        if own != name.as_str() {
            return Err(Status::bad_request(format!(
                "the name of the object ({own}) does not match the name on the URL ({name})"
            )));
        }
        Ok(())
    }
}

/// Sets the namespace of an object to that of the request.
///
/// # Errors
/// 400 if the object has another one.
pub(crate) fn set_namespace(object: &mut dyn AnyObject, namespace: &str) -> Result<(), Status> {
    let own = &mut object.meta_mut().namespace;
    if !own.is_empty() && !namespace.is_empty() && *own != *namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if *own != *namespace {
        *own = namespace.into();
    }
    Ok(())
}
