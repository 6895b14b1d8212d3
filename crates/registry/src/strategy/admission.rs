//! `Admission`: what is being admitted, and where to look up other objects.

use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::sync::Arc;

/// What is being admitted, and where to look things up.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// The request.
    pub request: &'a RequestContext,
    /// The subresource written; empty for the object itself.
    pub subresource: &'a str,
    /// Whether nothing will be written.
    pub dry_run: bool,
    /// Other objects.
    pub objects: &'a dyn Lookup,
}

impl<'a> Admission<'a> {
    /// An admission of the object itself, of a write that is meant.
    pub fn new(request: &'a RequestContext, objects: &'a dyn Lookup) -> Self {
        Self {
            request,
            subresource: "",
            dry_run: false,
            objects,
        }
    }
}

/// Reads other objects, as they are stored now.
pub trait Lookup: fmt::Debug + Send + Sync {
    /// One object of `group` and `plural`; `namespace` is empty for cluster-scoped ones. None if
    /// it does not exist.
    fn get<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>>;

    /// All objects of `group` and `plural`, in one namespace or (if empty) in all.
    fn list<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>>;
}
