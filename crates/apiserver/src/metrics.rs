//! `Metrics`: what the server counts, and `/metrics` in the text format of Prometheus.
//!
//! Names, labels and buckets are those of upstream's API server, as of v1.36, so that its
//! dashboards and alerts fit. What the storage stack counts is read from it when somebody asks.
//! Every label has a bounded set of values: requests about what is not served have no resource,
//! unknown methods are `other`, and kinds are bounded by how many definitions are served.

mod exposition;
mod labels;
mod storage;

pub(crate) use labels::RequestLabels;

use crate::answer::Answer;
use crate::version;
use kubist_registry::Registry;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, TEXT_FORMAT, TextEncoder,
};
use std::fmt;
use std::time::Duration;

/// Seconds that requests take, as upstream.
const REQUEST_SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Bytes of answers, as upstream: 1 kB to 1 GB.
const ANSWER_BYTES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Bytes of events, as upstream: 1 KiB to 128 KiB.
const EVENT_BYTES: [f64; 8] = [
    1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0,
];

/// What the server counts.
pub(crate) struct Metrics {
    all: prometheus::Registry,
    requests: IntCounterVec,
    took: HistogramVec,
    answer_bytes: HistogramVec,
    aborted: IntCounterVec,
    in_flight: IntGaugeVec,
    long_running: IntGaugeVec,
    events: IntCounterVec,
    event_bytes: HistogramVec,
}

/// The counters of one watch.
#[derive(Clone)]
pub(crate) struct WatchMetrics {
    events: IntCounter,
    bytes: Histogram,
}

impl WatchMetrics {
    /// Counts an event of so many bytes.
    pub(crate) fn sent(&self, bytes: usize) {
        self.events.inc();
        self.bytes.observe(exposition::number(bytes as u64));
    }
}

impl fmt::Debug for WatchMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchMetrics")
    }
}

/// What the labels of requests are called.
const REQUEST: [&str; 7] = [
    "verb",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
    "component",
];
const TIMED: [&str; 8] = [
    "verb",
    "dry_run",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
    "component",
];
const COUNTED: [&str; 9] = [
    "verb",
    "dry_run",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
    "component",
    "code",
];
const ABORTED: [&str; 6] = [
    "verb",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
];
const WATCHED: [&str; 3] = ["group", "version", "resource"];

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
                "How long requests took, to the last byte of the answer",
                &TIMED,
                &REQUEST_SECONDS,
            ),
            answer_bytes: histogram(
                "apiserver_response_sizes",
                "Bytes of answers to GET and LIST",
                &REQUEST,
                &ANSWER_BYTES,
            ),
            aborted: counter(
                "apiserver_request_aborts_total",
                "Requests whose clients went before there was an answer",
                &ABORTED,
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
                &WATCHED,
            ),
            event_bytes: histogram(
                "apiserver_watch_events_sizes",
                "Bytes of events sent to watches",
                &WATCHED,
                &EVENT_BYTES,
            ),
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
        let all: [Box<dyn prometheus::core::Collector>; 9] = [
            Box::new(self.requests.clone()),
            Box::new(self.took.clone()),
            Box::new(self.answer_bytes.clone()),
            Box::new(self.aborted.clone()),
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

    /// The requests under way that one like this belongs to.
    pub(crate) fn under_way(&self, labels: &RequestLabels) -> IntGauge {
        if labels.long_running {
            return self.long_running.with_label_values(&labels.request());
        }
        let kind = if labels.is_mutating() {
            "mutating"
        } else {
            "readOnly"
        };
        self.in_flight.with_label_values(&[kind])
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, labels: &RequestLabels, code: u16, took: Duration, bytes: u64) {
        let mut number = [0; 3];
        let code = decimal(code, &mut number);
        self.requests.with_label_values(&labels.counted(code)).inc();
        let timed = self.took.with_label_values(&labels.timed());
        timed.observe(took.as_secs_f64());
        if matches!(labels.verb, "GET" | "LIST") {
            let sizes = self.answer_bytes.with_label_values(&labels.request());
            sizes.observe(exposition::number(bytes));
        }
    }

    /// Counts a request whose client did not wait for the answer.
    pub(crate) fn abandoned(&self, labels: &RequestLabels) {
        self.aborted.with_label_values(&labels.aborted()).inc();
    }

    /// The counters of a watch.
    pub(crate) fn watch(&self, group: &str, version: &str, resource: &str) -> WatchMetrics {
        let labels = [group, version, resource];
        WatchMetrics {
            events: self.events.with_label_values(&labels),
            bytes: self.event_bytes.with_label_values(&labels),
        }
    }

    /// The answer to a scrape.
    pub(crate) async fn scrape(&self, registry: &Registry) -> Answer {
        let mut families = self.all.gather();
        families.extend(storage::families(registry).await);
        families.sort_by(|a, b| a.name().cmp(b.name()));
        let mut text = Vec::new();
        // Writing to memory cannot fail, and no family is without a metric.
        if TextEncoder::new().encode(&families, &mut text).is_err() {
            text.clear();
        }
        Answer::whole(TEXT_FORMAT, text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

const VALID: &str = "names and labels are constants that are valid";

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

/// A code of HTTP in decimals, without allocating.
fn decimal(code: u16, out: &mut [u8; 3]) -> &str {
    let mut rest = code;
    for digit in out.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    std::str::from_utf8(out).unwrap_or_default()
}
