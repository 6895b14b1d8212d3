//! `Admission`: the request under admission, and access to other objects.

use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::sync::Arc;

/// The request under admission, and access to other objects.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// The request.
    pub request: &'a RequestContext,
    /// The subresource written; empty for the object itself.
    pub subresource: &'a str,
    /// Whether this is a dry run, which writes nothing.
    pub dry_run: bool,
    /// Other objects.
    pub objects: &'a dyn Lookup,
}

impl<'a> Admission<'a> {
    /// Creates the admission of a write of the object itself, which is not a dry run.
    pub fn new(request: &'a RequestContext, objects: &'a dyn Lookup) -> Self {
        Self {
            request,
            subresource: "",
            dry_run: false,
            objects,
        }
    }
}

/// Reads stored objects.
pub trait Lookup: fmt::Debug + Send + Sync {
    /// Returns one object of `group` and `plural`, or `None` if it does not exist; `namespace` is
    /// empty for cluster-scoped ones.
    fn get<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>>;

    /// Returns the objects of `group` and `plural`, in one namespace or (if empty) in all.
    fn list<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>>;
}
