//! An in-process Kubernetes API server: HTTP over a [`Registry`](kubist_registry::Registry).
//!
//! TLS with a certificate authority of its own or one that is handed to it, HTTP/2 and HTTP/1.1,
//! authentication by client certificate or bearer token, the verbs of the API with content
//! negotiation, watches, discovery and OpenAPI. It starts in milliseconds and listens on the
//! loopback address unless told otherwise.
//!
//! It is not a store (`kubist-registry` is), runs no controllers, and authorizes next to nothing:
//! whoever is authenticated may do everything but read metrics and backups. There is no
//! server-side apply, no aggregation, no admission webhook yet; the schemas of custom resources
//! are kept and not enforced.
//!
//! ```
//! use kubist_apiserver::{ApiServer, Config};
//! use kubist_registry::{Registry, RegistryConfig};
//! use kubist_storage::memory::MemoryKv;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new(RegistryConfig::new(Arc::new(MemoryKv::default()), kubist_kinds::BuiltIn::shared()));
//! registry.start().await?;
//! let server = ApiServer::bind(Config::default(), registry).await?;
//! assert!(server.url().starts_with("https://127.0.0.1:"));
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//! - Nothing is listened on but [`Config::listen`].
//! - Every answer to a failed request is a Status, in the encoding that the client accepts.
//! - Bodies over [`Config::body_bytes_max`] are refused. Answers are made as they are read, so a
//!   slow client costs one chunk, and one that stops reading loses its connection.
//! - [`RunningServer::shutdown`] ends watches, waits for other requests, and leaves no task.
//! - Each request is one line of the log, under the target `kubist_apiserver::request`, and counted
//!   under `/metrics`; nothing secret is in either, and the labels of metrics are bounded.

#![expect(
    clippy::result_large_err,
    reason = "the error of the server side is the Status that the client gets"
)]

mod admission;
mod answer;
mod arriving;
mod authn;
mod authorization;
mod authorizer;
mod backup;
mod body;
mod caller;
mod certificates;
mod config;
mod decode;
mod discovery;
mod ending;
mod given;
mod go_decode;
mod gzip;
mod handler;
mod hash;
mod health;
mod heavy;
mod host;
mod impersonation;
mod in_flight;
mod metrics;
mod openapi;
mod openid;
mod pretty;
mod query;
mod random;
mod represent;
mod request;
mod request_record;
mod route;
mod seldom;
mod server;
mod service;
mod service_accounts;
mod table;
mod token_issuer;
mod token_keys;
mod undelivered;
mod version;
mod warning;

pub use authn::{
    ANONYMOUS_USER, AUTHENTICATED_GROUP, MASTERS_GROUP, StaticToken, UNAUTHENTICATED_GROUP,
};
pub use authorizer::{AlwaysAllow, Attributes, Authorizer, Decision};
pub use certificates::{
    CertificateAuthority, CertificateError, Identity, PemError, SERVING_NAMES, read_certificates,
};
pub use config::{
    BODY_BYTES_MAX, CONNECTIONS_MAX, Config, GOAWAY_CHANCE_MAX, KEEP_ALIVE_PROBES,
    MUTATING_REQUESTS_MAX, REQUESTS_MAX, STREAMS_MAX,
};
pub use server::{ApiServer, InProcess, Load, RunningServer, ServerEnded, StartError};
pub use token_keys::{TokenKeyError, TokenKeys};
pub use version::API_MINOR;
