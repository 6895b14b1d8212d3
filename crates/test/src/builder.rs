//! `TestServerBuilder`: what a [`TestServer`] begins with.

use crate::clock::{TestClock, VIRTUAL_START};
use crate::controllers::ServerController;
use crate::error::TestError;
use crate::fixtures::Fixtures;
use crate::journal::ENTRIES_MAX;
use crate::server::TestServer;
use crate::snapshot::limits;
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::apiserver::RequestObserver;
use kubist::storage::Revision;
use kubist::storage::memory::MemoryKv;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Real time that a test may take unless configured otherwise.
const REAL_TIME_MAX: Duration = Duration::from_secs(120);
/// Requests of one verb and path at one moment of virtual time, unless configured otherwise.
const REPEATS_MAX: u64 = 5_000;

/// The options of a [`TestServer`]; each has a default.
#[derive(Clone, Debug)]
#[must_use = "it starts nothing by itself"]
pub struct TestServerBuilder {
    pub(crate) seed: u64,
    pub(crate) listen: bool,
    pub(crate) obeys_roles: bool,
    pub(crate) controllers: BTreeSet<ServerController>,
    pub(crate) fixtures: Fixtures,
    pub(crate) begin: Duration,
    pub(crate) journal_entries_max: usize,
    pub(crate) real_time_max: Duration,
    pub(crate) repeats_max: u64,
    pub(crate) observers: Vec<Arc<dyn RequestObserver>>,
}

impl Default for TestServerBuilder {
    fn default() -> Self {
        Self {
            seed: 0,
            listen: false,
            obeys_roles: false,
            controllers: ServerController::USUAL.into(),
            fixtures: Fixtures::new(),
            begin: VIRTUAL_START,
            journal_entries_max: ENTRIES_MAX,
            real_time_max: REAL_TIME_MAX,
            repeats_max: REPEATS_MAX,
            observers: Vec::new(),
        }
    }
}

impl TestServerBuilder {
    /// The seed of uids, generated names and of everything else that the server and its clients
    /// choose at random. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Listens on a free port of the loopback interface, for kubectl and other programs. Not on
    /// virtual time. Default: no port.
    pub fn listen(mut self) -> Self {
        self.listen = true;
        self
    }

    /// Obeys roles and bindings, with upstream's default ones: users may do what these allow, and
    /// `system:masters` everything. So a test shows whether the roles of a controller suffice.
    /// Default: every user may do everything.
    pub fn obey_roles(mut self) -> Self {
        self.obeys_roles = true;
        self
    }

    /// The server's own controllers that run from the start. Default:
    /// [`ServerController::USUAL`]. Without them the server starts faster, namespaces are not
    /// emptied, and dependents are not deleted.
    pub fn controllers(mut self, of: impl IntoIterator<Item = ServerController>) -> Self {
        self.controllers = of.into_iter().collect();
        self
    }

    /// Adds a definition. It is served when the server has started.
    pub fn definition(mut self, definition: CustomResourceDefinition) -> Self {
        self.fixtures = self.fixtures.definition(definition);
        self
    }

    /// Adds objects from YAML text.
    pub fn yaml(mut self, text: impl Into<String>) -> Self {
        self.fixtures = self.fixtures.yaml(text);
        self
    }

    /// Adds objects from a file, or from all `.yaml`, `.yml` and `.json` files of a folder and its
    /// folders, by their paths' order.
    pub fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.fixtures = self.fixtures.path(path);
        self
    }

    /// The date at which virtual time begins, since the Unix epoch, up to the year 9000. Default:
    /// [`VIRTUAL_START`].
    pub fn starting_at(mut self, date: Duration) -> Self {
        self.begin = date;
        self
    }

    /// How many requests the journal keeps. Default: 10,000.
    pub fn journal_entries_max(mut self, entries: usize) -> Self {
        self.journal_entries_max = entries;
        self
    }

    /// Bounds the real time between the start and the end of the server, whatever virtual time
    /// does. At the bound every wait of the test ends with a report; a test whose thread is blocked
    /// is reported, and aborted 20 s later. Default: two minutes.
    pub fn real_time_max(mut self, bound: Duration) -> Self {
        self.real_time_max = bound;
        self
    }

    /// How often a request may be repeated at one moment of virtual time: more is a loop that would
    /// never end, and every wait of the test ends with a report. Creates may be repeated forty
    /// times as often. Default: 5,000.
    pub fn repeats_max(mut self, repeats: u64) -> Self {
        self.repeats_max = repeats;
        self
    }

    /// Adds an observer of all requests, beside the journal.
    pub fn observer(mut self, observer: Arc<dyn RequestObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Starts the server: it is ready, and its fixtures are there, when this returns.
    ///
    /// # Errors
    /// There is no tokio runtime, time would begin too late, the server cannot start, or a fixture
    /// is refused.
    pub async fn start(self) -> Result<TestServer, TestError> {
        let clock = TestClock::continuing(self.begin)?;
        let store_clock = Arc::new(clock.clone());
        let store = MemoryKv::beginning_at(Revision::EMPTY_STORE, limits(), store_clock);
        self.start_on(store, clock).await
    }

    /// Starts the server on a store.
    pub(crate) async fn start_on(
        self,
        store: MemoryKv,
        clock: TestClock,
    ) -> Result<TestServer, TestError> {
        if self.listen && clock.is_virtual() {
            return Err(TestError::PortInVirtualTime);
        }
        let server = TestServer::on(store, clock, self).await?;
        server.begin().await?;
        Ok(server)
    }

    /// Returns the options of a fork: what the fixtures made is there already, and the port belongs
    /// to one server.
    pub(crate) fn inherited(&self) -> Self {
        Self {
            listen: false,
            fixtures: Fixtures::new(),
            controllers: self.controllers.clone(),
            observers: self.observers.clone(),
            ..*self
        }
    }

    pub(crate) fn date(&self) -> Duration {
        self.begin
    }
}
