//! `Action`: a subresource whose creation does something to the object.

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

    /// Does it.
    ///
    /// # Errors
    /// What the client is answered.
    fn act<'a>(&'a self, call: ActionCall<'a>) -> BoxFuture<'a, Result<Created, Status>>;
}

/// The request of an [`Action`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ActionCall<'a> {
    /// The objects of the resource.
    pub store: &'a ResourceStore,
    /// Who asks, and when.
    pub cx: &'a RequestContext,
    /// The name of the subresource.
    pub subresource: &'static str,
    /// The namespace of the object.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
    /// The body.
    pub body: &'a dyn AnyObject,
    /// Whether nothing may be written.
    pub dry_run: bool,
}

/// What a create answers.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the HTTP layer handles each")]
pub enum Created {
    /// The object, as stored.
    Object(Stored),
    /// A success without an object (bindings, evictions).
    Status(Box<Status>),
}
