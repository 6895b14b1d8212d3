//! `Action`: a subresource whose creation acts on the object.

use crate::store::resource_store::ResourceStore;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;

/// A subresource that is created and not stored (upstream: `pods/binding`, `pods/eviction`).
pub trait Action: fmt::Debug + Send + Sync {
    /// The kind of the request's body.
    fn kind(&self) -> Option<&'static Kind>;

    /// Performs the action.
    ///
    /// # Errors
    /// The error that the client receives.
    fn act<'a>(&'a self, call: ActionCall<'a>) -> BoxFuture<'a, Result<Created, Status>>;
}

/// The request of an [`Action`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ActionCall<'a> {
    /// The objects of the resource.
    pub store: &'a ResourceStore,
    /// The requesting user and the time of the request.
    pub cx: &'a RequestContext,
    /// The name of the subresource.
    pub subresource: &'static str,
    /// The namespace of the object.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
    /// The body.
    pub body: &'a dyn AnyObject,
    /// Whether this is a dry run, which writes nothing.
    pub dry_run: bool,
}

/// The result of a create.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the HTTP layer handles each")]
pub enum Created {
    /// The object, as stored.
    Object(Stored),
    /// A success without an object (bindings, evictions).
    Status(Box<Status>),
}
