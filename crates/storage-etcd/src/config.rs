//! `Config`: the address of the cluster, credentials and timeouts.

use std::time::Duration;

/// How to connect to an etcd cluster. Everything except the servers has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Config {
    /// URLs of members, `http://` or `https://`. One is used until it fails, then the next.
    pub servers: Vec<String>,
    /// TLS options of `https://` servers. Default: the system's authorities, and no client
    /// certificate.
    pub tls: Tls,
    /// Time limit for a connection. Default: 3 s.
    pub connect_timeout: Duration,
    /// Time limit of an operation with all its retries. Default: 15 s, three times what a cluster
    /// needs to elect another leader. No attempt begins in its last 100 ms, which it might take.
    pub request_timeout: Duration,
    /// How long an interrupted watch may take to resume before it ends. Default: 30 s. No attempt
    /// begins in its last 100 ms.
    pub resume_timeout: Duration,
    /// Interval of keep-alive pings; a connection without a response for as long again is closed.
    /// Default: 10 s; etcd forbids less than 5.
    pub ping_every: Duration,
    /// Compaction interval of [`EtcdKv::run`](crate::EtcdKv::run): each round discards the history
    /// before the previous round, as upstream's API server does. `None` leaves compaction to
    /// others. Default: 5 minutes.
    pub compact_every: Option<Duration>,
}

/// TLS options, as PEM.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Tls {
    /// Trusted authorities of the members' certificates.
    pub authorities: Option<Vec<u8>>,
    /// The client certificate and its key.
    pub identity: Option<Identity>,
}

/// A certificate and its key, as PEM.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Identity {
    /// The certificate, followed by intermediate certificates.
    pub certificate: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

impl Config {
    /// Uses these servers and the defaults.
    pub fn new(servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            servers: servers.into_iter().map(Into::into).collect(),
            tls: Tls::default(),
            connect_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_secs(15),
            resume_timeout: Duration::from_secs(30),
            ping_every: Duration::from_secs(10),
            compact_every: Some(Duration::from_secs(5 * 60)),
        }
    }
}

impl Tls {
    /// Reports whether any option is set.
    pub fn is_empty(&self) -> bool {
        self.authorities.is_none() && self.identity.is_none()
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("authorities", &self.authorities.is_some())
            .field("identity", &self.identity)
            .finish()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

/// Why a configuration is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no server.
    #[error("no etcd server is configured")]
    NoServers,
    /// The text is not the URL of a server.
    #[error("{server:?} is not the URL of an etcd server: it needs http:// or https:// and a host")]
    Server {
        /// The text.
        server: String,
    },
    /// There are TLS options, but the URL is not `https://`.
    #[error("certificates are set, but {server:?} is not an https:// URL")]
    NotTls {
        /// The URL.
        server: String,
    },
    /// The certificates or the key cannot be used.
    #[error("the certificates for {server:?} cannot be used")]
    Certificates {
        /// The server.
        server: String,
        /// The cause.
        source: tonic::transport::Error,
    },
}
