//! `Metrics`: the server's metrics, and `/metrics` in the Prometheus text format.
//!
//! Names, labels and buckets are those of upstream's API server v1.36, so that its dashboards and
//! alerts work. The counters of the storage stack are read at each scrape. Every label has a
//! bounded set of values: requests for unserved resources have no resource, unknown methods are
//! `other`, and resources are bounded by the served definitions.

mod encryption;
mod exposition;
mod labels;
mod storage;
mod watches;

use self::labels::{ABORTED, COUNTED, REQUEST, TERMINATED, TIMED};
use crate::response::ApiResponse;
use crate::routes::version;
use kubist_registry::Registry;
pub(crate) use labels::RequestLabels;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, TEXT_FORMAT, TextEncoder,
};
use std::fmt;
use std::time::Duration;
pub(crate) use watches::WatchMetrics;
use watches::Watches;

/// Buckets of request durations in seconds, as upstream.
const REQUEST_SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Buckets of durations without webhooks and queues, as upstream.
const SLI_SECONDS: [f64; 21] = [
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0,
    30.0, 45.0, 60.0,
];
/// Buckets of the duration of initial events in seconds, as upstream.
const WATCH_LIST_SECONDS: [f64; 17] = [
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Buckets of request body bytes, as upstream: first bound, step and count, up to 3.05 MB.
const BODY_BYTES: (f64, f64, usize) = (50_000.0, 100_000.0, 31);
/// Buckets of response bytes, as upstream: 1 kB to 1 GB.
const ANSWER_BYTES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Buckets of watch event bytes, as upstream: 1 KiB to 128 KiB.
const EVENT_BYTES: [f64; 8] = [
    1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0,
];

/// The metrics of a server.
pub(crate) struct Metrics {
    all: prometheus::Registry,
    requests: IntCounterVec,
    took: HistogramVec,
    sli: HistogramVec,
    body_bytes: HistogramVec,
    answer_bytes: HistogramVec,
    aborted: IntCounterVec,
    terminated: IntCounterVec,
    handshake_errors: IntCounter,
    deprecated: IntGaugeVec,
    in_flight: IntGaugeVec,
    long_running: IntGaugeVec,
    events: IntCounterVec,
    event_bytes: HistogramVec,
    watch_lists: HistogramVec,
    watches: Watches,
}

const RESOURCE: [&str; 3] = ["group", "version", "resource"];
const BODIES: [&str; 3] = ["group", "resource", "verb"];
const WATCH_LISTS: [&str; 4] = ["group", "version", "resource", "scope"];
const DEPRECATED: [&str; 5] = [
    "group",
    "version",
    "resource",
    "subresource",
    "removed_release",
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let metrics = Self {
            all: prometheus::Registry::new(),
            requests: counter(
                "apiserver_request_total",
                "Requests by verb, dry run, resource, scope and code",
                &COUNTED,
            ),
            took: histogram(
                "apiserver_request_duration_seconds",
                "How long requests took, to the last byte of the response",
                &TIMED,
                &REQUEST_SECONDS,
            ),
            sli: sli(),
            body_bytes: bodies(),
            answer_bytes: histogram(
                "apiserver_response_sizes",
                "Bytes of answers to GET and LIST",
                &REQUEST,
                &ANSWER_BYTES,
            ),
            aborted: counter(
                "apiserver_request_aborts_total",
                "Requests whose clients disconnected before there was a response",
                &ABORTED,
            ),
            terminated: counter(
                "apiserver_request_terminations_total",
                "Requests that the server gave up, because they took too long",
                &TERMINATED,
            ),
            handshake_errors: IntCounter::new(
                "apiserver_tls_handshake_errors_total",
                "Connections whose TLS handshake failed",
            )
            .expect(VALID),
            deprecated: gauge(
                "apiserver_requested_deprecated_apis",
                "1 for each deprecated resource that was asked for",
                &DEPRECATED,
            ),
            in_flight: gauge(
                "apiserver_current_inflight_requests",
                "Requests under way, except long-running ones",
                &["request_kind"],
            ),
            long_running: gauge(
                "apiserver_longrunning_requests",
                "Long-running requests under way, such as watches",
                &REQUEST,
            ),
            events: counter(
                "apiserver_watch_events_total",
                "Events sent to watches",
                &RESOURCE,
            ),
            event_bytes: histogram(
                "apiserver_watch_events_sizes",
                "Bytes of events sent to watches",
                &RESOURCE,
                &EVENT_BYTES,
            ),
            watch_lists: watch_lists(),
            watches: Watches::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let build = gauge(
            "kubernetes_build_info",
            "1, with what the server was built from",
            &version::BUILD_LABELS,
        );
        build.with_label_values(&version::build()).set(1);
        let all: [Box<dyn prometheus::core::Collector>; 15] = [
            Box::new(self.requests.clone()),
            Box::new(self.took.clone()),
            Box::new(self.sli.clone()),
            Box::new(self.body_bytes.clone()),
            Box::new(self.answer_bytes.clone()),
            Box::new(self.aborted.clone()),
            Box::new(self.terminated.clone()),
            Box::new(self.handshake_errors.clone()),
            Box::new(self.deprecated.clone()),
            Box::new(self.watch_lists.clone()),
            Box::new(self.in_flight.clone()),
            Box::new(self.long_running.clone()),
            Box::new(self.events.clone()),
            Box::new(self.event_bytes.clone()),
            Box::new(build),
        ];
        for collector in all {
            self.all.register(collector).expect("names differ");
        }
        #[cfg(target_os = "linux")]
        {
            let process = prometheus::process_collector::ProcessCollector::for_self();
            self.all.register(Box::new(process)).expect("names differ");
        }
        for kind in ["mutating", "readOnly"] {
            self.in_flight.with_label_values(&[kind]).set(0);
        }
    }

    /// Returns the gauge of requests in flight for this request.
    pub(crate) fn under_way(&self, labels: &RequestLabels) -> IntGauge {
        if labels.long_running {
            return self.long_running.with_label_values(&labels.request());
        }
        let kind = if labels.mutating {
            "mutating"
        } else {
            "readOnly"
        };
        self.in_flight.with_label_values(&[kind])
    }

    /// Counts a request with a response.
    pub(crate) fn answered(&self, labels: &RequestLabels, code: u16, took: Duration, bytes: u64) {
        let mut number = [0; 3];
        let code = decimal(code, &mut number);
        self.requests.with_label_values(&labels.counted(code)).inc();
        let timed = self.took.with_label_values(&labels.timed());
        timed.observe(took.as_secs_f64());
        if labels.dry_run.is_empty() {
            let sli = self.sli.with_label_values(&labels.request());
            sli.observe(took.as_secs_f64());
        }
        if matches!(labels.verb, "GET" | "LIST") {
            let sizes = self.answer_bytes.with_label_values(&labels.request());
            sizes.observe(exposition::number(bytes));
        }
    }

    /// Counts a request whose client disconnected before the response.
    pub(crate) fn abandoned(&self, labels: &RequestLabels) {
        self.aborted.with_label_values(&labels.aborted()).inc();
    }

    /// Counts a request that the server terminated with this code.
    pub(crate) fn terminated(&self, labels: &RequestLabels, code: u16) {
        let mut number = [0; 3];
        let code = decimal(code, &mut number);
        let labels = labels.terminated(code);
        self.terminated.with_label_values(&labels).inc();
    }

    /// Counts a request body.
    pub(crate) fn body(&self, labels: &RequestLabels, bytes: usize) {
        if let Some(verb) = labels.body_verb() {
            let labels = [labels.group, labels.resource, verb];
            let sizes = self.body_bytes.with_label_values(&labels);
            sizes.observe(exposition::number(bytes as u64));
        }
    }

    /// Counts a failed TLS handshake.
    pub(crate) fn handshake_failed(&self) {
        self.handshake_errors.inc();
    }

    /// Notes a request for a deprecated resource; upstream names no release in which one of these
    /// is removed.
    pub(crate) fn deprecated(&self, labels: &RequestLabels) {
        let labels = [
            labels.group,
            labels.version,
            labels.resource,
            labels.subresource,
            "",
        ];
        self.deprecated.with_label_values(&labels).set(1);
    }

    /// Returns the histogram of watch list durations.
    pub(crate) fn watch_list(&self, labels: &RequestLabels, scope: &str) -> Histogram {
        let labels = [labels.group, labels.version, labels.resource, scope];
        self.watch_lists.with_label_values(&labels)
    }

    /// Returns the counters of a watch.
    pub(crate) fn watch(&self, group: &str, version: &str, resource: &str) -> WatchMetrics {
        let labels = [group, version, resource];
        self.watches.open(
            &self.events.with_label_values(&labels),
            &self.event_bytes.with_label_values(&labels),
        )
    }

    /// Returns the response to a scrape.
    pub(crate) async fn scrape(&self, registry: &Registry) -> ApiResponse {
        self.watches.add();
        let mut families = self.all.gather();
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

fn counter(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect(VALID)
}

fn gauge(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect(VALID)
}

fn histogram(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let opts = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    HistogramVec::new(opts, labels).expect(VALID)
}

fn sli() -> HistogramVec {
    histogram(
        "apiserver_request_sli_duration_seconds",
        "How long requests took that are no dry runs; nothing is queued here",
        &REQUEST,
        &SLI_SECONDS,
    )
}

fn bodies() -> HistogramVec {
    histogram(
        "apiserver_request_body_size_bytes",
        "Bytes of bodies of requests",
        &BODIES,
        &body_bounds(),
    )
}

fn watch_lists() -> HistogramVec {
    histogram(
        "apiserver_watch_list_duration_seconds",
        "How long watches took to send everything that was there",
        &WATCH_LISTS,
        &WATCH_LIST_SECONDS,
    )
}

fn body_bounds() -> Vec<f64> {
    let (first, step, count) = BODY_BYTES;
    prometheus::linear_buckets(first, step, count).expect(VALID)
}

/// Formats a status code without an allocation.
fn decimal(code: u16, out: &mut [u8; 3]) -> &str {
    let mut rest = code;
    for digit in out.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    std::str::from_utf8(out).unwrap_or_default()
}
