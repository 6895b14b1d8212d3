//! `Config`: how a server listens and whom it lets in.

use crate::authentication::authenticator::StaticToken;
use crate::authentication::certificates::{CertificateAuthority, Identity};
use crate::authentication::token_keys::TokenKeys;
use crate::authorization::authorizer::{AlwaysAllow, Authorizer};
use rustls_pki_types::CertificateDer;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a request's body, as upstream: 3 MiB. Longer ones are answered by 413.
pub const BODY_BYTES_MAX: usize = 3 << 20;
/// Requests that read and are answered at a time, as upstream.
pub const REQUESTS_MAX: usize = 400;
/// Requests that change something and are answered at a time, as upstream.
pub const MUTATING_REQUESTS_MAX: usize = 200;
/// Streams that one HTTP/2 connection may have at a time, as upstream.
pub const STREAMS_MAX: u32 = 250;
/// Connections that are served at a time by default.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Unanswered questions of the operating system after which a client is gone, as upstream.
pub const KEEP_ALIVE_PROBES: u32 = 9;

/// The largest share of requests after which connections are told to go, as upstream.
pub const GOAWAY_CHANCE_MAX: f64 = 0.02;

/// How a server listens and whom it lets in. Everything has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Config {
    /// Where to listen. Nothing else is ever bound. None: only connections handed over by
    /// [`RunningServer::serve_stream`](crate::RunningServer::serve_stream) are served. Default:
    /// a free port of the IPv4 loopback address.
    pub listen: Option<SocketAddr>,
    /// DNS names and IP addresses in the serving certificate, beyond the usual ones and the
    /// address that is listened on. Default: none.
    pub serving_names: Vec<String>,
    /// Who signs the serving certificate and the administrator's. Default: a new authority, so that
    /// nobody from before is let in.
    pub authority: Option<Arc<CertificateAuthority>>,
    /// The certificate to show to clients, but to the server's own
    /// ([`RunningServer::tls_server_name`](crate::RunningServer::tls_server_name)). Default: one
    /// that the authority signs, for a year if it ends itself, and renewed before that is over.
    pub serving: Option<Identity>,
    /// Authorities beside the own one whose client certificates are believed. Default: none.
    pub client_authorities: Vec<CertificateDer<'static>>,
    /// What signs and verifies the tokens of service accounts. Default: a new key.
    pub token_keys: Option<Arc<TokenKeys>>,
    /// The user of the client certificate that is made at start. Default: `kubernetes-admin`.
    pub admin_user: String,
    /// Bearer tokens. Default: none.
    pub tokens: Vec<StaticToken>,
    /// Whether `/healthz`, `/livez`, `/readyz` and `/version` answer without credentials; nothing
    /// else ever does. Default: yes, as upstream.
    pub anonymous_health: bool,
    /// Who may do what, where that is asked. Default: everybody everything.
    pub authorizer: Arc<dyn Authorizer>,
    /// Requests that read and are answered at a time, beside those that last as long as their
    /// clients like; the system's may be as many again. More get 429. A request counts from when
    /// all of its body is there. 0: no limit. Default:
    /// [`REQUESTS_MAX`].
    pub requests_max: usize,
    /// The same of requests that change something. Default: [`MUTATING_REQUESTS_MAX`].
    pub mutating_requests_max: usize,
    /// Bytes of a request's body. Default: [`BODY_BYTES_MAX`].
    pub body_bytes_max: usize,
    /// Streams per HTTP/2 connection. Default: [`STREAMS_MAX`].
    pub streams_max: u32,
    /// Connections at a time. For one more, the one goes that was idle longest of those on which
    /// nobody has said who they are; if there is none, more wait in the queue of the operating
    /// system until one ends, and who finds that full cannot connect. Each needs a file
    /// descriptor; where those run out, they wait, too. Default: [`CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// How long the TLS handshake, the head of a request, and the pause between two requests of an
    /// HTTP/1.1 connection may take. Default: 90 s, upstream's limit for pauses.
    pub header_timeout: Duration,
    /// How long a connection may be without a request before it ends, or up to twice as long.
    /// Default: 90 s, upstream's limit.
    pub idle_timeout: Duration,
    /// How long a client may take to accept any byte of an answer; then its connection ends. If
    /// the rest of an HTTP/2 connection goes on, only that stream does, after twice as long at
    /// most. Default: 60 s.
    pub write_timeout: Duration,
    /// How often a silent client is asked whether it is there: over HTTP/2 by a ping that has to
    /// be answered within the write timeout, over HTTP/1.1 by the operating system, which gives
    /// up after [`KEEP_ALIVE_PROBES`] in vain. Default: 30 s.
    pub ping_interval: Duration,
    /// How long requests may go on after shutdown began. Default: 5 s.
    pub drain_timeout: Duration,
    /// How long the server, once told to end, serves as before while `/readyz` fails, so that
    /// whoever sends requests its way stops doing so. Default: none, as upstream.
    pub shutdown_delay: Duration,
    /// Within what time watches end at shutdown, each at a moment of its own; comes before the
    /// drain timeout. Default: none, all at once.
    pub watch_drain: Duration,
    /// The share of requests over HTTP/2 after which the connection is told to go (GOAWAY), so
    /// that clients spread over several servers; at most [`GOAWAY_CHANCE_MAX`]. Default: 0, as
    /// upstream.
    pub goaway_chance: f64,
    /// Requests that take longer are told in the log at level warn, except those that last as long
    /// as their clients like. Default: 5 s, upstream's objective for lists in a namespace.
    pub slow_request: Duration,
    /// Watches without `timeoutSeconds` end after this long or up to twice as long, by chance.
    /// Default: 30 min, as upstream.
    pub watch_timeout_min: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            serving_names: Vec::new(),
            authority: None,
            serving: None,
            client_authorities: Vec::new(),
            token_keys: None,
            admin_user: "kubernetes-admin".to_owned(),
            tokens: Vec::new(),
            anonymous_health: true,
            authorizer: Arc::new(AlwaysAllow),
            requests_max: REQUESTS_MAX,
            mutating_requests_max: MUTATING_REQUESTS_MAX,
            body_bytes_max: BODY_BYTES_MAX,
            streams_max: STREAMS_MAX,
            connections_max: CONNECTIONS_MAX,
            header_timeout: Duration::from_secs(90),
            idle_timeout: Duration::from_secs(90),
            write_timeout: Duration::from_secs(60),
            ping_interval: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(5),
            shutdown_delay: Duration::ZERO,
            watch_drain: Duration::ZERO,
            goaway_chance: 0.0,
            slow_request: Duration::from_secs(5),
            watch_timeout_min: Duration::from_mins(30),
        }
    }
}
