//! Where the cluster is, how to speak with it, and how long to wait.

use std::time::Duration;

/// How to reach an etcd cluster. Everything but the servers has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Config {
    /// URLs of members, `http://` or `https://`. One is used until it fails, then the next.
    pub servers: Vec<String>,
    /// For `https://` servers. Default: the authorities of the system, and no certificate.
    pub tls: Tls,
    /// How long a connection may take to be made. Default: 3 s.
    pub connect_timeout: Duration,
    /// How long an operation may take, with everything that is tried again. Default: 15 s, three
    /// times what a cluster needs to choose another leader.
    pub request_timeout: Duration,
    /// How long a watch whose connection broke may take to go on, before it ends. Default: 30 s.
    pub resume_timeout: Duration,
    /// How often a connection is tried out; a second time this long without an answer ends it.
    /// Default: 10 s; etcd forbids less than 5.
    pub ping_every: Duration,
    /// How often [`EtcdKv::run`](crate::EtcdKv::run) gives up the history that was there the time
    /// before, as the API server of upstream does; `None` leaves that to others. Default: 5
    /// minutes.
    pub compact_every: Option<Duration>,
}

/// Whom to trust, and who we are. Everything in PEM.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Tls {
    /// Authorities of the members' certificates.
    pub authorities: Option<Vec<u8>>,
    /// Our certificate and its key.
    pub identity: Option<Identity>,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Identity {
    /// The certificate, and what leads from it to an authority.
    pub certificate: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

impl Config {
    /// These servers, and the defaults.
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
    /// Whether anything is set.
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

/// Why no engine can be made of a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no server.
    #[error("no etcd server is named")]
    NoServers,
    /// This is not the URL of a server.
    #[error("{server:?} is not the URL of an etcd server: it needs http:// or https:// and a host")]
    Server {
        /// What it says.
        server: String,
    },
    /// Certificates without TLS.
    #[error("certificates are set, but {server:?} is not an https:// URL")]
    NotTls {
        /// What it says.
        server: String,
    },
    /// The certificates or the key cannot be used.
    #[error("the certificates for {server:?} cannot be used")]
    Certificates {
        /// The server.
        server: String,
        /// Why.
        source: tonic::transport::Error,
    },
}
