//! `TestServer`: an API server of a test.

use crate::assertion::observer::Observer;
use crate::assertion::{ExpectObject, ExpectObjects};
use crate::builder::TestServerBuilder;
use crate::client::{Clients, OBSERVER_AGENT};
use crate::clock::TestClock;
use crate::controllers::running::{Running, RunningSet};
use crate::controllers::{RunError, ServerController};
use crate::error::TestError;
use crate::faults::{Faults, Revisions};
use crate::fixtures::Fixtures;
use crate::journal::Journal;
use crate::login::Login;
use crate::past::Past;
use crate::pulse::Pulse;
use crate::snapshot::Snapshot;
use crate::watchdog;
use kubist::apimachinery::wire::{Encode, Ingest};
use kubist::apimachinery::{ApiResource, Unstructured};
use kubist::client::{Api, Client};
use kubist::kubeconfig::KubeconfigError;
use kubist::storage::memory::MemoryKv;
use kubist::storage::{ReadError, Revision};
use kubist::transport::Transport;
use kubist::{Authorization, Server, ServerConfig};
use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

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
            authorization: if options.obeys_roles {
                Authorization::rbac()
            } else {
                Authorization::default()
            },
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

    /// Returns the administrator's client. Clones share its connection.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns a client of a user with these groups, with a connection of its own.
    ///
    /// # Errors
    /// The client cannot be created.
    pub fn client_as<'a>(
        &self,
        user: &str,
        groups: impl IntoIterator<Item = &'a str>,
    ) -> Result<Client, TestError> {
        self.client_of(&Login::user(user, groups))
    }

    /// Returns a client for a login, with a connection of its own.
    ///
    /// # Errors
    /// Its user agent is not a valid header.
    pub fn client_of(&self, login: &Login) -> Result<Client, TestError> {
        Ok(self.clients.client(&self.server, login)?)
    }

    /// Returns a transport for a login, with a connection of its own, to put something in front of
    /// it ([`Transport::with_service`]). A client over it is configured by
    /// [`client_config`](Self::client_config).
    ///
    /// # Errors
    /// Its user agent is not a valid header.
    pub fn transport_of(&self, login: &Login) -> Result<Transport, TestError> {
        Ok(self.clients.transport(&self.server, login)?)
    }

    /// Returns the configuration of a client of this server: on its clock, with random numbers of
    /// its own.
    pub fn client_config(&self) -> kubist::client::Config {
        self.clients.config()
    }

    /// Runs something beside the server, such as a controller's manager, with a client of its own
    /// whose user agent is `name`, and a token that asks it to end. What it fails with is in the
    /// reports of assertions.
    ///
    /// ```
    /// # use kubist::client::Client;
    /// # use kubist_test::TestServer;
    /// # use tokio_util::sync::CancellationToken;
    /// # async fn run(_: Client, token: CancellationToken) -> Result<(), std::fmt::Error> {
    /// #     token.cancelled().await;
    /// #     Ok(())
    /// # }
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> kubist_test::Result {
    /// let server = TestServer::start().await?;
    /// let operator = server.run("website-operator", |client, token| run(client, token))?;
    /// // …
    /// operator.stop().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The name is not a valid user agent.
    pub fn run<T, E, F>(
        &self,
        name: &str,
        run: impl FnOnce(Client, CancellationToken) -> F,
    ) -> Result<Running, TestError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.run_as(&Login::admin().with_user_agent(name), name, run)
    }

    /// Same as [`Self::run`], with a login. Its user agent is the name, unless the login has one.
    ///
    /// # Errors
    /// The user agent is not a valid header.
    pub fn run_as<T, E, F>(
        &self,
        login: &Login,
        name: &str,
        run: impl FnOnce(Client, CancellationToken) -> F,
    ) -> Result<Running, TestError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let token = CancellationToken::new();
        let mut login = login.clone();
        login.user_agent.get_or_insert_with(|| name.into());
        let run = run(self.client_of(&login)?, token.clone());
        let run = async move { run.await.map(drop).map_err(RunError::new) };
        Ok(self.running.spawn(name, token, run))
    }

    /// Starts one of the server's controllers, beside those that run already.
    ///
    /// # Errors
    /// Its client cannot be created.
    pub fn start_controller(&self, controller: ServerController) -> Result<Running, TestError> {
        let token = CancellationToken::new();
        let transport = self.transport_of(&controller.login())?;
        let config = kubist::client::Config {
            // It watches whatever is served, deprecated or not.
            warnings: Arc::new(|_: &str| {}),
            ..self.client_config()
        };
        let run = controller.run(&self.server, Client::new(transport, config), token.clone());
        Ok(self.running.spawn(controller.name(), token, run))
    }

    /// Expects something of an object. A cluster-scoped one has the namespace `""`.
    pub fn object<K: Ingest + Encode>(&self, namespace: &str, name: &str) -> ExpectObject<K> {
        let api = Api::all(self.observer.client.clone());
        ExpectObject::new(Arc::clone(&self.observer), api, namespace, name)
    }

    /// Expects something of an object of a kind known at run time.
    pub fn dynamic_object(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> ExpectObject<Unstructured> {
        let api = Api::dynamic(self.observer.client.clone(), resource);
        ExpectObject::new(Arc::clone(&self.observer), api, namespace, name)
    }

    /// Expects something of the objects of a namespace, or of all namespaces for `""`.
    pub fn objects<K: Ingest + Encode>(&self, namespace: &str) -> ExpectObjects<K> {
        let api = Api::all(self.observer.client.clone());
        ExpectObjects::new(Arc::clone(&self.observer), api, namespace)
    }

    /// Expects something of the objects of a kind known at run time.
    pub fn dynamic_objects(
        &self,
        resource: &ApiResource,
        namespace: &str,
    ) -> ExpectObjects<Unstructured> {
        let api = Api::dynamic(self.observer.client.clone(), resource);
        ExpectObjects::new(Arc::clone(&self.observer), api, namespace)
    }

    /// Creates the objects of a YAML text: definitions first, then the rest in its order.
    ///
    /// # Errors
    /// The text is not YAML, or an object is refused; the error names the document and its line.
    pub async fn apply_yaml(&self, text: &str) -> Result<(), TestError> {
        self.apply(&Fixtures::new().yaml(text)).await
    }

    /// Creates fixtures.
    ///
    /// # Errors
    /// A file cannot be read, or an object is refused; the error names the file, the document and
    /// its line.
    pub async fn apply(&self, fixtures: &Fixtures) -> Result<(), TestError> {
        let login = Login::admin().with_user_agent("kubist-test-fixtures");
        let client = self.client_of(&login)?;
        Ok(fixtures.create(&client, &self.observer.client).await?)
    }

    /// Lets virtual time pass: all timers in between fire in their order, and everything that they
    /// cause is done before the next one.
    ///
    /// # Errors
    /// Time is not virtual, or a loop keeps it from passing.
    pub async fn advance(&self, time: Duration) -> Result<(), TestError> {
        if !self.clock.is_virtual() {
            return Err(TestError::RealTime);
        }
        tokio::select! {
            biased;
            reason = self.observer.pulse.stuck() => Err(TestError::Stuck(reason)),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Waits until nothing has been written for `quiet`, for at most `within`, and returns the
    /// revision then.
    ///
    /// # Errors
    /// Something was still written, or a loop keeps time from passing.
    pub async fn settled(&self, quiet: Duration, within: Duration) -> Result<u64, TestError> {
        let until = tokio::time::Instant::now() + within;
        loop {
            let before = self.store.current_revision();
            tokio::select! {
                biased;
                reason = self.observer.pulse.stuck() => return Err(TestError::Stuck(reason)),
                () = tokio::time::sleep(quiet) => {}
            }
            if self.store.current_revision() == before {
                return Ok(before.0);
            }
            if tokio::time::Instant::now() >= until {
                let last = self.journal.writes().pop();
                let last = last.map_or_else(|| "the server itself".to_owned(), |it| it.to_string());
                return Err(TestError::Restless { within, last });
            }
        }
    }

    /// Returns the state now, from which any number of servers can begin, in this test and in
    /// others. Everything that is stored is shared.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.store, self.clock.date(), self.options.inherited())
    }

    /// Starts an independent server with the same objects and resource versions, which go on from
    /// here, at the same date. Its options are those of this server, but it does not listen. What
    /// [runs](Self::run) beside this server does not run beside the fork, except its controllers.
    ///
    /// # Errors
    /// The server cannot start.
    pub async fn fork(&self) -> Result<Self, TestError> {
        self.snapshot().start().await
    }

    /// Returns the state at an earlier revision, to read or to fork it.
    ///
    /// # Errors
    /// The revision is compacted, or in the future.
    pub fn at(&self, revision: u64) -> Result<Past, TestError> {
        let date = self.clock.date();
        let of = Snapshot::at(
            &self.store,
            Revision(revision),
            date,
            self.options.inherited(),
        );
        let snapshot = of.map_err(|error| match error {
            ReadError::FutureRevision { current, .. } => TestError::Future {
                revision,
                newest: current.0,
            },
            _ => TestError::Compacted {
                revision,
                oldest: self.observer.oldest_revision(),
            },
        })?;
        Ok(Past::new(Arc::clone(&self.observer), snapshot, revision))
    }

    /// Returns the revision now: the resource version of the last write.
    pub fn revision(&self) -> u64 {
        self.store.current_revision().0
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
