//! `Ground`: what worlds stand on: the prepared content, forked for each; and the server of one.

use crate::clock::{TestClock, VIRTUAL_START};
use crate::error::TestError;
use crate::explore::observer::TURN;
use crate::explore::problem::Problem;
use crate::explore::random::Random;
use crate::explore::scenario::Scenario;
use crate::explore::state::State;
use crate::login::{Login, authorization};
use crate::snapshot::{Snapshot, limits};
use kubist::client::{Ambient, Client, Config};
use kubist::storage::memory::{self, MemoryKv};
use kubist::storage::{KeyRange, KvRead as _, RangeRequest};
use kubist::transport::Transport;
use kubist::{Server, ServerConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

/// How long one step of the preparation may take, on virtual time.
const PREPARATION_MAX: Duration = Duration::from_secs(5 * 60);
/// How long the server may need to follow what was prepared, such as definitions.
const FOLLOW: Duration = Duration::from_secs(2);
/// How often an idle store looks at its clock: leases of the store, which only events have, end up
/// to this late.
const TICK: Duration = Duration::from_secs(30);

/// The prepared content.
pub(crate) struct Ground {
    kv: MemoryKv,
    date: Duration,
    obeys_roles: bool,
    pub(crate) state: State,
}

/// The server of one world.
pub(crate) struct Standing {
    pub(crate) server: Server,
    pub(crate) kv: MemoryKv,
    pub(crate) clock: TestClock,
}

/// Returns a runtime for one world: one thread, a paused clock, no sockets. `blocking` is set when
/// it starts a thread for blocking work.
pub(crate) fn runtime(blocking: &Arc<AtomicBool>) -> std::io::Result<Runtime> {
    let blocking = Arc::clone(blocking);
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .on_thread_start(move || blocking.store(true, Ordering::Relaxed))
        .build()
}

impl Ground {
    /// Prepares the content of a scenario, on a runtime of its own.
    ///
    /// # Errors
    /// A step of the preparation failed, or the server did not start.
    pub(crate) fn prepare(scenario: &Scenario) -> Result<Self, Problem> {
        let runtime = runtime(&Arc::default()).map_err(setup)?;
        runtime.block_on(async {
            let date = scenario
                .snapshot
                .as_ref()
                .map_or(VIRTUAL_START, Snapshot::date);
            let clock = clock_at(date)?;
            let config = memory::Config {
                tick_every: TICK,
                ..limits()
            };
            let kv = match &scenario.snapshot {
                Some(snapshot) => snapshot.store().fork_on(Arc::new(clock.clone())),
                None => MemoryKv::new(config, Arc::new(clock.clone())),
            };
            let standing = Standing::start(kv, clock, 0, scenario.obeys_roles).await?;
            for step in &scenario.preparation {
                let client = standing.client(&Login::admin(), 0)?;
                let act = (step.act)(client);
                let ended = timeout(PREPARATION_MAX, act).await;
                let ended = ended.unwrap_or_else(|_| Err("it does not end".to_owned()));
                ended.map_err(|error| setup(format!("{:?}: {error}", step.name)))?;
            }
            sleep(FOLLOW).await;
            let (kv, date) = (standing.kv.fork(), standing.clock.date());
            drop(standing);
            sleep(TURN).await;
            let all = kv.range(RangeRequest::new(KeyRange::all())).await;
            let all = all.map_err(setup)?;
            let state = State::of(all.revision.0, all.kvs.iter().map(|it| &**it));
            Ok(Self {
                kv,
                date,
                obeys_roles: scenario.obeys_roles,
                state,
            })
        })
    }

    /// Starts the server of a world, in the runtime of the caller.
    ///
    /// # Errors
    /// The server did not start.
    pub(crate) async fn start(&self, seed: u64) -> Result<Standing, Problem> {
        let clock = clock_at(self.date)?;
        let kv = self.kv.fork_on(Arc::new(clock.clone()));
        // Another sequence than that of the preparation, whose uids exist already.
        let seed = Random::new(seed).of("server", &[]).next();
        Standing::start(kv, clock, seed, self.obeys_roles).await
    }
}

impl Standing {
    async fn start(
        kv: MemoryKv,
        clock: TestClock,
        seed: u64,
        obeys_roles: bool,
    ) -> Result<Self, Problem> {
        let config = ServerConfig {
            listen: None,
            controllers: [].into(),
            authorization: authorization(obeys_roles),
            seed: Some(seed),
            clock: Arc::new(clock.clone()),
            store: Some(kv.clone()),
            ..ServerConfig::default()
        };
        let server = Server::start(config).await.map_err(setup)?;
        Ok(Self { server, kv, clock })
    }

    /// Returns a transport to the server, which nothing is put in front of.
    ///
    /// # Errors
    /// The user agent is not a valid header.
    pub(crate) fn transport(&self, login: &Login) -> Result<Transport, Problem> {
        let agent = login.user_agent.as_deref();
        let transport = self.server.in_process_transport(login.to_user(), agent);
        transport.map_err(setup)
    }

    /// Returns a client over a transport, with dates and random numbers of the world.
    pub(crate) fn client_over(&self, transport: Transport, seed: u64) -> Client {
        let clock = self.clock.clone();
        let config = Config {
            ambient: Ambient::new(move || clock.date(), seed),
            warnings: Arc::new(|_: &str| {}),
            ..Config::default()
        };
        Client::new(transport, config)
    }

    /// Returns a client without faults.
    ///
    /// # Errors
    /// The user agent is not a valid header.
    pub(crate) fn client(&self, login: &Login, seed: u64) -> Result<Client, Problem> {
        Ok(self.client_over(self.transport(login)?, seed))
    }
}

fn clock_at(date: Duration) -> Result<TestClock, Problem> {
    let clock = TestClock::continuing(date);
    clock.map_err(|error| setup(TestError::from(error)))
}

pub(crate) fn setup(error: impl std::fmt::Display) -> Problem {
    Problem::Setup {
        error: error.to_string(),
    }
}
