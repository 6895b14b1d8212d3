//! `TestServer`: an API server of a test.

mod beside;
mod expectations;
mod states;

use crate::assertion::observer::Observer;
use crate::builder::TestServerBuilder;
use crate::client::{Clients, OBSERVER_AGENT};
use crate::clock::TestClock;
use crate::controllers::running::RunningSet;
use crate::error::TestError;
use crate::faults::{Faults, Revisions};
use crate::journal::Journal;
use crate::login::{Login, authorization};
use crate::pulse::Pulse;
use crate::watchdog;
use kubist::client::Client;
use kubist::kubeconfig::KubeconfigError;
use kubist::storage::memory::MemoryKv;
use kubist::{Server, ServerConfig};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

/// An API server in the test's process. Dropping it stops everything that belongs to it.
pub struct TestServer {
    /// What runs beside the server ends before it.
    _leash: Leash,
    running: Arc<RunningSet>,
    server: Server,
    store: MemoryKv,
    clock: TestClock,
    options: TestServerBuilder,
    clients: Clients,
    /// The administrator's.
    client: Client,
    journal: Journal,
    observer: Arc<Observer>,
    faults: Faults,
    /// Follows the revision, for the faults that depend on it.
    _background: JoinSet<()>,
}

/// What ends with the server, whatever else of it is kept: a handle, a journal, a past.
struct Leash {
    running: Arc<RunningSet>,
    pulse: Arc<Pulse>,
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.running.drop_all();
        self.pulse.end();
    }
}

impl TestServer {
    /// Starts a server with the default options.
    ///
    /// # Errors
    /// There is no tokio runtime, or the server cannot start.
    pub async fn start() -> Result<Self, TestError> {
        Self::builder().start().await
    }

    /// Returns the options of a server that is not yet started.
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    /// Starts a server on a store, without controllers and fixtures.
    pub(crate) async fn on(
        store: MemoryKv,
        clock: TestClock,
        options: TestServerBuilder,
    ) -> Result<Self, TestError> {
        let pulse = Arc::new(Pulse::new(clock.is_virtual(), options.repeats_max));
        watchdog::guard(&pulse, options.real_time_max);
        let (entries, others) = (options.journal_entries_max, options.observers.clone());
        let journal = Journal::new(entries, Arc::clone(&pulse), others);
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = ServerConfig {
            listen: options.listen.then_some(loopback),
            controllers: [].into(),
            seed: Some(options.seed),
            clock: Arc::new(clock.clone()),
            observer: Some(journal.observer()),
            store: Some(store.clone()),
            authorization: authorization(options.obeys_roles),
            ..ServerConfig::default()
        };
        // Boxed: the start of a server is a large future, and this is in those of tests.
        let server = Box::pin(Server::start(config)).await?;
        let revisions = Revisions::of(store.clone());
        let faults = Faults::new(revisions.clone());
        let clients = Clients::new(clock.clone(), options.seed, faults.clone());
        let client = clients.client(&server, &Login::admin())?;
        let eyes = Login::admin().with_user_agent(OBSERVER_AGENT);
        let running = Arc::<RunningSet>::default();
        let mut background = JoinSet::new();
        background.spawn(revisions.run());
        let ended = Arc::clone(&pulse);
        background.spawn({
            let pulse = Arc::clone(&pulse);
            async move { pulse.notice().await }
        });
        let observer = Observer {
            client: clients.client(&server, &eyes)?,
            clock: clock.clone(),
            journal: journal.clone(),
            pulse,
            running: Arc::clone(&running),
            store: store.clone(),
        };
        Ok(Self {
            _leash: Leash {
                running: Arc::clone(&running),
                pulse: ended,
            },
            running,
            server,
            store,
            clock,
            options,
            clients,
            client,
            journal,
            observer: Arc::new(observer),
            faults,
            _background: background,
        })
    }

    /// Creates fixtures and starts controllers as configured.
    pub(crate) async fn begin(&self) -> Result<(), TestError> {
        let fixtures = self.options.fixtures.clone();
        if !fixtures.is_empty() {
            self.apply(&fixtures).await?;
        }
        for controller in self.options.controllers.clone() {
            self.start_controller(controller)?;
        }
        Ok(())
    }

    /// Returns what goes wrong with the requests of clients, to add to it.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the journal of requests.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Returns the clock: of the server, of objects, and of virtual time if it is paused.
    pub fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// Returns the seed of everything that the server chooses at random.
    pub fn seed(&self) -> u64 {
        self.options.seed
    }

    /// Returns the store. What is written to it directly is seen like any other write.
    pub fn store(&self) -> &MemoryKv {
        &self.store
    }

    /// Returns the server itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns a kubeconfig of the administrator, for kubectl and other programs.
    ///
    /// # Errors
    /// The server has no port.
    pub fn kubeconfig(&self) -> Result<String, TestError> {
        self.check_port()?;
        Ok(self.server.kubeconfig())
    }

    /// Writes a kubeconfig of the administrator to a file that only its owner can read.
    ///
    /// # Errors
    /// The server has no port, or the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), TestError> {
        self.check_port()?;
        let written = self.server.write_kubeconfig(path);
        written.map_err(|error: KubeconfigError| TestError::Other(Box::new(error)))
    }

    fn check_port(&self) -> Result<(), TestError> {
        if self.options.listen {
            Ok(())
        } else {
            Err(TestError::NoPort)
        }
    }

    /// Stops the server in order, and returns when nothing of it runs any more. Dropping it stops
    /// it at once.
    pub async fn shutdown(self) {
        self.running.stop_all().await;
        self.server.shutdown().await;
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer")
            .field("seed", &self.options.seed)
            .field("revision", &self.revision())
            .field("requests", &self.journal.requests())
            .finish_non_exhaustive()
    }
}
