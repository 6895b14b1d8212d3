//! Where a server keeps everything: in memory, in a folder, or in an etcd cluster.
//!
//! The choice, and what both have in common beyond [`Kv`]. Reads no configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{Config, MemoryKv, Stats, TokioClock};
use kubist_storage::{Fault, Kv, ReadError, Revision};
use kubist_storage::{KvRead, KvWatch};
use kubist_storage_etcd::{EtcdKv, Identity};
use kubist_storage_redb::{Store, StoreError};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

use crate::regular_file::read_regular_file;

#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Memory(MemoryKv),
    Durable(JournaledKv),
    Etcd(EtcdKv),
}

/// An etcd cluster to keep everything in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct EtcdServers {
    /// URLs of members, `http://` or `https://`.
    pub servers: Vec<String>,
    /// What all keys begin with. Default: empty, which is upstream's `/registry`.
    pub prefix: String,
    /// A file of authorities of the members' certificates, in PEM. Default: the system's.
    pub ca_file: Option<PathBuf>,
    /// A file with our certificate, in PEM. Default: none.
    pub cert_file: Option<PathBuf>,
    /// A file with its key, in PEM.
    pub key_file: Option<PathBuf>,
}

/// Bytes of a file of certificates; longer ones are none.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// After this long without an answer of etcd the log says so.
const SILENCE: Duration = Duration::from_millis(700);
/// How long each member has then to take a connection.
const KNOCK: Duration = Duration::from_millis(200);
/// Where an etcd listens whose URL has no port.
const DEFAULT_PORT: u16 = 2379;

/// Upstream's default.
const PREFIX: &str = "/registry";

impl EtcdServers {
    /// The prefix with a slash before it and none behind it, as upstream makes it.
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
    /// No engine can be made of the configuration.
    #[error(transparent)]
    Config(#[from] kubist_storage_etcd::ConfigError),
    /// A file of certificates or a key cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A certificate without a key, or the other way round.
    #[error("a certificate for etcd goes with its key")]
    HalfAnIdentity,
    /// No member answers, or not to us.
    #[error("cannot use the etcd at {}", servers.join(", "))]
    Unusable {
        /// The members.
        servers: Vec<String>,
        /// Why.
        source: ReadError,
    },
}

/// Says which of the members cannot be reached, and why, and that they are asked on `within` which
/// time.
async fn tell_of_silence(servers: &[String], within: Duration) {
    let seconds = within.as_secs();
    let on = format!("trying on, for {seconds} s in all");
    for server in servers {
        let authority = server.parse().ok().and_then(|it: Uri| {
            let port = it.port_u16().unwrap_or(DEFAULT_PORT);
            it.host().map(|host| format!("{host}:{port}"))
        });
        let Some(authority) = authority else { continue };
        match tokio::time::timeout(KNOCK, TcpStream::connect(authority)).await {
            Ok(Ok(_)) => tracing::warn!(
                "the etcd at {server} takes connections and does not answer yet; {on}"
            ),
            Ok(Err(error)) => tracing::warn!("no etcd answers at {server} yet: {error}; {on}"),
            Err(_) => tracing::warn!("no etcd answers at {server} yet; {on}"),
        }
    }
}

impl Engine {
    /// A store that is empty and stands at `begin`.
    pub(crate) fn in_memory(begin: Revision, limits: Config) -> Self {
        let clock = Arc::new(TokioClock::start());
        Self::Memory(MemoryKv::beginning_at(begin, limits, clock))
    }

    /// Reads all of the folder, or makes it.
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
        opened.map(Self::Durable)
    }

    /// Asks the cluster where it stands, so that a server does not start without it.
    pub(crate) async fn on_etcd(etcd: &EtcdServers) -> Result<Self, EtcdError> {
        let config = etcd.config()?;
        let within = config.request_timeout;
        let kv = EtcdKv::new(config)?;
        let answered = {
            let mut asked = std::pin::pin!(kv.revision());
            if let Ok(answered) = tokio::time::timeout(SILENCE, &mut asked).await {
                answered
            } else {
                tell_of_silence(&etcd.servers, within).await;
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

    pub(crate) fn kv(&self) -> Arc<dyn Kv> {
        match self {
            Self::Etcd(kv) => Arc::new(kv.clone()),
            Self::Memory(kv) => Arc::new(kv.clone()),
            Self::Durable(kv) => Arc::new(kv.clone()),
        }
    }

    /// Whether it says, now or once all of it has answered, how far a cache of it is.
    pub(crate) fn may_answer_progress(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Durable(_) => true,
            Self::Etcd(kv) => kv.supports_progress_requests() || !kv.versions_are_known(),
        }
    }

    /// The engine's own time. Ends once the engine is closed, or has closed itself.
    pub(crate) async fn run(&self) {
        match self {
            Self::Memory(kv) => kv.run().await,
            Self::Durable(kv) => kv.run().await,
            Self::Etcd(kv) => kv.run().await,
        }
    }

    /// Why it has closed itself; `None` if it has not.
    pub(crate) fn failure(&self) -> Option<Fault> {
        match self {
            Self::Memory(_) | Self::Etcd(_) => None,
            Self::Durable(kv) => kv.failure(),
        }
    }

    /// How much it holds; `None` where that is not in this process.
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
