//! `Honest`: well-behaved clients that send few requests at a steady rate and measure latencies.
//!
//! They have a thread and a runtime of their own, so that the hostile clients in this process delay
//! them no more than another process would.

use crate::access::{Access, Who};
use crate::call::{Call, MERGE_PATCH};
use crate::connection::{Connection, Windows};
use crate::latency::{Figures, Latencies};
use crate::stage::Stage;
use crate::{Failure, Outcome};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The namespace of their objects.
pub(crate) const NAMESPACE: &str = "honest";
/// The interval of requests of each client.
const INTERVAL: Duration = Duration::from_millis(5);
/// The pause after a connection was closed.
const HUNG_UP_PAUSE: Duration = Duration::from_millis(50);
/// The time limit for reconnecting.
const END_LIMIT: Duration = Duration::from_secs(30);

/// The request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `/livez`.
    Livez,
    /// One small object.
    Get,
    /// A small merge patch of it.
    Patch,
}

impl Kind {
    /// All requests.
    pub(crate) const ALL: [Self; 3] = [Self::Livez, Self::Get, Self::Patch];

    /// Its name in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Livez => "livez",
            Self::Get => "get",
            Self::Patch => "patch",
        }
    }

    fn call(self, number: u64) -> Call {
        let small = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/small");
        match self {
            Self::Livez => Call::get(self.name(), "/livez"),
            Self::Get => Call::get(self.name(), small),
            Self::Patch => {
                let body = json!({"data": {"number": number.to_string()}});
                Call::patch(self.name(), small, MERGE_PATCH, body.to_string())
            }
        }
    }
}

/// The results of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    /// Latencies.
    pub(crate) figures: BTreeMap<Kind, Figures>,
    /// Responses other than 200, and their counts.
    pub(crate) failures: BTreeMap<String, u64>,
}

/// Running well-behaved clients.
#[derive(Debug)]
pub(crate) struct Honest {
    stop: Arc<AtomicBool>,
    served: oneshot::Receiver<Outcome<Served>>,
}

/// Creates the object that they use.
pub(crate) async fn prepare(stage: &Stage) -> Outcome {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let object = json!({"metadata": {"name": "small"}, "data": {"number": "0"}});
    let call = Call::post("set up", path, object.to_string());
    match stage.administrator().await?.call(&call).await.status {
        201 => Ok(()),
        status => Err(format!("the config map was answered by {status}").into()),
    }
}

impl Honest {
    /// Connects all clients and starts them.
    pub(crate) async fn start(access: Arc<Access>) -> Outcome<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, begun) = oneshot::channel();
        let (tell, served) = oneshot::channel();
        let stopped = Arc::clone(&stop);
        std::thread::Builder::new()
            .name("honest".to_owned())
            .spawn(move || {
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                let result = match runtime.enable_all().build() {
                    Ok(runtime) => runtime.block_on(serve_all(access, stopped, ready)),
                    Err(error) => Err(error.into()),
                };
                // The receiver may have been dropped.
                tell.send(result).ok();
            })?;
        let honest = Self { stop, served };
        match begun.await {
            Ok(()) => Ok(honest),
            // They ended before they started; the error has the reason.
            Err(_) => match honest.end().await {
                Ok(_) => Err("the honest clients have not begun".into()),
                Err(error) => Err(error),
            },
        }
    }

    /// Stops them and returns their results.
    pub(crate) async fn end(self) -> Outcome<Served> {
        self.stop.store(true, Ordering::Relaxed);
        match tokio::time::timeout(END_LIMIT, self.served).await {
            Ok(Ok(served)) => served,
            Ok(Err(_)) => Err("the honest clients' thread panicked".into()),
            Err(_) => Err(format!("honest clients wait for more than {END_LIMIT:?}").into()),
        }
    }
}

async fn serve_all(
    access: Arc<Access>,
    stop: Arc<AtomicBool>,
    ready: oneshot::Sender<()>,
) -> Outcome<Served> {
    let mut opened = Vec::new();
    for kind in Kind::ALL {
        opened.push((kind, open(&access).await?));
    }
    // If the sender is gone, they stop.
    ready.send(()).ok();
    let mut clients = JoinSet::new();
    for (kind, connection) in opened {
        let (access, stop) = (Arc::clone(&access), Arc::clone(&stop));
        clients.spawn(async move { (kind, client(&access, kind, connection, &stop).await) });
    }
    let mut served = Served::default();
    while let Some(ended) = clients.join_next().await {
        let (kind, (latencies, failures)) = ended?;
        served.figures.insert(kind, latencies.figures());
        for (failure, count) in failures {
            *served.failures.entry(failure).or_default() += count;
        }
    }
    Ok(served)
}

async fn open(access: &Access) -> Result<Connection, Failure> {
    Connection::open(access, &Who::Administrator, Windows::OPEN).await
}

async fn client(
    access: &Access,
    kind: Kind,
    mut connection: Connection,
    stop: &AtomicBool,
) -> (Latencies, BTreeMap<String, u64>) {
    let mut latencies = Latencies::default();
    let mut failures: BTreeMap<String, u64> = BTreeMap::new();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let begun = Instant::now();
        let answer = connection.call(&kind.call(number)).await;
        let took = begun.elapsed();
        latencies.record(took, INTERVAL);
        if answer.status != 200 {
            let failure = format!("{}: {} {}", kind.name(), answer.status, answer.reason);
            *failures.entry(failure).or_default() += 1;
        }
        if answer.status == 0 {
            tokio::time::sleep(HUNG_UP_PAUSE).await;
            match open(access).await {
                Ok(again) => connection = again,
                Err(error) => {
                    let failure = format!("{}: {error}", kind.name());
                    *failures.entry(failure).or_default() += 1;
                }
            }
        }
        tokio::time::sleep(INTERVAL.saturating_sub(took)).await;
    }
    (latencies, failures)
}
