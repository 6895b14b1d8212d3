//! `Metrics`: the server's metrics, and `/metrics` in the Prometheus text format.
//!
//! Names, labels and buckets are those of upstream's API server v1.36, so that its dashboards and
//! alerts work. The counters of the storage stack are read at each scrape. Every label has a
//! bounded set of values: requests for unserved resources have no resource, unknown methods are
//! `other`, and resources are bounded by the served definitions, whose metrics end with them.

mod access;
mod admission;
mod audit;
mod distribution;
mod encryption;
mod exposition;
pub(crate) mod flow_control;
mod labels;
mod storage;
mod table;
mod watches;

use self::labels::{ABORTED, BODIES, COUNTED, DEPRECATED, REQUEST, TERMINATED, TIMED};
use self::table::{Labels, Table};
use crate::response::ApiResponse;
use crate::version;
pub(crate) use access::AccessMetrics;
pub(crate) use admission::{of_policies, of_webhooks};
pub(crate) use audit::families as audit_families;
pub(crate) use distribution::Distribution;
use kubist_registry::Registry;
use kubist_registry::metrics::Count;
pub(crate) use labels::RequestLabels;
use prometheus::proto::MetricFamily;
use prometheus::{Encoder, IntGaugeVec, Opts, TEXT_FORMAT, TextEncoder};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
pub(crate) use table::Gauge;
pub(crate) use watches::WatchMetrics;
use watches::Watches;

/// Buckets of request durations in seconds, as upstream.
static REQUEST_SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Buckets of durations without webhooks and queues, as upstream.
static SLI_SECONDS: [f64; 21] = [
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0,
    30.0, 45.0, 60.0,
];
/// Buckets of the duration of initial events in seconds, as upstream.
static WATCH_LIST_SECONDS: [f64; 17] = [
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Buckets of request body bytes, as upstream: first bound, step and count, up to 3.05 MB.
const BODY_BYTES: (f64, f64, usize) = (50_000.0, 100_000.0, 31);
/// Buckets of response bytes, as upstream: 1 kB to 1 GB.
static ANSWER_BYTES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// The metrics of a server.
pub(crate) struct Metrics {
    /// What has no labels of requests.
    others: prometheus::Registry,
    requests: Table<Count>,
    took: Table<Distribution>,
    sli: Table<Distribution>,
    body_bytes: Table<Distribution>,
    answer_bytes: Table<Distribution>,
    aborted: Table<Count>,
    terminated: Table<Count>,
    handshake_errors: Count,
    deprecated: Table<Gauge>,
    mutating: Arc<Gauge>,
    read_only: Arc<Gauge>,
    long_running: Table<Gauge>,
    watch_lists: Table<Distribution>,
    watches: Watches,
    access: AccessMetrics,
}

const WATCH_LISTS: &[&str] = &["group", "resource", "scope", "version"];

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            others: others(),
            requests: Table::new(
                "apiserver_request_total",
                "Requests by verb, dry run, resource, scope and code",
                COUNTED,
                Count::default,
            ),
            took: Table::new(
                "apiserver_request_duration_seconds",
                "How long requests took, to the last byte of the response",
                TIMED,
                || Distribution::of_seconds(&REQUEST_SECONDS),
            ),
            sli: Table::new(
                "apiserver_request_sli_duration_seconds",
                "How long requests took that are no dry runs; nothing is queued here",
                REQUEST,
                || Distribution::of_seconds(&SLI_SECONDS),
            ),
            body_bytes: Table::new(
                "apiserver_request_body_size_bytes",
                "Bytes of bodies of requests",
                BODIES,
                || Distribution::of_bytes(&BODY_BOUNDS),
            ),
            answer_bytes: Table::new(
                "apiserver_response_sizes",
                "Bytes of answers to GET and LIST",
                REQUEST,
                || Distribution::of_bytes(&ANSWER_BYTES),
            ),
            aborted: Table::new(
                "apiserver_request_aborts_total",
                "Requests whose clients disconnected before there was a response",
                ABORTED,
                Count::default,
            ),
            terminated: Table::new(
                "apiserver_request_terminations_total",
                "Requests that the server gave up, because they took too long",
                TERMINATED,
                Count::default,
            ),
            handshake_errors: Count::default(),
            deprecated: Table::new(
                "apiserver_requested_deprecated_apis",
                "1 for each deprecated resource that was asked for",
                DEPRECATED,
                Gauge::default,
            ),
            mutating: Arc::default(),
            read_only: Arc::default(),
            long_running: Table::new(
                "apiserver_longrunning_requests",
                "Long-running requests under way, such as watches",
                REQUEST,
                Gauge::default,
            ),
            watch_lists: Table::new(
                "apiserver_watch_list_duration_seconds",
                "How long watches took to send everything that was there",
                WATCH_LISTS,
                || Distribution::of_seconds(&WATCH_LIST_SECONDS),
            ),
            watches: Watches::default(),
            access: AccessMetrics::new(),
        }
    }

    /// The metrics of authentication and authorization.
    pub(crate) fn access(&self) -> &AccessMetrics {
        &self.access
    }

    /// Returns the gauge of requests in flight for this request.
    pub(crate) fn under_way(&self, labels: &RequestLabels) -> Arc<Gauge> {
        if labels.long_running {
            self.long_running.get(labels.request())
        } else if labels.mutating {
            Arc::clone(&self.mutating)
        } else {
            Arc::clone(&self.read_only)
        }
    }

    /// Counts a request with a response.
    pub(crate) fn answered(&self, labels: &RequestLabels, code: u16, took: Duration, bytes: u64) {
        let request = labels.request();
        self.requests.with(labels.counted(code), |it| it.add(1));
        self.took.with(labels.timed(), |it| it.took(took));
        if labels.dry_run.is_empty() {
            self.sli.with(request, |it| it.took(took));
        }
        if matches!(labels.verb, "GET" | "LIST") {
            self.answer_bytes.with(request, |it| it.sized(bytes));
        }
    }

    /// Counts a request whose client disconnected before the response.
    pub(crate) fn abandoned(&self, labels: &RequestLabels) {
        self.aborted.with(labels.aborted(), |it| it.add(1));
    }

    /// Counts a request that the server terminated with this code.
    pub(crate) fn terminated(&self, labels: &RequestLabels, code: u16) {
        self.terminated
            .with(labels.terminated(code), |it| it.add(1));
    }

    /// Counts a request body.
    pub(crate) fn body(&self, labels: &RequestLabels, bytes: usize) {
        if let Some(labels) = labels.body() {
            self.body_bytes.with(labels, |it| it.sized(bytes as u64));
        }
    }

    /// Counts a failed TLS handshake.
    pub(crate) fn handshake_failed(&self) {
        self.handshake_errors.add(1);
    }

    /// Notes a request for a deprecated resource; upstream names no release in which one of these
    /// is removed.
    pub(crate) fn deprecated(&self, labels: &RequestLabels) {
        self.deprecated.with(labels.deprecated(), |it| it.set(1));
    }

    /// Returns the metric of watch list durations.
    pub(crate) fn watch_list(
        &self,
        labels: &RequestLabels,
        scope: &'static str,
    ) -> Arc<Distribution> {
        self.watch_lists.get(labels.watch_list(scope))
    }

    /// Returns the counters of a watch.
    pub(crate) fn watch(
        &self,
        group: &'static str,
        version: &'static str,
        resource: &'static str,
    ) -> WatchMetrics {
        self.watches.open(Labels {
            group,
            resource,
            version,
            ..Labels::default()
        })
    }

    /// Drops the metrics of resources that are no longer served, except those that requests still
    /// count in. Returns whether there are such.
    pub(crate) fn forget_unserved(&self, registry: &Registry) -> bool {
        let (groups, mut served) = (registry.groups(), BTreeSet::new());
        for group in groups.iter() {
            for version in &group.versions {
                let names = version.resources.iter().map(|it| it.facts.plural);
                served.extend(names.map(|name| (&*group.name, name)));
            }
        }
        let is_served = |labels: &Labels| served.contains(&(labels.group, labels.resource));
        let remain = [
            self.requests.retain(&is_served),
            self.took.retain(&is_served),
            self.sli.retain(&is_served),
            self.body_bytes.retain(&is_served),
            self.answer_bytes.retain(&is_served),
            self.aborted.retain(&is_served),
            self.terminated.retain(&is_served),
            self.deprecated.retain(&is_served),
            self.long_running.retain(&is_served),
            self.watch_lists.retain(&is_served),
            self.watches.retain(&is_served),
        ];
        remain.contains(&true)
    }

    fn families(&self) -> Vec<MetricFamily> {
        self.watches.add();
        let in_flight = table::gauges(
            "apiserver_current_inflight_requests",
            "Requests under way, except long-running ones",
            &["request_kind"],
            &[("mutating", &self.mutating), ("readOnly", &self.read_only)],
        );
        let handshakes = table::counter(
            "apiserver_tls_handshake_errors_total",
            "Connections whose TLS handshake failed",
            &self.handshake_errors,
        );
        let all = [
            self.requests.family(),
            self.took.family(),
            self.sli.family(),
            self.body_bytes.family(),
            self.answer_bytes.family(),
            self.aborted.family(),
            self.terminated.family(),
            handshakes,
            self.deprecated.family(),
            in_flight,
            self.long_running.family(),
            self.watch_lists.family(),
        ];
        let mut families = self.others.gather();
        families.extend(all.into_iter().flatten());
        families.extend(self.watches.families());
        families.extend(self.access.families());
        families
    }

    /// Returns the response to a scrape, with further families that are counted elsewhere.
    pub(crate) async fn scrape(
        &self,
        registry: &Registry,
        further: Vec<MetricFamily>,
    ) -> ApiResponse {
        let mut families = self.families();
        families.extend(further);
        families.extend(admission::of_chain(registry.admission()));
        families.extend(storage::families(registry).await);
        families.extend(encryption::families(registry));
        families.sort_by(|a, b| a.name().cmp(b.name()));
        let mut text = Vec::new();
        // Writing to memory cannot fail, and every family has a metric.
        if TextEncoder::new().encode(&families, &mut text).is_err() {
            text.clear();
        }
        ApiResponse::whole(TEXT_FORMAT, text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

const VALID: &str = "names, labels and bounds are constants that are valid";

/// Returns what the build and the kernel say.
fn others() -> prometheus::Registry {
    let others = prometheus::Registry::new();
    let build = Opts::new(
        "kubernetes_build_info",
        "1, with what the server was built from",
    );
    let build = IntGaugeVec::new(build, &version::BUILD_LABELS).expect(VALID);
    build.with_label_values(&version::build()).set(1);
    others.register(Box::new(build)).expect("names differ");
    #[cfg(target_os = "linux")]
    {
        let process = prometheus::process_collector::ProcessCollector::for_self();
        others.register(Box::new(process)).expect("names differ");
    }
    others
}

static BODY_BOUNDS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let (first, step, count) = BODY_BYTES;
    prometheus::linear_buckets(first, step, count).expect(VALID)
});
