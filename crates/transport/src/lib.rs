//! Connections to an API server: TLS, HTTP/2 and HTTP/1.1, authentication, proxies.
//!
//! [`Transport`] is a cheap-to-clone handle for a connection pool to *one* server. It takes an
//! [`http::Request`] and returns an [`http::Response`] whose body arrives as the server sends it. A
//! watch is simply a response that does not end.
//!
//! It is **not** a Kubernetes client: it knows no objects, verbs or status codes except 401, and
//! does not retry failed requests that the server answered. It reads no environment variables and
//! installs no global defaults. `kubist-client` builds on it; `kubist-kubeconfig` makes its
//! [`Config`].
//!
//! ```
//! use kubist_transport::{Auth, Body, Config, Transport};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = Config::new("https://127.0.0.1:6443".parse()?);
//! config.auth = Auth::Bearer("a token".into());
//! let transport = Transport::new(config)?;
//!
//! let request = http::Request::get("/version").body(Body::empty())?;
//! let mut response = transport.send(request).await?;
//! while let Some(chunk) = response.body_mut().chunk().await? {
//!     println!("{} bytes", chunk.len());
//! }
//! # Ok(()) }
//! ```
//!
//! # Contracts
//!
//! - Requests and watches share HTTP/2 connections. Another connection is opened before the
//!   server's stream limit is reached, so no request waits behind long-lived ones.
//! - An unread response body uses at most its own window: the connection window has room for the
//!   windows of all streams that the pool allows on it.
//! - A request that was never written is sent again on another connection. A `GET`, `HEAD` or
//!   `OPTIONS` whose connection broke before the first byte of the response is sent again once.
//!   Nothing else is retried, except once after a 401 if newer credentials are available.
//! - Dropping a future or a body cancels that request: the stream is reset (HTTP/2) or the
//!   connection closed (HTTP/1.1). Others are not affected.
//! - All tasks belong to the pool and end when the last [`Transport`] handle and the last response
//!   body are dropped.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod auth;
mod body;
mod config;
mod config_error;
mod connect;
mod error;
mod gunzip;
mod headers;
mod pool;
mod proxy;
mod rate_limiter;
mod request_stats;
mod responder;
mod response_body;
mod retry;
mod secret;
mod server;
mod service;
mod stats;
mod tls;
mod transport;
mod upgrade;

pub use auth::{Auth, AuthError, ExecApiVersion, ExecPlugin, InteractiveMode};
pub use body::Body;
pub use config::{Config, Http2Config, HttpVersion, Impersonate, PoolConfig, RateLimit, Timeouts};
pub use config_error::ConfigError;
pub use connect::{Connect, Connecting, Endpoint, Io, ProxyError, TcpConnector};
pub use error::{Cause, Phase, TransportError};
pub use proxy::{ParseProxyError, Proxy};
pub use request_stats::{REQUEST_TIME_BOUNDS, RequestStats};
pub use response_body::ResponseBody;
pub use retry::Retry;
pub use secret::Secret;
pub use service::TransportService;
pub use stats::Stats;
pub use tls::{Identity, Pem, TlsConfig, TlsError, Verify};
pub use transport::Transport;
pub use upgrade::{Upgrade, UpgradedIo};
