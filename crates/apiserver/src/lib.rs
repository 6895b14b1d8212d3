//! An in-process Kubernetes API server: HTTP over a [`Registry`](kubist_registry::Registry).
//!
//! It serves TLS with its own or a given certificate authority, HTTP/2 and HTTP/1.1, the API verbs
//! with content negotiation, watches, discovery and OpenAPI. Client certificates, tokens of several
//! kinds, proxies and any added [`RequestAuthenticator`] say who its users are;
//! [`Config::authorization`] decides what they may do. It starts in milliseconds and listens on the
//! loopback address unless configured otherwise.
//!
//! It is not a store (that is `kubist-registry`), and runs no controllers. Without authorizers,
//! authenticated users may do everything, and anonymous ones read health and the version. There is
//! no aggregation yet.
//!
//! ```
//! use kubist_apiserver::{ApiServer, Config};
//! use kubist_kinds::BuiltIn;
//! use kubist_registry::{Registry, RegistryConfig};
//! use kubist_storage::memory::MemoryKv;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kv = Arc::new(MemoryKv::default());
//! let registry = Registry::new(RegistryConfig::new(kv, BuiltIn::shared()));
//! registry.start().await?;
//! let server = ApiServer::bind(Config::default(), registry).await?;
//! assert!(server.url().starts_with("https://127.0.0.1:"));
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//! - The server only listens on [`Config::listen`].
//! - The response to a failed request is a Status, in an encoding that the client accepts.
//! - Bodies over [`Config::body_bytes_max`] are refused. Large responses are encoded while they are
//!   read, so a slow client costs one chunk, and one that stops reading loses its connection.
//! - [`RunningServer::shutdown`] ends watches, waits for other requests, and leaves no task behind.
//! - Each request is logged in one line, with the target `kubist_apiserver::request`, and counted
//!   in `/metrics`. Neither contains secrets, and metric labels have bounded values.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(
    clippy::result_large_err,
    reason = "the error of the server side is the Status that the client gets"
)]

mod admission;
mod aggregation;
mod aggregation_config;
pub mod audit;
mod authentication;
mod authorization;
mod certificates;
mod config;
mod discovery;
mod expiring_cache;
mod filters;
mod flow_follower;
mod following;
mod futures;
mod handlers;
mod metrics;
mod negotiation;
mod openapi;
mod proxy;
mod random;
mod remote;
mod request;
mod response;
mod routes;
mod server;
mod shutdown;
mod version;
mod webhook;

pub use admission::DynamicAdmission;
pub use aggregation_config::AggregationConfig;
pub use authentication::anonymous::Anonymous;
pub use authentication::authenticator::{
    ANONYMOUS_USER, AUTHENTICATED_GROUP, MASTERS_GROUP, StaticToken, UNAUTHENTICATED_GROUP,
};
pub use authentication::authenticators::{
    Authenticators, RequestHeader, ReviewVersion, ServiceAccounts, TokenWebhookConfig,
};
pub use authentication::jwt_issuers::{JwtIssuers, ReplaceIssuersError};
pub use authentication::request_authenticator::{
    Authenticated, Authentication, Credentials, RequestAuthenticator,
};
pub use authentication::token_keys::{TokenKeyError, TokenKeys};
pub use authorization::authorizer::{Authorization, AuthorizationMode, ReplaceModesError};
pub use authorization::webhook_authorizer::{
    AuthorizationWebhook, WebhookAuthorizer, WebhookAuthorizerError,
};
pub use certificates::{
    CertificateAuthority, CertificateError, Identity, PemError, SERVING_NAMES, read_certificates,
};
pub use config::{
    BODY_BYTES_MAX, CONNECTIONS_MAX, Config, GOAWAY_CHANCE_MAX, KEEP_ALIVE_PROBES,
    MUTATING_REQUESTS_MAX, REQUESTS_MAX, STREAMS_MAX,
};
pub use filters::request_observer::{ObservedRequest, RequestObserver};
pub use proxy::{BACKEND_CONNECTIONS_MAX, BackendDialer, BackendStream, Backends, TcpDialer};
/// A certificate in DER, of the crate `rustls-pki-types`.
pub use rustls_pki_types::CertificateDer;
pub use server::{ApiServer, InProcess, Load, RunningServer, ServerEnded, StartError};
pub use version::API_MINOR;
pub use webhook::remote_service::RemoteService;
pub use webhook::{CALLS_MAX, ClusterResolver, ServiceAddress, ServiceResolver, Webhooks};
