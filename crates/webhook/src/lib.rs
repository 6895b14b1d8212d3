//! Webhooks: what an API server asks about objects, answered with typed objects.
//!
//! [`Webhooks`] holds handlers by path: [validating](Webhooks::validate) and
//! [mutating](Webhooks::mutate) admission, and [conversion](Webhooks::convert) between the versions
//! of a custom resource. A handler gets the decoded object and says yes, no, or returns a changed
//! object, of which the patch is made; unknown fields survive. [`Webhooks::handle`] answers a
//! request without a socket, for tests. With the feature `server`, [`WebhookServer`] serves them
//! over HTTPS, and [`CertificateManager`] makes and rotates its certificate and puts the bundle
//! into the configurations.
//!
//! ```
//! use kubist_api::core::v1::Pod;
//! use kubist_webhook::{AdmissionRequest, Admitted, Denied, Mutated, Webhooks};
//!
//! let webhooks = Webhooks::new()
//!     .validate("/validate-pods", |request: AdmissionRequest<Pod>| async move {
//!         let pod = request.object()?;
//!         if pod.spec.host_network {
//!             return Err(Denied::new("spec.hostNetwork is not allowed here"));
//!         }
//!         Ok(Admitted::new())
//!     })
//!     .mutate("/mutate-pods", |request: AdmissionRequest<Pod>| async move {
//!         let mut pod = request.into_object()?;
//!         pod.metadata.labels.insert("seen".into(), "true".into());
//!         Ok(Mutated::new(pod))
//!     });
//! # drop(webhooks);
//! ```
//!
//! Contracts:
//! - A review that cannot be read, an object that does not fit its type, a handler that panics or
//!   takes too long: each is an answer that refuses the request and says why. Whether the API
//!   server lets the request pass if there is no answer is up to its `failurePolicy`.
//! - Bodies, reviews in work, connections and times have limits; see [`Webhooks`] and
//!   `WebhookServer`.
//! - A mutation is a patch of what changed, and none if nothing did.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod admission;
#[cfg(feature = "server")]
mod certificates;
mod conversion;
#[cfg(feature = "server")]
mod server;
mod webhooks;

pub use admission::{AdmissionRequest, Admitted, Denied, Mutated, Operation};
#[cfg(feature = "server")]
pub use certificates::{
    CertificateConfig, CertificateError, CertificateManager, InjectInto, ServingCertificate,
};
#[cfg(feature = "server")]
pub use server::{ServeError, ServerConfig, WebhookServer};
pub use webhooks::{BODY_BYTES_MAX, Limits, Webhooks};
