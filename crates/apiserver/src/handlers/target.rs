//! `Target`: the resource, and possibly the object, that a request is about.

use kubist_apimachinery::{AnyObject, Status};
use kubist_codec::Format;
use kubist_registry::RestStorage;
use std::sync::Arc;

/// What a request is about: a resource that exists, and maybe one object.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) rest: Arc<dyn RestStorage>,
    /// Empty for cluster-scoped resources, and for all namespaces.
    pub(crate) namespace: String,
    /// Empty for collections.
    pub(crate) name: String,
}

impl Target {
    /// The formats that bodies may have.
    pub(crate) fn formats(&self) -> &'static [Format] {
        if self.rest.body_kind().is_custom() {
            Format::TEXT
        } else {
            Format::ALL
        }
    }

    /// Gives an object the namespace of the path, or refuses another.
    pub(crate) fn place(&self, object: &mut dyn AnyObject) -> Result<(), Status> {
        let own = &mut object.meta_mut().namespace;
        if *own == *self.namespace {
            return Ok(());
        }
        if own.is_empty() || self.namespace.is_empty() {
            *own = self.namespace.as_str().into();
            return Ok(());
        }
        Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ))
    }

    /// Refuses an object of another name than the path's.
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
