//! `Authorizer`: who may do what.
//!
//! It is asked where upstream asks beyond the request itself, which is so far the deletion of an
//! object that cannot be read. Whole requests are not authorized: whoever is authenticated may make
//! them.

use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::{BoxFuture, User};
use std::fmt;

/// What somebody wants to do.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attributes<'a> {
    /// Who.
    pub user: &'a User,
    /// The verb, such as `delete`, or `unsafe-delete-ignore-read-errors`.
    pub verb: &'a str,
    /// The API group; empty for core.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// The namespace; empty for objects without one.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
}

/// Whether it may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is either")]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not, for this reason, which the client is told.
    Deny(String),
}

/// Decides who may do what.
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Whether this may be done.
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision>;
}

/// Everybody who is authenticated may do everything.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(std::future::ready(Decision::Allow))
    }
}

/// The verb of a deletion that ignores that its object cannot be read, as upstream.
pub(crate) const UNSAFE_DELETE: &str = "unsafe-delete-ignore-read-errors";

/// Asks, and makes a refusal of it.
///
/// # Errors
/// 403 in upstream's words.
pub(crate) async fn permit(
    authorizer: &dyn Authorizer,
    attributes: Attributes<'_>,
) -> Result<(), Status> {
    match authorizer.authorize(attributes).await {
        Decision::Allow => Ok(()),
        Decision::Deny(reason) => {
            let resource = GroupResource::new(attributes.group, attributes.resource);
            let verb = attributes.verb;
            let why = format_args!("not permitted to do {verb:?}, reason: {reason}");
            Err(Status::forbidden(&resource, attributes.name, why))
        }
    }
}
