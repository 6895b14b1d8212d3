//! `Authorizer`: decides what a user may do.
//!
//! It is called where upstream does additional authorization within a request, so far for the
//! deletion of an object that cannot be decoded. Requests themselves are not authorized: every
//! authenticated user may make them.

use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::{BoxFuture, User};
use std::fmt;

/// The action to authorize.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attributes<'a> {
    /// The user.
    pub user: &'a User,
    /// The verb, such as `delete`, or `unsafe-delete-ignore-read-errors`.
    pub verb: &'a str,
    /// The API group; empty for core.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// The decision of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is either")]
pub enum Decision {
    /// The action is allowed.
    Allow,
    /// The action is denied, with a reason for the client.
    Deny(String),
}

/// Decides what a user may do, where the server asks: so far only before the deletion of an object
/// that cannot be decoded. It does not authorize requests.
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Returns whether an action is allowed.
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision>;
}

/// Allows everything.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(std::future::ready(Decision::Allow))
    }
}

/// The verb of a deletion of an object that cannot be decoded, as upstream.
pub(crate) const UNSAFE_DELETE: &str = "unsafe-delete-ignore-read-errors";

/// Authorizes an action.
///
/// # Errors
/// 403 in upstream's words if it is denied.
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
