//! Figures as `OpenMetrics`, under the names of client-go and controller-runtime.

use crate::diagnostics::{Own, Read};
use kubist_apimachinery::Str;
use kubist_client::{REQUEST_TIME_BOUNDS, RequestStats};
use kubist_controller::{Histogram, Stats};
use kubist_informers::InformerSummary;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::collections::BTreeMap;
use std::fmt::Error;
use std::time::Duration;

/// The bounds of reconcile times in milliseconds, as controller-runtime's.
const RECONCILE_BOUNDS: [u64; 40] = [
    5, 10, 25, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1_000, 1_250,
    1_500, 1_750, 2_000, 2_500, 3_000, 3_500, 4_000, 4_500, 5_000, 6_000, 7_000, 8_000, 9_000,
    10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000,
];
/// The bounds of queue times in microseconds: powers of ten up to 16 minutes, as client-go's.
const QUEUE_BOUNDS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    1_000_000_000,
];

/// What is told, read at one time.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) controllers: Vec<(Str, Stats)>,
    pub(crate) informers: Vec<InformerSummary>,
    pub(crate) clients: Vec<(String, ClientStats)>,
    pub(crate) requests: Vec<(String, BTreeMap<&'static str, RequestStats>)>,
    pub(crate) own: Vec<OwnValue>,
}

pub(crate) type ClientStats = kubist_client::TransportStats;

/// A metric of the program's that was read.
#[derive(Debug)]
pub(crate) struct OwnValue {
    name: &'static str,
    help: &'static str,
    labels: Vec<(&'static str, String)>,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Counter(u64),
    Gauge(f64),
}

impl Own {
    pub(crate) fn value(&self) -> OwnValue {
        OwnValue {
            name: self.name,
            help: self.help,
            labels: self.labels.clone(),
            value: match &self.read {
                Read::Counter(read) => Value::Counter(read()),
                Read::Gauge(read) => Value::Gauge(read()),
            },
        }
    }
}

/// Label names and values of one metric.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Writes metric families.
struct Writer<'a> {
    encoder: DescriptorEncoder<'a>,
}

impl Writer<'_> {
    /// Writes one family: `each` writes its metrics.
    fn family(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        each: impl FnOnce(&mut MetricEncoder<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut family = self.encoder.encode_descriptor(name, help, None, kind)?;
        each(&mut family)
    }

    fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        values: impl Iterator<Item = (Labels<'a>, u64)>,
    ) -> Result<(), Error> {
        self.family(name, help, MetricType::Counter, |family| {
            for (labels, value) in values {
                if labels.is_empty() {
                    family.encode_counter::<NoLabelSet, _, u64>(&value, None)?;
                    continue;
                }
                let mut metric = family.encode_family(&labels)?;
                metric.encode_counter::<NoLabelSet, _, u64>(&value, None)?;
            }
            Ok(())
        })
    }

    fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        values: impl Iterator<Item = (Labels<'a>, f64)>,
    ) -> Result<(), Error> {
        self.family(name, help, MetricType::Gauge, |family| {
            for (labels, value) in values {
                if labels.is_empty() {
                    family.encode_gauge(&value)?;
                } else {
                    family.encode_family(&labels)?.encode_gauge(&value)?;
                }
            }
            Ok(())
        })
    }

    fn histograms<'a>(
        &mut self,
        (name, help): (&str, &str),
        bounds: &[Duration],
        values: impl Iterator<Item = (Labels<'a>, &'a Histogram)>,
    ) -> Result<(), Error> {
        self.family(name, help, MetricType::Histogram, |family| {
            for (labels, histogram) in values {
                let counts = histogram.counts_within(bounds);
                let limits = bounds.iter().map(Duration::as_secs_f64);
                let limits = limits.chain(std::iter::once(f64::INFINITY));
                let buckets: Vec<(f64, u64)> = limits.zip(counts).collect();
                let (sum, count) = (histogram.sum().as_secs_f64(), histogram.count());
                let mut metric = family.encode_family(&labels)?;
                metric.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
            }
            Ok(())
        })
    }
}

impl Collector for Figures {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut writer = Writer { encoder };
        if !self.controllers.is_empty() {
            self.reconciles(&mut writer)?;
            self.queues(&mut writer)?;
        }
        if !self.informers.is_empty() {
            self.reflectors(&mut writer)?;
        }
        if !self.clients.is_empty() {
            self.connections(&mut writer)?;
            self.requests(&mut writer)?;
        }
        for own in &self.own {
            let labels = own.labels.iter().map(|(name, value)| (*name, &**value));
            let labels: Labels<'_> = labels.collect();
            match own.value {
                Value::Counter(value) => {
                    writer.counters(own.name, own.help, std::iter::once((labels, value)))?;
                }
                Value::Gauge(value) => {
                    writer.gauges(own.name, own.help, std::iter::once((labels, value)))?;
                }
            }
        }
        Ok(())
    }
}

impl Figures {
    fn of_controllers<'a, T>(
        &'a self,
        value: impl Fn(&'a Stats) -> T + 'a,
    ) -> impl Iterator<Item = (Labels<'a>, T)> + 'a {
        let controllers = self.controllers.iter();
        controllers.map(move |(name, stats)| (vec![("controller", &**name)], value(stats)))
    }

    fn reconciles(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let results = self.controllers.iter().flat_map(|(name, stats)| {
            let done = stats.reconciles.saturating_sub(stats.active);
            let good = done.saturating_sub(stats.errors + stats.requeues);
            [
                ("success", good),
                ("requeue_after", stats.requeues),
                ("error", stats.errors),
            ]
            .map(|(result, count)| (vec![("controller", &**name), ("result", result)], count))
        });
        let name = "controller_runtime_reconcile";
        writer.counters(name, "Reconciles by result", results)?;
        let errors = "controller_runtime_reconcile_errors";
        writer.counters(
            errors,
            "Failed reconciles",
            self.of_controllers(|it| it.errors),
        )?;
        let terminal = "controller_runtime_terminal_reconcile_errors";
        let values = self.of_controllers(|it| it.terminal_errors);
        writer.counters(terminal, "Failed reconciles that are not retried", values)?;
        let panics = "controller_runtime_reconcile_panics";
        writer.counters(
            panics,
            "Reconciles that panicked",
            self.of_controllers(|it| it.panics),
        )?;
        let timeouts = "controller_runtime_reconcile_timeouts";
        let values = self.of_controllers(|it| it.timeouts);
        writer.counters(timeouts, "Reconciles that took too long", values)?;
        let active = "controller_runtime_active_workers";
        let values = self.of_controllers(|it| number(it.active));
        writer.gauges(active, "Running reconciles", values)?;
        let times = (
            "controller_runtime_reconcile_time_seconds",
            "Duration of reconciles",
        );
        let bounds = RECONCILE_BOUNDS.map(Duration::from_millis);
        writer.histograms(times, &bounds, self.of_controllers(|it| &it.duration))
    }

    /// client-go names a queue as its controller.
    fn of_queues<'a, T>(
        &'a self,
        value: impl Fn(&'a Stats) -> T + 'a,
    ) -> impl Iterator<Item = (Labels<'a>, T)> + 'a {
        let controllers = self.controllers.iter();
        controllers.map(move |(name, stats)| {
            let labels = vec![("name", &**name), ("controller", &**name)];
            (labels, value(stats))
        })
    }

    fn queues(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        #[expect(clippy::cast_precision_loss, reason = "metrics are doubles")]
        let depth = self.of_queues(|it| it.queue.depth as f64);
        writer.gauges("workqueue_depth", "Keys that wait for a worker", depth)?;
        let adds = self.of_queues(|it| it.queue.adds);
        writer.counters("workqueue_adds", "Keys that entered the queue", adds)?;
        let retries = self.of_queues(|it| it.queue.retries);
        writer.counters("workqueue_retries", "Keys that were queued again", retries)?;
        let name = "workqueue_unfinished_work_seconds";
        let values = self.of_queues(|it| it.queue.unfinished_work.as_secs_f64());
        writer.gauges(name, "Time spent on the keys in work", values)?;
        let name = "workqueue_longest_running_processor_seconds";
        let values = self.of_queues(|it| it.queue.longest_running.as_secs_f64());
        writer.gauges(name, "The longest time spent on a key in work", values)?;
        let bounds = QUEUE_BOUNDS.map(Duration::from_micros);
        let waits = (
            "workqueue_queue_duration_seconds",
            "Time from a change to the begin of its reconcile",
        );
        writer.histograms(waits, &bounds, self.of_queues(|it| &it.latency))?;
        let work = ("workqueue_work_duration_seconds", "Duration of reconciles");
        writer.histograms(work, &bounds, self.of_queues(|it| &it.duration))
    }

    fn of_informers<'a, T>(
        &'a self,
        value: impl Fn(&'a InformerSummary) -> T + 'a,
    ) -> impl Iterator<Item = (Labels<'a>, T)> + 'a {
        let informers = self.informers.iter();
        informers.map(move |it| (vec![("name", &*it.name)], value(it)))
    }

    fn reflectors(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let lists = self.of_informers(|it| it.stats.reflector.lists);
        writer.counters("reflector_lists", "Completed lists", lists)?;
        let watches = self.of_informers(|it| it.stats.reflector.watches);
        writer.counters("reflector_watches", "Opened watches", watches)?;
        let failures = self.of_informers(|it| it.stats.reflector.failures);
        writer.counters("reflector_failures", "Failed lists and watches", failures)?;
        let listed = self.of_informers(|it| it.stats.reflector.listed);
        writer.counters("reflector_listed_items", "Objects in lists", listed)?;
        let events = self.of_informers(|it| it.stats.reflector.events);
        writer.counters("reflector_watch_events", "Events of watches", events)?;
        let invalid = self.of_informers(|it| it.stats.reflector.invalid);
        let help = "Objects that could not be decoded";
        writer.counters("reflector_invalid_items", help, invalid)?;
        #[expect(clippy::cast_precision_loss, reason = "metrics are doubles")]
        let objects = self.of_informers(|it| it.stats.objects as f64);
        writer.gauges("informer_store_objects", "Objects in the cache", objects)?;
        let changes = self.of_informers(|it| it.stats.changes);
        writer.counters("informer_changes", "Changes given to handlers", changes)?;
        let panics = self.of_informers(|it| it.stats.handler_panics);
        let help = "Calls of handlers that panicked";
        writer.counters("informer_handler_panics", help, panics)
    }

    fn of_clients<'a, T>(
        &'a self,
        value: impl Fn(&'a ClientStats) -> T + 'a,
    ) -> impl Iterator<Item = (Labels<'a>, T)> + 'a {
        let clients = self.clients.iter();
        clients.map(move |(host, stats)| (vec![("host", &**host)], value(stats)))
    }

    /// Requests by method and status code, and their times, as client-go's `rest_client_…`.
    fn requests(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let methods = || {
            let clients = self.requests.iter();
            clients.flat_map(|(host, methods)| methods.iter().map(move |it| (host, it)))
        };
        let codes: Vec<_> = methods()
            .flat_map(|(host, (method, stats))| {
                let codes = stats.codes.iter();
                codes.map(move |(code, count)| (host, *method, code_name(*code), *count))
            })
            .collect();
        let counts = codes.iter().map(|(host, method, code, count)| {
            let labels = vec![("code", &**code), ("host", host), ("method", method)];
            (labels, *count)
        });
        let help = "Requests by status code and method";
        writer.counters("rest_client_requests", help, counts)?;
        let (name, help) = (
            "rest_client_request_duration_seconds",
            "Time from a request to the head of its response",
        );
        writer.family(name, help, MetricType::Histogram, |family| {
            for (host, (method, stats)) in methods() {
                let labels = vec![("host", &**host), ("verb", method)];
                let buckets = buckets(stats);
                let (sum, count) = (stats.time.as_secs_f64(), stats.count());
                let mut metric = family.encode_family(&labels)?;
                metric.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
            }
            Ok(())
        })
    }

    fn connections(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let requests = self.of_clients(|it| it.requests);
        writer.counters(
            "rest_client_requests_sent",
            "Requests, without retries",
            requests,
        )?;
        let retries = self.of_clients(|it| it.retries);
        writer.counters("rest_client_request_retries", "Retried requests", retries)?;
        let received = self.of_clients(|it| it.bytes_received);
        writer.counters(
            "rest_client_received_bytes",
            "Bytes read from sockets",
            received,
        )?;
        let sent = self.of_clients(|it| it.bytes_sent);
        writer.counters("rest_client_sent_bytes", "Bytes written to sockets", sent)?;
        let open = self.of_clients(|it| number(it.connections_open));
        writer.gauges("rest_client_open_connections", "Open connections", open)?;
        let opened = self.of_clients(|it| it.connections_opened);
        writer.counters(
            "rest_client_connections",
            "Connections that were opened",
            opened,
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "metrics are doubles")]
fn number(value: u64) -> f64 {
    value as f64
}

/// client-go's name of a response without a status code.
fn code_name(code: u16) -> String {
    match code {
        0 => "<error>".to_owned(),
        code => code.to_string(),
    }
}

/// Returns the buckets of a method: bounds in seconds, and the requests in each alone.
fn buckets(stats: &RequestStats) -> Vec<(f64, u64)> {
    let bounds = REQUEST_TIME_BOUNDS.iter();
    let bounds = bounds.map(|millis| Duration::from_millis(*millis).as_secs_f64());
    let bounds = bounds.chain(std::iter::once(f64::INFINITY));
    bounds.zip(stats.times).collect()
}
