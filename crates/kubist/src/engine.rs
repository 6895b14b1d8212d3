//! The storage engine of a server: in memory, in a directory, or an etcd cluster.
//!
//! It covers what these have in common beyond [`Kv`], and does not read configuration.

use crate::etcd_overrides::EtcdOverrides;
use crate::regular_file::read_regular_file;
use http::Uri;
use kubist_apimachinery::GroupResource;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{Config, MemoryKv, Stats, TokioClock};
use kubist_storage::{Fault, Kv, ReadError, Revision};
use kubist_storage::{KvRead, KvWatch};
use kubist_storage_etcd::{EtcdKv, Identity};
use kubist_storage_redb::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Memory(MemoryKv),
    Durable(JournaledKv),
    Etcd(EtcdKv),
}

/// An engine of a few resources, beside the main one.
#[derive(Clone, Debug)]
pub(crate) struct ApartEngine {
    pub(crate) engine: Engine,
    pub(crate) resources: Vec<GroupResource>,
}

/// The etcd cluster of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct EtcdServers {
    /// URLs of members, `http://` or `https://`.
    pub servers: Vec<String>,
    /// The prefix of all keys. Default: empty, which is upstream's `/registry`.
    pub prefix: String,
    /// A PEM file of the authorities of the members' certificates. Default: the system's.
    pub ca_file: Option<PathBuf>,
    /// A PEM file of the client certificate. Default: none.
    pub cert_file: Option<PathBuf>,
    /// A PEM file of its key.
    pub key_file: Option<PathBuf>,
    /// Resources that are stored in other clusters. Default: none.
    pub overrides: EtcdOverrides,
}

/// Maximum bytes of a certificate file.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// After this long without a response from etcd, a warning is logged.
const SILENCE: Duration = Duration::from_millis(700);
/// How long each member then has to accept a connection.
const KNOCK: Duration = Duration::from_millis(200);
/// The port of etcd URLs without one.
const DEFAULT_PORT: u16 = 2379;

/// Upstream's default.
const PREFIX: &str = "/registry";

impl EtcdServers {
    /// Returns the prefix with a leading slash and no trailing one, as upstream.
    pub(crate) fn key_root(&self) -> String {
        match self.prefix.trim_matches('/') {
            "" if self.prefix.is_empty() => PREFIX.to_owned(),
            "" => String::new(),
            prefix => format!("/{prefix}"),
        }
    }

    fn config(&self) -> Result<kubist_storage_etcd::Config, EtcdError> {
        let read = |path: &Path| {
            read_regular_file(path, FILE_BYTES_MAX).map_err(|source| EtcdError::File {
                path: path.to_path_buf(),
                source,
            })
        };
        let mut config = kubist_storage_etcd::Config::new(&self.servers);
        config.tls.authorities = self.ca_file.as_deref().map(read).transpose()?;
        config.tls.identity = match (&self.cert_file, &self.key_file) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(Identity {
                certificate: read(certificate)?,
                key: read(key)?,
            }),
            _ => return Err(EtcdError::HalfAnIdentity),
        };
        Ok(config)
    }
}

/// Why an etcd cluster cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EtcdError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] kubist_storage_etcd::ConfigError),
    /// A certificate or key file cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A certificate without its key, or a key without its certificate.
    #[error("the client certificate for etcd and its key must be given together")]
    HalfAnIdentity,
    /// No member responds, or none accepts the client.
    #[error("cannot use the etcd at {}", servers.join(", "))]
    Unusable {
        /// The members.
        servers: Vec<String>,
        /// The cause.
        source: ReadError,
    },
}

/// Logs which members are unreachable and why, and how long they are retried.
async fn log_unresponsive_members(servers: &[String], within: Duration) {
    let seconds = within.as_secs();
    let on = format!("retrying for {seconds} s in total");
    for server in servers {
        let authority = server.parse().ok().and_then(|it: Uri| {
            let port = it.port_u16().unwrap_or(DEFAULT_PORT);
            it.host().map(|host| format!("{host}:{port}"))
        });
        let Some(authority) = authority else { continue };
        match tokio::time::timeout(KNOCK, TcpStream::connect(authority)).await {
            Ok(Ok(_)) => tracing::warn!(
                "etcd at {server} accepts connections but does not respond yet; {on}"
            ),
            Ok(Err(error)) => {
                tracing::warn!("etcd at {server} cannot be reached yet: {error}; {on}");
            }
            Err(_) => tracing::warn!("etcd at {server} cannot be reached yet; {on}"),
        }
    }
}

impl Engine {
    /// An empty store at revision `begin`.
    pub(crate) fn in_memory(begin: Revision, limits: Config) -> Self {
        let clock = Arc::new(TokioClock::start());
        Self::Memory(MemoryKv::beginning_at(begin, limits, clock))
    }

    /// Opens the directory and reads all of it, or creates it.
    pub(crate) async fn in_folder(dir: &Path, limits: Config) -> Result<Self, StoreError> {
        let (dir, folder) = (dir.to_path_buf(), PathBuf::from(dir));
        let clock = Arc::new(TokioClock::start());
        let opened = spawn_blocking(move || Store::open(&dir)?.into_kv(limits, clock));
        let opened = opened.await.unwrap_or_else(|error| {
            Err(StoreError::Io {
                path: folder,
                source: error.into(),
            })
        });
        let kv = opened?;
        if let Err(error) = kv.on_own_thread() {
            tracing::warn!("writes use the runtime's threads: {error}");
        }
        Ok(Self::Durable(kv))
    }

    /// Reads the current revision of the cluster, so that a server does not start without it.
    pub(crate) async fn on_etcd(
        etcd: &EtcdServers,
        history_age: Duration,
    ) -> Result<Self, EtcdError> {
        let mut config = etcd.config()?;
        config.compact_every = (!history_age.is_zero()).then_some(history_age);
        let within = config.request_timeout;
        let kv = EtcdKv::new(config)?;
        let answered = {
            let mut asked = std::pin::pin!(kv.revision());
            if let Ok(answered) = tokio::time::timeout(SILENCE, &mut asked).await {
                answered
            } else {
                log_unresponsive_members(&etcd.servers, within).await;
                asked.await
            }
        };
        match answered {
            Ok(_) => {
                kv.learn_versions().await;
                Ok(Self::Etcd(kv))
            }
            Err(source) => Err(EtcdError::Unusable {
                servers: etcd.servers.clone(),
                source,
            }),
        }
    }

    /// Connects to the clusters of the overrides, once to each, and returns them with their
    /// resources.
    pub(crate) async fn apart(
        etcd: &EtcdServers,
        history_age: Duration,
    ) -> Result<Vec<ApartEngine>, EtcdError> {
        let mut apart: Vec<(EtcdServers, ApartEngine)> = Vec::new();
        for (resource, servers) in etcd.overrides.iter() {
            let known = apart.iter_mut().find(|(of, _)| of.servers == servers);
            if let Some((_, known)) = known {
                known.resources.push(resource.clone());
                continue;
            }
            let of = EtcdServers {
                servers: servers.to_vec(),
                overrides: EtcdOverrides::default(),
                ..etcd.clone()
            };
            let engine = Self::on_etcd(&of, history_age).await?;
            let resources = vec![resource.clone()];
            apart.push((of, ApartEngine { engine, resources }));
        }
        Ok(apart.into_iter().map(|(_, engine)| engine).collect())
    }

    pub(crate) fn kv(&self) -> Arc<dyn Kv> {
        match self {
            Self::Etcd(kv) => Arc::new(kv.clone()),
            Self::Memory(kv) => Arc::new(kv.clone()),
            Self::Durable(kv) => Arc::new(kv.clone()),
        }
    }

    /// Reports whether watch caches can be kept fresh: whether the engine supports progress
    /// requests, now or once all members have responded.
    pub(crate) fn may_support_progress_requests(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Durable(_) => true,
            Self::Etcd(kv) => kv.supports_progress_requests() || !kv.versions_are_known(),
        }
    }

    /// Runs the engine's background work. Returns once the engine is closed, or has closed itself.
    pub(crate) async fn run(&self) {
        match self {
            Self::Memory(kv) => kv.run().await,
            Self::Durable(kv) => kv.run().await,
            Self::Etcd(kv) => kv.run().await,
        }
    }

    /// Returns why it closed itself, if it did.
    pub(crate) fn failure(&self) -> Option<Fault> {
        match self {
            Self::Memory(_) | Self::Etcd(_) => None,
            Self::Durable(kv) => kv.failure(),
        }
    }

    /// Returns its size; `None` for a remote engine.
    pub(crate) fn stats(&self) -> Option<Stats> {
        match self {
            Self::Memory(kv) => Some(kv.stats()),
            Self::Durable(kv) => Some(kv.stats()),
            Self::Etcd(_) => None,
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Memory(kv) => kv.close(),
            Self::Durable(kv) => kv.close().await,
            Self::Etcd(kv) => kv.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_made_as_upstream_makes_them() {
        for (prefix, expected) in [
            ("", "/registry"),
            ("/registry", "/registry"),
            ("registry/", "/registry"),
            ("a/b", "/a/b"),
            ("/", ""),
        ] {
            let etcd = EtcdServers {
                prefix: prefix.to_owned(),
                ..EtcdServers::default()
            };
            assert_eq!(etcd.key_root(), expected, "{prefix:?}");
        }
    }
}
