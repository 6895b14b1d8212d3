//! `Config`: how a server listens, whom it authenticates, and its limits.

use crate::admission::DynamicAdmission;
use crate::aggregation_config::AggregationConfig;
use crate::audit::Audit;
use crate::authentication::anonymous::Anonymous;
use crate::authentication::authenticator::StaticToken;
use crate::authentication::authenticators::Authenticators;
use crate::authentication::token_keys::TokenKeys;
use crate::authorization::authorizer::Authorization;
use crate::certificates::{CertificateAuthority, Identity};
use crate::filters::request_observer::RequestObserver;
use crate::proxy::Backends;
use rustls_pki_types::CertificateDer;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of a request body, as upstream: 3 MiB. Longer bodies get 413.
pub const BODY_BYTES_MAX: usize = 3 << 20;
/// Read-only requests in flight, as upstream.
pub const REQUESTS_MAX: usize = 400;
/// Mutating requests in flight, as upstream.
pub const MUTATING_REQUESTS_MAX: usize = 200;
/// Concurrent streams of one HTTP/2 connection, as upstream.
pub const STREAMS_MAX: u32 = 250;
/// Default limit of concurrent connections.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Unanswered TCP keep-alive probes after which a client is considered gone, as upstream.
pub const KEEP_ALIVE_PROBES: u32 = 9;

/// The largest probability of a GOAWAY per request, as upstream.
pub const GOAWAY_CHANCE_MAX: f64 = 0.02;

/// The configuration of a server. Every field has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Config {
    /// The address to listen on. Nothing else is ever bound. `None`: only connections passed to
    /// [`RunningServer::serve_stream`](crate::RunningServer::serve_stream) are served. Default: a
    /// free port of the IPv4 loopback address.
    pub listen: Option<SocketAddr>,
    /// DNS names and IP addresses in the serving certificate, in addition to the usual ones and the
    /// listen address. Default: none.
    pub serving_names: Vec<String>,
    /// The authority that signs the serving certificate and the administrator's. Default: a new
    /// authority, so that certificates of earlier servers are not accepted.
    pub authority: Option<Arc<CertificateAuthority>>,
    /// The serving certificate that clients see, except the server's own clients
    /// ([`RunningServer::tls_server_name`](crate::RunningServer::tls_server_name)). Default: one
    /// signed by the authority; if the authority expires, the certificate is valid for a year and
    /// is renewed in time.
    pub serving: Option<Identity>,
    /// Additional authorities whose client certificates are accepted. Default: none.
    pub client_authorities: Vec<CertificateDer<'static>>,
    /// The keys that sign and verify service account tokens. Default: a new key.
    pub token_keys: Option<Arc<TokenKeys>>,
    /// The user of the client certificate that is issued at start. Default: `kubernetes-admin`.
    pub admin_user: String,
    /// Static bearer tokens. Default: none.
    pub tokens: Vec<StaticToken>,
    /// Who else is believed: issuers of tokens, proxies, webhooks, and authenticators of one's own.
    /// Default: the service accounts that the server issues tokens for.
    pub authenticators: Authenticators,
    /// Which requests without credentials are served. Default: all, and the authorization decides,
    /// as upstream; where it allows everything, only `/healthz`, `/livez`, `/readyz` and
    /// `/version`.
    pub anonymous: Anonymous,
    /// Decides about each request, after authentication, and answers access reviews. Default:
    /// everything is allowed.
    pub authorization: Authorization,
    /// Records requests by a policy, as upstream's audit log. Default: none.
    pub audit: Option<Audit>,
    /// The stored webhooks and policies, which the server follows; their plugins must be in the
    /// chain of the registry. Default: none, and they are not obeyed.
    pub admission: Option<DynamicAdmission>,
    /// How it connects to kubelets, Pods and Services. Default: as upstream without options.
    pub backends: Backends,
    /// Group versions of other servers.
    pub aggregation: AggregationConfig,
    /// Whether CBOR is offered beside JSON and protobuf, as with upstream's gate
    /// `CBORServingAndStorage`. Default: no, as upstream.
    pub cbor: bool,
    /// Is told of every request, without its bodies. Default: nobody.
    pub observer: Option<Arc<dyn RequestObserver>>,
    /// The seed of audit ids, token ids, and of the lengths of watches, for runs that can be
    /// repeated. Default: none, and they are random.
    pub seed: Option<u64>,
    /// Limit of read-only requests in flight, not counting long-running ones; system users may have
    /// as many again. Further requests get 429. A request counts from the moment its body is
    /// complete. 0: no limit. Default: [`REQUESTS_MAX`].
    pub requests_max: usize,
    /// The same for mutating requests. Default: [`MUTATING_REQUESTS_MAX`].
    pub mutating_requests_max: usize,
    /// Whether requests are classified by the stored flow schemas and get the seats of their
    /// priority level, or wait in its queues, as upstream. The seats are those of both limits
    /// together. Default: no, the limits are applied as they are.
    pub priority_and_fairness: bool,
    /// Maximum bytes of a request body. Default: [`BODY_BYTES_MAX`].
    pub body_bytes_max: usize,
    /// Concurrent streams per HTTP/2 connection. Default: [`STREAMS_MAX`].
    pub streams_max: u32,
    /// Limit of concurrent connections. At the limit, a new connection replaces the longest-idle
    /// connection on which no request was authenticated. If there is none, new connections wait in
    /// the backlog of the operating system until one ends; with a full backlog, connecting fails.
    /// Each connection needs a file descriptor; without free descriptors, new connections wait as
    /// well. Default: [`CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// Time limit for the TLS handshake, for a request head, and for the pause between two requests
    /// of an HTTP/1.1 connection. Default: 90 s, upstream's limit for pauses.
    pub header_timeout: Duration,
    /// How long a connection may be idle before it is closed; it is closed after at most twice that
    /// time. Default: 90 s, upstream's limit.
    pub idle_timeout: Duration,
    /// How long a client may accept no byte of a response before its connection is closed. If the
    /// rest of an HTTP/2 connection makes progress, only that stream is reset, after at most twice
    /// that time. Default: 60 s.
    pub write_timeout: Duration,
    /// How often a silent client is probed: over HTTP/2 by a ping that must be answered within the
    /// write timeout, over HTTP/1.1 by TCP keep-alive, which gives up after [`KEEP_ALIVE_PROBES`]
    /// unanswered probes. Default: 30 s.
    pub ping_interval: Duration,
    /// How long requests may continue after shutdown began. Default: 5 s.
    pub drain_timeout: Duration,
    /// How long the server keeps serving after shutdown was announced, while `/readyz` fails, so
    /// that load balancers stop sending requests. Default: none, as upstream.
    pub shutdown_delay: Duration,
    /// Period over which watches end at shutdown, each at a random moment; the drain timeout starts
    /// after it. Default: none, all at once.
    pub watch_drain: Duration,
    /// The probability that an HTTP/2 request makes the server send GOAWAY on its connection, so
    /// that clients rebalance over several servers; at most [`GOAWAY_CHANCE_MAX`]. Default: 0, as
    /// upstream.
    pub goaway_chance: f64,
    /// Requests that take longer are logged at level warn, except long-running ones. Default: 5 s,
    /// upstream's objective for lists in a namespace.
    pub slow_request: Duration,
    /// Watches without `timeoutSeconds` end after a random time between this and twice this.
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
            authenticators: Authenticators::default(),
            anonymous: Anonymous::default(),
            authorization: Authorization::default(),
            audit: None,
            admission: None,
            backends: Backends::default(),
            aggregation: AggregationConfig::default(),
            cbor: false,
            observer: None,
            seed: None,
            requests_max: REQUESTS_MAX,
            mutating_requests_max: MUTATING_REQUESTS_MAX,
            priority_and_fairness: false,
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
            watch_timeout_min: Duration::from_secs(30 * 60),
        }
    }
}
