//! `Snapshot`: the state of a server, from which any number of servers begin.
//!
//! It shares what is stored and belongs to no runtime: one prepared state serves many tests.

use crate::builder::TestServerBuilder;
use crate::client::mixed;
use crate::clock::TestClock;
use crate::error::TestError;
use crate::server::TestServer;
use kubist::storage::backup::{self, BackupError, Reader};
use kubist::storage::memory::{self, MemoryKv};
use kubist::storage::{Clock, KeyRange, ReadError, Revision};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The state of a server at a moment. A clone is another handle.
#[derive(Clone)]
pub struct Snapshot {
    store: MemoryKv,
    /// The date of the moment, since the Unix epoch.
    date: Duration,
    options: TestServerBuilder,
}

/// Why a snapshot file cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotFileError {
    /// The file cannot be created or written.
    #[error("cannot write the snapshot {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file cannot be opened.
    #[error("cannot read the snapshot {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a whole snapshot.
    #[error("cannot use the snapshot {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: BackupError,
    },
    /// The store was closed meanwhile.
    #[error("the server of the snapshot has ended")]
    Ended(#[source] ReadError),
}

/// The clock of a store that nobody runs.
#[derive(Debug)]
struct Stopped(Duration);

impl Clock for Stopped {
    fn now(&self) -> Duration {
        self.0
    }
}

impl Snapshot {
    pub(crate) fn of(store: &MemoryKv, date: Duration, options: TestServerBuilder) -> Self {
        Self {
            store: store.fork_on(Arc::new(Stopped(date))),
            date,
            options,
        }
    }

    /// The state of a store at an earlier revision.
    pub(crate) fn at(
        store: &MemoryKv,
        revision: Revision,
        date: Duration,
        options: TestServerBuilder,
    ) -> Result<Self, ReadError> {
        Ok(Self {
            store: store.fork_at(revision, Arc::new(Stopped(date)))?,
            date,
            options,
        })
    }

    /// Runs `prepare` on a server of its own, on virtual time, and returns the state that it
    /// leaves. It runs on a thread with a runtime of its own, so that it can fill a static:
    ///
    /// ```
    /// use kubist_test::{Snapshot, TestServer};
    /// use std::sync::LazyLock;
    ///
    /// static SHOP: LazyLock<Snapshot> = LazyLock::new(|| {
    ///     let shop = Snapshot::prepare(TestServer::builder(), async |server: &TestServer| {
    ///         server.apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await
    ///     });
    ///     shop.expect("the shop can be prepared")
    /// });
    ///
    /// #[tokio::test(start_paused = true)]
    /// async fn a_test() -> kubist_test::Result {
    ///     let server = SHOP.start().await?;
    ///     // …
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The server cannot start, or `prepare` fails.
    pub fn prepare<F>(builder: TestServerBuilder, prepare: F) -> Result<Self, TestError>
    where
        F: AsyncFnOnce(&TestServer) -> Result<(), TestError> + Send,
    {
        let work = move || -> Result<Self, TestError> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .map_err(|error| TestError::Other(Box::new(error)))?;
            runtime.block_on(async {
                let server = builder.start().await?;
                prepare(&server).await?;
                let snapshot = server.snapshot();
                server.shutdown().await;
                Ok(snapshot)
            })
        };
        thread::scope(|scope| {
            let joined = scope.spawn(work).join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Starts a server with this state: the same objects and resource versions, which go on from
    /// here, and in virtual time the same date. Its options are those of the server of the
    /// snapshot. It draws other uids and names, the same for each server of this snapshot.
    ///
    /// # Errors
    /// There is no tokio runtime, or the server cannot start.
    pub async fn start(&self) -> Result<TestServer, TestError> {
        self.start_with(self.options.clone()).await
    }

    /// Same as [`Self::start`], with other options: fixtures and definitions of the options are
    /// added to the state.
    ///
    /// # Errors
    /// There is no tokio runtime, the server cannot start, or a fixture is refused.
    pub async fn start_with(&self, options: TestServerBuilder) -> Result<TestServer, TestError> {
        let clock = TestClock::continuing(self.date)?;
        let store = self.store.fork_on(Arc::new(clock.clone()));
        let seed = mixed(options.seed, store.current_revision().0);
        options.seed(seed).start_on(store, clock).await
    }

    /// Returns the date of the state, since the Unix epoch.
    pub fn date(&self) -> Duration {
        self.date
    }

    pub(crate) fn store(&self) -> &MemoryKv {
        &self.store
    }

    /// Returns the options of the server.
    pub fn options(&self) -> &TestServerBuilder {
        &self.options
    }

    /// Returns the revision of the state: the resource version of its newest object.
    pub fn revision(&self) -> u64 {
        self.store.current_revision().0
    }

    /// Writes the current objects to a file, in the format of `kubist storage backup`. History and
    /// the date are not in it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn write(&self, path: &Path) -> Result<(), SnapshotFileError> {
        let fail = |source| SnapshotFileError::Write {
            path: path.to_path_buf(),
            source,
        };
        let kv = Arc::new(self.store.clone());
        let snapshot = backup::Snapshot::begin(kv, KeyRange::all()).await;
        let mut snapshot = snapshot.map_err(SnapshotFileError::Ended)?;
        let mut file = BufWriter::new(File::create(path).map_err(fail)?);
        let mut bytes = Vec::new();
        let mut writer = backup::Writer::begin(snapshot.revision(), &mut bytes);
        loop {
            let page = snapshot.page().await.map_err(SnapshotFileError::Ended)?;
            if page.is_empty() {
                break;
            }
            for kv in &page {
                writer.put(kv, &mut bytes);
            }
            file.write_all(&bytes).map_err(fail)?;
            bytes.clear();
        }
        writer.finish(&mut bytes);
        file.write_all(&bytes).map_err(fail)?;
        file.flush().map_err(fail)
    }

    /// Reads a file that [`Self::write`] or `kubist storage backup` has written. Servers begin with
    /// these options, at their starting date. Objects that were to expire do not.
    ///
    /// # Errors
    /// The file cannot be read, or is not a whole backup.
    pub fn read(path: &Path, options: TestServerBuilder) -> Result<Self, SnapshotFileError> {
        let file = File::open(path).map_err(|source| SnapshotFileError::Open {
            path: path.to_path_buf(),
            source,
        })?;
        let unusable = |source| SnapshotFileError::Unusable {
            path: path.to_path_buf(),
            source,
        };
        let mut reader = Reader::open(BufReader::new(file)).map_err(unusable)?;
        let (revision, mut kvs) = (reader.revision(), Vec::new());
        while let Some(mut kv) = reader.next().map_err(unusable)? {
            kv.lease = None;
            kvs.push(kv);
        }
        let date = options.date();
        let (limits, clock) = (limits(), Arc::new(Stopped(date)));
        Ok(Self {
            store: MemoryKv::restored(revision.max(Revision::EMPTY_STORE), kvs, limits, clock),
            date,
            options,
        })
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

/// The limits of the stores of tests: history is bounded by its size only, because virtual time
/// passes quickly.
pub(crate) fn limits() -> memory::Config {
    memory::Config {
        history_age: Duration::from_secs(100 * 365 * 24 * 3600),
        tick_every: Duration::from_secs(1),
        ..memory::Config::default()
    }
}
