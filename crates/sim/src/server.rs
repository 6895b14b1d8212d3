//! `Server`: the real API server on the simulated store, which can stop and restart.

use crate::storage::Storage;
use crate::trace::Trace;
use kubist_apiserver::{ApiServer, Config, RunningServer};
use kubist_registry::{Registry, RegistryConfig, WallClock};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The date at which runs begin, in seconds since the Unix epoch.
const BEGIN: Duration = Duration::from_secs(1_800_000_000);
/// The maximum number of connections that wait to be accepted.
const WAITING_MAX: usize = 16;
/// How long to wait before a start that failed because of the store is repeated.
const START_PAUSE: Duration = Duration::from_millis(100);

/// The date, which advances with virtual time.
#[derive(Debug)]
struct VirtualDate {
    started: Instant,
}

impl WallClock for VirtualDate {
    fn now(&self) -> Duration {
        BEGIN + self.started.elapsed()
    }
}

/// The address of the server. Clones refer to the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Port {
    listening: Arc<Mutex<Option<mpsc::Sender<DuplexStream>>>>,
}

impl Port {
    /// Passes a connection to the server.
    pub(crate) async fn connect(&self, stream: DuplexStream) -> io::Result<()> {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let listening = self.listening.lock().clone();
        let sender = listening.ok_or_else(refused)?;
        sender.send(stream).await.map_err(|_| refused())
    }
}

/// The machine of the server.
#[derive(Debug)]
pub(crate) struct Server {
    storage: Arc<Storage>,
    port: Port,
    trace: Trace,
    seed: u64,
    /// The number of starts; each has different uids.
    starts: u64,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    graceful: CancellationToken,
    tasks: JoinSet<()>,
}

impl Server {
    pub(crate) fn new(storage: &Arc<Storage>, port: &Port, trace: &Trace, seed: u64) -> Self {
        Self {
            storage: Arc::clone(storage),
            port: port.clone(),
            trace: trace.clone(),
            seed,
            starts: 0,
            running: None,
        }
    }

    /// Starts the server.
    pub(crate) async fn start(&mut self) {
        self.starts += 1;
        let mut config = RegistryConfig::new(
            Arc::clone(&self.storage) as _,
            kubist_kinds::BuiltIn::shared(),
        );
        config.clock = Arc::new(VirtualDate {
            started: self.trace.started(),
        });
        config.seed = Some(self.seed.wrapping_mul(1000).wrapping_add(self.starts));
        let registry = Registry::new(config);
        while registry.start().await.is_err() {
            tokio::time::sleep(START_PAUSE).await;
        }
        let config = Config {
            listen: None,
            drain_timeout: Duration::from_secs(2),
            ..Config::default()
        };
        let server = ApiServer::bind(config, registry).await;
        let server = server.expect("it needs neither a port nor a file");
        let (sender, waiting) = mpsc::channel(WAITING_MAX);
        let graceful = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(server, waiting, graceful.clone()));
        let engine = self.storage.engine();
        tasks.spawn(async move { engine.run().await });
        *self.port.listening.lock() = Some(sender);
        self.running = Some(Running { graceful, tasks });
        self.trace.note("server", format_args!("started"));
    }

    /// Stops the server, at once or gracefully.
    pub(crate) async fn stop(&mut self, graceful: bool) {
        *self.port.listening.lock() = None;
        let Some(mut running) = self.running.take() else {
            return;
        };
        if graceful {
            running.graceful.cancel();
            running.tasks.join_next().await;
        }
        running.tasks.shutdown().await;
        self.trace
            .note("server", format_args!("stopped, graceful: {graceful}"));
    }
}

async fn serve(
    server: RunningServer,
    mut waiting: mpsc::Receiver<DuplexStream>,
    graceful: CancellationToken,
) {
    loop {
        tokio::select! {
            biased;
            () = graceful.cancelled() => break,
            stream = waiting.recv() => {
                let Some(stream) = stream else { break };
                if server.serve_stream(stream).await.is_err() {
                    break;
                }
            }
        }
    }
    server.shutdown().await;
}
