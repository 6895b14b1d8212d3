//! `Config`: the configuration of a [`Transport`](crate::Transport).
//!
//! Plain data with public fields; every default is documented at its field. Dial, keep-alive, ping
//! and idle limits have client-go's values. Nothing here reads files or the environment;
//! `kubist-kubeconfig` does.

use crate::auth::Auth;
use crate::proxy::Proxy;
use crate::tls::TlsConfig;
use http::Uri;
use std::time::Duration;

/// How to reach one API server, and with which identity.
#[derive(Debug, Clone)]
pub struct Config {
    /// The scheme, host, port and an optional path prefix for all requests.
    pub server: Uri,
    /// Server verification and the client certificate. Unused for `http` servers.
    pub tls: TlsConfig,
    /// The credentials in the `Authorization` header. Default: none.
    pub auth: Auth,
    /// The user to impersonate. Default: none.
    pub impersonate: Option<Impersonate>,
    /// The proxy. Default: none; environment variables are not read.
    pub proxy: Option<Proxy>,
    /// The HTTP version. Default: [`HttpVersion::Auto`].
    pub http_version: HttpVersion,
    /// The `User-Agent` of requests without one. Default: `kubist/VERSION (OS/ARCH)`.
    pub user_agent: String,
    /// Whether to request gzip and decode it, for watches too. Default: true.
    pub accept_gzip: bool,
    /// Time limits.
    pub timeouts: Timeouts,
    /// The windows, pings and stream limits of HTTP/2 connections.
    pub http2: Http2Config,
    /// Bounds of the connection pool.
    pub pool: PoolConfig,
    /// The request rate limit of this transport. Default: none.
    pub rate_limit: Option<RateLimit>,
}

impl Config {
    /// Returns the defaults for `server`: anonymous, verified against the system's certificate
    /// authorities.
    pub fn new(server: Uri) -> Self {
        Self {
            server,
            tls: TlsConfig::default(),
            auth: Auth::None,
            impersonate: None,
            proxy: None,
            http_version: HttpVersion::Auto,
            user_agent: default_user_agent(),
            accept_gzip: true,
            timeouts: Timeouts::default(),
            http2: Http2Config::default(),
            pool: PoolConfig::default(),
            rate_limit: None,
        }
    }
}

fn default_user_agent() -> String {
    format!(
        "kubist/{} ({}/{})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

/// The HTTP version to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HttpVersion {
    /// With TLS, the version that the server selects by ALPN, preferably HTTP/2; without TLS,
    /// HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1Only,
    /// HTTP/2 only; without TLS, with prior knowledge.
    Http2Only,
}

/// Time limits of a transport.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For opening a connection to the server, including the proxy, and for HTTP/1.1 for waiting
    /// for a free one. Default: 30 s.
    pub connect: Duration,
    /// For the TLS handshake and the HTTP/2 settings. Default: 10 s.
    pub handshake: Duration,
    /// From sending a request to the response head. It never covers the body, so watches are safe.
    /// Default: none.
    pub response: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            response: None,
        }
    }
}

/// HTTP/2 settings.
///
/// The receive window of a connection is always `stream_window` times `streams_max`, so that unread
/// streams cannot block others.
#[derive(Debug, Clone, Copy)]
pub struct Http2Config {
    /// The most streams on one connection, if the server does not allow fewer; of the server's
    /// limit, nine tenths are used. Default: 90 (API servers allow 100 to 250).
    pub streams_max: u32,
    /// The receive window of a stream in bytes, which also bounds the memory of an unread body.
    /// Default: 4 MiB, as in Go's client.
    pub stream_window: u32,
    /// The interval of pings on a connection, used or not; `None` for no pings. Default: 30 s.
    pub ping_interval: Option<Duration>,
    /// The time after which an unanswered ping closes the connection. Default: 15 s.
    pub ping_timeout: Duration,
}

impl Default for Http2Config {
    fn default() -> Self {
        Self {
            streams_max: 90,
            stream_window: 4 << 20,
            ping_interval: Some(Duration::from_secs(30)),
            ping_timeout: Duration::from_secs(15),
        }
    }
}

/// Bounds of the connection pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolConfig {
    /// The most open connections; further requests wait. Default: 512.
    pub connections_max: usize,
    /// The most idle HTTP/1.1 connections. Default: 25.
    pub idle_max: usize,
    /// The time after which an unused connection is closed, except the last HTTP/2 one. Checked
    /// when the pool is next used. Default: 90 s.
    pub idle_timeout: Duration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            connections_max: 512,
            idle_max: 25,
            idle_timeout: Duration::from_secs(90),
        }
    }
}

/// A token bucket over all requests of a transport.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// The sustained rate in requests a second; must be above 0.
    pub per_second: f64,
    /// The burst after an idle time; 0 counts as 1.
    pub burst: u32,
}

/// The user to impersonate (`Impersonate-*` headers). The credentials need permission to do so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Impersonate {
    /// The user name.
    pub user: String,
    /// The user id; empty for none.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// Extra attributes; keys are percent-encoded into header names.
    pub extra: Vec<(String, Vec<String>)>,
}
