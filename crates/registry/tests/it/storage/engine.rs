//! The engines of the matrix, and their construction.

use kubist_storage::Kv;
use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use std::any::Any;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The engines of the matrix that run in this process. etcd is in `etcd_row.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    Memory,
    Redb,
}

/// An engine, and the resources that must live as long as it.
pub(super) struct Made {
    pub(super) kv: Arc<dyn Kv>,
    pub(super) keep: Box<dyn Any + Send + Sync>,
}

impl Engine {
    /// Creates the engine.
    pub(super) fn make(self, tasks: &mut JoinSet<()>) -> Made {
        let clock = Arc::new(TokioClock::start());
        match self {
            Self::Memory => {
                let kv = MemoryKv::new(Config::default(), clock);
                let running = kv.clone();
                tasks.spawn(async move { running.run().await });
                Made {
                    kv: Arc::new(kv),
                    keep: Box::new(()),
                }
            }
            Self::Redb => {
                let folder = tempfile::tempdir().expect("a folder can be made");
                let store = kubist_storage_redb::Store::open(&folder.path().join("data"));
                let kv = store.and_then(|it| it.into_kv(Config::default(), clock));
                let kv = kv.expect("the folder is empty");
                let running = kv.clone();
                tasks.spawn(async move { running.run().await });
                Made {
                    kv: Arc::new(kv),
                    keep: Box::new(folder),
                }
            }
        }
    }
}
