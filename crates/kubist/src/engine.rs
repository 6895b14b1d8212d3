//! Where a server keeps everything: in memory, or in a folder.
//!
//! The choice, and what both have in common beyond [`Kv`]. Reads no configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{Config, MemoryKv, Stats, TokioClock};
use kubist_storage::{Fault, Kv};
use kubist_storage_redb::{Store, StoreError};
use tokio::task::spawn_blocking;

#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Memory(MemoryKv),
    Durable(JournaledKv),
}

impl Engine {
    pub(crate) fn in_memory(limits: Config) -> Self {
        Self::Memory(MemoryKv::new(limits, Arc::new(TokioClock::start())))
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

    pub(crate) fn kv(&self) -> Arc<dyn Kv> {
        match self {
            Self::Memory(kv) => Arc::new(kv.clone()),
            Self::Durable(kv) => Arc::new(kv.clone()),
        }
    }

    /// The engine's own time. Ends once the engine is closed, or has closed itself.
    pub(crate) async fn run(&self) {
        match self {
            Self::Memory(kv) => kv.run().await,
            Self::Durable(kv) => kv.run().await,
        }
    }

    /// Why it has closed itself; `None` if it has not.
    pub(crate) fn failure(&self) -> Option<Fault> {
        match self {
            Self::Memory(_) => None,
            Self::Durable(kv) => kv.failure(),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Self::Memory(kv) => kv.stats(),
            Self::Durable(kv) => kv.stats(),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Memory(kv) => kv.close(),
            Self::Durable(kv) => kv.close().await,
        }
    }
}
