//! `RequestObserver`: is told of every request, like upstream's audit log.
//!
//! It sees who asked for what, the outcome, and the writes. It sees no bodies and no headers but
//! the user agent.

use kubist_registry::{ObjectWrite, User};
use std::fmt;

/// What a request was, and what came of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedRequest<'a> {
    /// When it arrived, since the Unix epoch.
    pub received: std::time::Duration,
    /// Who sent it; empty if it was refused before that was known.
    pub user: &'a User,
    /// The program that sent it, as it says.
    pub user_agent: &'a str,
    /// Upper case, as in metrics: `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`,
    /// `DELETE`, `DELETECOLLECTION`, `CONNECT`, or the method of a request about no resource.
    pub verb: &'static str,
    /// The path, without the query.
    pub path: &'a str,
    /// The group of the resource; empty for the core group and without a resource.
    pub group: &'static str,
    /// The version of the resource; empty without one.
    pub version: &'static str,
    /// The plural name of the resource; empty for what is not served.
    pub resource: &'static str,
    /// The subresource; empty for the object itself.
    pub subresource: &'static str,
    /// The status code. `None` if the client left before there was an answer, whatever had been
    /// written by then.
    pub code: Option<u16>,
    /// The committed writes, in their order.
    pub writes: &'a [ObjectWrite],
}

/// Is told of requests.
pub trait RequestObserver: fmt::Debug + Send + Sync + 'static {
    /// Called once for each request: before the first byte of its response is sent, for a watch
    /// before its first event. It runs on the request's path, so it must be quick.
    fn observe(&self, request: ObservedRequest<'_>);
}
