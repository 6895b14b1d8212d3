//! `Diagnostics`: what is told, and the answers.

use crate::figures;
use crate::health::{CheckResult, Checks};
use crate::metrics::Figures;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use kubist_apimachinery::Str;
use kubist_cache::Source;
use kubist_client::Client;
use kubist_controller::{Manager, Monitor};
use kubist_informers::{InformerState, InformerSummary, SharedInformerFactory};
use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use std::fmt;
#[cfg(feature = "leader-election")]
use std::time::Duration;

/// The media type of `OpenMetrics`.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// How long a lease may be overdue.
#[cfg(feature = "leader-election")]
const LEASE_TOLERANCE: Duration = Duration::from_secs(20);
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) type Informers = Box<dyn Fn() -> Vec<InformerSummary> + Send + Sync>;

/// What is told, and the answers to requests for it.
///
/// ```
/// # use kubist_client::Client;
/// # use kubist_controller::Manager;
/// # use kubist_diagnostics::{Diagnostics, DiagnosticsServer};
/// # use std::error::Error;
/// # async fn example(manager: Manager<Client>, client: Client) -> Result<(), Box<dyn Error>> {
/// let diagnostics = Diagnostics::new()
///     .with_manager(&manager)
///     .with_client(&client)
///     .liveness("disk", || std::fs::metadata("/data").map(drop).map_err(|it| it.to_string()));
/// let server = DiagnosticsServer::bind(diagnostics, "127.0.0.1:8080".parse()?).await?;
/// let manager = manager.with_task("diagnostics", |token| async move {
///     server.serve(token).await;
///     Ok(())
/// });
/// # drop(manager); Ok(()) }
/// ```
#[derive(Default)]
pub struct Diagnostics {
    monitors: Vec<Monitor>,
    informers: Vec<Informers>,
    clients: Vec<Client>,
    own: Vec<Own>,
    registry: Mutex<Registry>,
    liveness: Checks,
    readiness: Checks,
}

/// A metric of the program's that is read when it is asked for.
pub(crate) struct Own {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) read: Read,
}

/// How a metric is read.
pub(crate) enum Read {
    Counter(Box<dyn Fn() -> u64 + Send + Sync>),
    Gauge(Box<dyn Fn() -> f64 + Send + Sync>),
}

impl Diagnostics {
    /// Creates one that tells only that the process answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells about the controllers and informers of a manager, and makes readiness depend on the
    /// informers: each must have its first list. With leader election, it tells about the leader,
    /// too, as `with_leader` does. To be called once all controllers were added.
    #[must_use]
    pub fn with_manager<S: Source>(mut self, manager: &Manager<S>) -> Self {
        self.monitors.extend(manager.monitors());
        #[cfg(feature = "leader-election")]
        let this = match manager.leader_watch() {
            Some(leader) => self.with_leader(leader),
            None => self,
        };
        #[cfg(not(feature = "leader-election"))]
        let this = self;
        this.with_informers(manager.factory())
    }

    /// Tells about a controller.
    #[must_use]
    pub fn with_controller(mut self, monitor: Monitor) -> Self {
        self.monitors.push(monitor);
        self
    }

    /// Tells about the informers of a factory, and makes readiness depend on them: each must have
    /// its first list, for which the server must serve the kind.
    #[must_use]
    pub fn with_informers<S: Send + Sync + 'static>(
        mut self,
        factory: &SharedInformerFactory<S>,
    ) -> Self {
        let of = factory.clone();
        self.informers.push(Box::new(move || of.summary()));
        let of = factory.clone();
        let number = self.informers.len();
        let name = match number {
            1 => "informers".to_owned(),
            _ => format!("informers-{number}"),
        };
        self.readiness(name, move || all_synced(&of.summary()))
    }

    /// Tells about the connections and requests of a client.
    #[must_use]
    pub fn with_client(mut self, client: &Client) -> Self {
        self.clients.push(client.clone());
        self
    }

    /// Tells whether this process leads, as client-go's `leader_election_master_status`, and makes
    /// liveness depend on it: a leader whose lease is overdue by more than 20 s, client-go's usual
    /// tolerance, should be restarted.
    #[cfg(feature = "leader-election")]
    #[must_use]
    pub fn with_leader(self, leader: kubist_leader_election::LeaderWatch) -> Self {
        let (status, slow) = (leader.clone(), leader.clone());
        let name = leader.stats().name;
        let labels: &[(&'static str, &str)] = &[("name", &name)];
        self.gauge(
            "leader_election_master_status",
            "Whether this process leads: 1 or 0",
            labels,
            move || f64::from(u8::from(status.is_leader())),
        )
        .counter(
            "leader_election_slowpath",
            "Renewals that needed a read",
            labels,
            move || slow.stats().slow_paths,
        )
        .liveness("leaderElection", move || {
            leader
                .check(LEASE_TOLERANCE)
                .map_err(|error| error.to_string())
        })
    }

    /// Adds a gauge that is read when it is asked for.
    #[must_use]
    pub fn gauge(
        self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
        read: impl Fn() -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.with_own(name, help, labels, Read::Gauge(Box::new(read)))
    }

    /// Adds a counter that is read when it is asked for; `_total` is added to its name.
    #[must_use]
    pub fn counter(
        self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
        read: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.with_own(name, help, labels, Read::Counter(Box::new(read)))
    }

    fn with_own(
        mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, &str)],
        read: Read,
    ) -> Self {
        let labels = labels
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        self.own.push(Own {
            name,
            help,
            labels: labels.collect(),
            read,
        });
        self
    }

    /// Registers metrics of the program's own.
    ///
    /// ```
    /// # use kubist_diagnostics::Diagnostics;
    /// use kubist_diagnostics::prometheus_client::metrics::counter::Counter;
    /// let made: Counter = Counter::default();
    /// let diagnostics = Diagnostics::new()
    ///     .metrics(|registry| registry.register("buckets_made", "Buckets made", made.clone()));
    /// made.inc();
    /// # drop(diagnostics);
    /// ```
    #[must_use]
    pub fn metrics(self, register: impl FnOnce(&mut Registry)) -> Self {
        register(&mut self.registry.lock());
        self
    }

    /// Adds a check of liveness: if it fails, the process should be restarted. It must not block.
    #[must_use]
    pub fn liveness(
        mut self,
        name: impl Into<Str>,
        check: impl Fn() -> CheckResult + Send + Sync + 'static,
    ) -> Self {
        self.liveness.add(name.into(), check);
        self
    }

    /// Adds a check of readiness: while it fails, the process should get no requests. It must not
    /// block.
    #[must_use]
    pub fn readiness(
        mut self,
        name: impl Into<Str>,
        check: impl Fn() -> CheckResult + Send + Sync + 'static,
    ) -> Self {
        self.readiness.add(name.into(), check);
        self
    }

    /// Answers a request.
    pub fn handle<B>(&self, request: &Request<B>) -> Response<Bytes> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let refused = "only GET and HEAD are allowed\n".to_owned();
            return answer(StatusCode::METHOD_NOT_ALLOWED, TEXT, refused);
        }
        let path = request.uri().path();
        let query = request.uri().query().unwrap_or_default();
        for (root, checks) in [
            ("/healthz", &self.liveness),
            ("/livez", &self.liveness),
            ("/readyz", &self.readiness),
        ] {
            let Some(below) = path.strip_prefix(root) else {
                continue;
            };
            let checked = match below.strip_prefix('/') {
                None if below.is_empty() => checks.answer(&root[1..], query),
                Some(name) => checks.one(name),
                None => continue,
            };
            return match checked {
                Some((true, text)) => answer(StatusCode::OK, TEXT, text),
                Some((false, text)) => answer(StatusCode::INTERNAL_SERVER_ERROR, TEXT, text),
                None => not_found(),
            };
        }
        match path {
            "/metrics" => answer(StatusCode::OK, OPEN_METRICS, self.open_metrics()),
            "/debug/controllers" => {
                let figures = figures::controllers(&self.monitors);
                answer(StatusCode::OK, JSON, figures.to_string())
            }
            "/debug/informers" => {
                let figures = figures::informers(&self.summaries());
                answer(StatusCode::OK, JSON, figures.to_string())
            }
            _ => not_found(),
        }
    }

    fn summaries(&self) -> Vec<InformerSummary> {
        self.informers.iter().flat_map(|it| it()).collect()
    }

    /// Returns all metrics as text.
    fn open_metrics(&self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Figures {
            controllers: self
                .monitors
                .iter()
                .map(|it| (it.name().clone(), it.stats()))
                .collect(),
            informers: self.summaries(),
            clients: self
                .clients
                .iter()
                .map(|it| (host_of(it), it.transport().stats()))
                .collect(),
            requests: self
                .clients
                .iter()
                .map(|it| (host_of(it), it.transport().request_stats()))
                .collect(),
            own: self.own.iter().map(Own::value).collect(),
        }));
        let mut text = String::new();
        let encoded = encode(&mut text, &registry).and_then(|()| {
            // Each text has an end mark.
            text.truncate(text.trim_end_matches("# EOF\n").len());
            encode(&mut text, &self.registry.lock())
        });
        match encoded {
            Ok(()) => text,
            Err(_) => "# the metrics could not be written\n# EOF\n".to_owned(),
        }
    }
}

/// Returns the host and port of a client's server, as client-go labels its metrics.
fn host_of(client: &Client) -> String {
    let server = client.transport().server();
    server.split("://").last().unwrap_or_default().to_owned()
}

/// Checks that every informer has its first list.
fn all_synced(informers: &[InformerSummary]) -> CheckResult {
    let late = informers
        .iter()
        .filter(|it| it.state != InformerState::Synced);
    let late: Vec<&str> = late.map(|it| &*it.name).collect();
    if late.is_empty() {
        return Ok(());
    }
    Err(format!("no first list of {}", late.join(", ")))
}

fn answer(code: StatusCode, media_type: &'static str, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = code;
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn not_found() -> Response<Bytes> {
    let paths = "there are /metrics, /healthz, /readyz, /debug/controllers and /debug/informers\n";
    answer(StatusCode::NOT_FOUND, TEXT, paths.to_owned())
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagnostics")
            .field("controllers", &self.monitors.len())
            .field("liveness", &self.liveness)
            .field("readiness", &self.readiness)
            .finish_non_exhaustive()
    }
}
