//! What a [`Transport`](crate::Transport) is built from.
//!
//! Plain data with public fields; every default is documented at its field. Numbers that upstream
//! has are client-go's (dial, keep-alive, ping, idle connections). Nothing here reads files or the
//! environment: `kubist-kubeconfig` fills it.

use crate::auth::Auth;
use crate::proxy::Proxy;
use crate::tls::TlsConfig;
use http::Uri;
use std::time::Duration;

/// How to reach one API server, and as whom.
#[derive(Debug, Clone)]
pub struct Config {
    /// Scheme, host, port and an optional path that is put before every request's path.
    pub server: Uri,
    /// Who the server must be, and the client certificate. Unused for `http` servers.
    pub tls: TlsConfig,
    /// Credentials in the `Authorization` header. Default: none.
    pub auth: Auth,
    /// Act as somebody else. Default: nobody.
    pub impersonate: Option<Impersonate>,
    /// Default: no proxy. Environment variables are not looked at.
    pub proxy: Option<Proxy>,
    /// Default: [`HttpVersion::Auto`].
    pub http_version: HttpVersion,
    /// `User-Agent` of requests that carry none. Default: `kubist/VERSION (OS/ARCH)`.
    pub user_agent: String,
    /// Ask for gzip and decode it, watches included. Default: true.
    pub accept_gzip: bool,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Windows, pings and streams of HTTP/2 connections.
    pub http2: Http2Config,
    /// Bounds of the connection pool.
    pub pool: PoolConfig,
    /// Pace of all requests of this transport. Default: none.
    pub rate_limit: Option<RateLimit>,
}

impl Config {
    /// Defaults for `server`, anonymous, verified against the system's certificate authorities.
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

/// Which HTTP to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HttpVersion {
    /// TLS: what the server picks by ALPN, HTTP/2 preferred. Without TLS: HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1Only,
    /// HTTP/2 only; without TLS by prior knowledge.
    Http2Only,
}

/// Time limits of a transport.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Until a connection to the server (through the proxy, if any) stands, and for HTTP/1.1 the
    /// wait for a free one. Default: 30 s.
    pub connect: Duration,
    /// TLS handshake and HTTP/2 settings. Default: 10 s.
    pub handshake: Duration,
    /// From sending until the head of the response; never applies to the body, so watches are
    /// safe. Default: none.
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
/// The connection's receive window is not among them: it is always `stream_window` times
/// `streams_max`, so that streams which nobody reads cannot take the others' share.
#[derive(Debug, Clone, Copy)]
pub struct Http2Config {
    /// Streams that the pool puts on one connection, if the server does not allow fewer; of a
    /// server's limit nine tenths are used. Default: 90 (API servers allow 100 to 250).
    pub streams_max: u32,
    /// Receive window of a stream in bytes, also the most that an unread body holds in memory.
    /// Default: 4 MiB, as Go's client.
    pub stream_window: u32,
    /// Pause between pings on a connection, used or not; `None` for no pings. Default: 30 s.
    pub ping_interval: Option<Duration>,
    /// A ping unanswered for this long kills the connection. Default: 15 s.
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
    /// Open connections at most; a request that needs one more waits. Default: 512.
    pub connections_max: usize,
    /// Idle HTTP/1.1 connections kept. Default: 25.
    pub idle_max: usize,
    /// An unused connection is closed after this time (the last HTTP/2 one is kept). Looked at
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
    /// Requests a second in the long run; must be above 0.
    pub per_second: f64,
    /// Requests that may go at once after a quiet time; 0 counts as 1.
    pub burst: u32,
}

/// Whom to act as (`Impersonate-*` headers). The credentials need the right to do so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Impersonate {
    /// User name.
    pub user: String,
    /// User id; empty for none.
    pub uid: String,
    /// Groups.
    pub groups: Vec<String>,
    /// Extra attributes: key and values; keys are percent-encoded into header names.
    pub extra: Vec<(String, Vec<String>)>,
}
