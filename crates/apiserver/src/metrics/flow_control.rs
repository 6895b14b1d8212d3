//! Metrics of API priority and fairness, under upstream's names.

use super::distribution::Distribution;
use super::exposition::Family;
use super::table::Gauge;
use hashbrown::HashMap;
use kubist_apimachinery::Str;
use kubist_flow_control::{Class, LevelStats, Rejection};
use kubist_registry::metrics::Count;
use prometheus::proto::MetricFamily;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const OF_FLOW: &[&str] = &["flow_schema", "priority_level"];
const OF_LEVEL: &[&str] = &["priority_level"];
const REJECTED: &[&str] = &["flow_schema", "priority_level", "reason"];
const WAITED: &[&str] = &["execute", "flow_schema", "priority_level"];
/// Buckets of waits in seconds, as upstream.
static WAIT_SECONDS: [f64; 13] = [
    0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0,
];
/// Flow schemas that are counted; those that were deleted are forgotten beyond it.
const FLOWS_MAX: usize = 1_024;

/// What is counted for each flow schema. It has no lock: it is a part of what is locked for each
/// request anyway.
#[derive(Default)]
pub(crate) struct FlowMetrics {
    flows: BTreeMap<(Str, Str), Arc<Flow>>,
    /// Those of classes of the current configuration, by the address of the class, which is kept.
    known: HashMap<usize, (Arc<Class>, Arc<Flow>)>,
}

/// What is counted for one flow schema and its priority level.
pub(crate) type NamedFlow = ((Str, Str), Arc<Flow>);

/// What is counted for one flow schema.
pub(crate) struct Flow {
    executing: Gauge,
    executing_seats: Gauge,
    waiting: Gauge,
    dispatched: Count,
    queue_full: Count,
    concurrency_limit: Count,
    timed_out: Count,
    cancelled: Count,
    waited: Distribution,
    gave_up: Distribution,
}

impl Flow {
    fn new() -> Self {
        Self {
            executing: Gauge::default(),
            executing_seats: Gauge::default(),
            waiting: Gauge::default(),
            dispatched: Count::default(),
            queue_full: Count::default(),
            concurrency_limit: Count::default(),
            timed_out: Count::default(),
            cancelled: Count::default(),
            waited: Distribution::of_seconds(&WAIT_SECONDS),
            gave_up: Distribution::of_seconds(&WAIT_SECONDS),
        }
    }
}

impl Flow {
    /// A request gets its seats; it has waited in a queue for this long.
    pub(crate) fn begins(&self, seats: u32, waited: Duration) {
        self.dispatched.add(1);
        self.waited.took(waited);
        self.executing.increment();
        self.executing_seats.add(i64::from(seats));
    }

    /// A request has ended.
    pub(crate) fn ends(&self, seats: u32) {
        self.executing.decrement();
        self.executing_seats.add(-i64::from(seats));
    }

    /// A request is refused at once.
    pub(crate) fn rejects(&self, why: Rejection) {
        match why {
            Rejection::QueueFull => self.queue_full.add(1),
            Rejection::TimeOut => self.timed_out.add(1),
            _ => self.concurrency_limit.add(1),
        }
    }

    /// A request begins to wait.
    pub(crate) fn waits(&self) {
        self.waiting.increment();
    }

    /// It waits no longer.
    pub(crate) fn waits_no_longer(&self) {
        self.waiting.decrement();
    }

    /// The client of a request that waits is gone.
    pub(crate) fn is_cancelled(&self) {
        self.cancelled.add(1);
    }

    /// Returns how many requests were handled, refused, waited too long, and gave up.
    pub(crate) fn outcomes(&self) -> [u64; 4] {
        [
            self.dispatched.value(),
            self.queue_full.value() + self.concurrency_limit.value(),
            self.timed_out.value(),
            self.cancelled.value(),
        ]
    }

    /// A request is refused after it has waited.
    pub(crate) fn times_out(&self, waited: Duration) {
        self.timed_out.add(1);
        self.gave_up.took(waited);
    }
}

impl FlowMetrics {
    /// Returns what is counted for a request of this class.
    pub(crate) fn flow(&mut self, class: &Arc<Class>) -> Arc<Flow> {
        let address = Arc::as_ptr(class).addr();
        if let Some((_, known)) = self.known.get(&address) {
            return Arc::clone(known);
        }
        let key = (class.flow_schema.clone(), class.priority_level.clone());
        if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&key) {
            self.flows.clear();
            self.known.clear();
        }
        let flow = self.flows.entry(key);
        let flow = Arc::clone(flow.or_insert_with(|| Arc::new(Flow::new())));
        let known = (Arc::clone(class), Arc::clone(&flow));
        self.known.insert(address, known);
        flow
    }

    /// The classes are others from now on.
    pub(crate) fn forget_classes(&mut self) {
        self.known.clear();
    }

    /// Returns everything.
    pub(crate) fn flows(&self) -> Vec<NamedFlow> {
        let flows = self.flows.iter();
        flows
            .map(|(names, flow)| (names.clone(), Arc::clone(flow)))
            .collect()
    }
}

/// Returns the families of a server with priority and fairness, its levels and all its seats.
pub(crate) fn families(of: &[NamedFlow], levels: &[LevelStats], seats: u32) -> Vec<MetricFamily> {
    let mut families = flow_families(of);
    families.extend(level_families(levels, seats));
    families.into_iter().filter_map(Family::finish).collect()
}

fn flow_families(of: &[NamedFlow]) -> Vec<Family> {
    let mut dispatched = Family::counter(
        "apiserver_flowcontrol_dispatched_requests_total",
        "Requests that got their seats",
        OF_FLOW,
    );
    let mut rejected = Family::counter(
        "apiserver_flowcontrol_rejected_requests_total",
        "Requests that were refused for lack of seats",
        REJECTED,
    );
    let mut waits = Family::histogram(
        "apiserver_flowcontrol_request_wait_duration_seconds",
        "How long requests waited for their seats",
        WAITED,
    );
    let gauge = |name, help| Family::gauge(name, help, OF_FLOW);
    let mut executing = gauge(
        "apiserver_flowcontrol_current_executing_requests",
        "Requests that are being handled",
    );
    let mut seats = gauge(
        "apiserver_flowcontrol_current_executing_seats",
        "Seats of requests that are being handled",
    );
    let mut queued = gauge(
        "apiserver_flowcontrol_current_inqueue_requests",
        "Requests that wait for their seats",
    );
    for ((schema, level), flow) in of {
        let labels: [&str; 2] = [schema, level];
        executing.set(&labels, flow.executing.value());
        seats.set(&labels, flow.executing_seats.value());
        queued.set(&labels, flow.waiting.value());
        dispatched.count(&labels, flow.dispatched.value());
        for (reason, count) in [
            (Rejection::QueueFull, &flow.queue_full),
            (Rejection::ConcurrencyLimit, &flow.concurrency_limit),
            (Rejection::TimeOut, &flow.timed_out),
        ] {
            rejected.count_some(&[schema, level, reason.reason()], count.value());
        }
        waits.observed(&["true", schema, level], &flow.waited.state());
        if flow.timed_out.value() > 0 {
            waits.observed(&["false", schema, level], &flow.gave_up.state());
        }
    }
    vec![executing, seats, queued, dispatched, rejected, waits]
}

fn level_families(levels: &[LevelStats], total: u32) -> Vec<Family> {
    let gauge = |name, help| Family::gauge(name, help, OF_LEVEL);
    let mut nominal = gauge(
        "apiserver_flowcontrol_nominal_limit_seats",
        "Seats of a priority level by its shares",
    );
    let mut lower = gauge(
        "apiserver_flowcontrol_lower_limit_seats",
        "Seats that a priority level never lends",
    );
    let mut upper = gauge(
        "apiserver_flowcontrol_upper_limit_seats",
        "Seats that a priority level has at most, with borrowed ones",
    );
    let mut current = gauge(
        "apiserver_flowcontrol_current_limit_seats",
        "Seats that a priority level has now",
    );
    for level in levels {
        let labels: [&str; 1] = [&level.name];
        let most = level.nominal_seats.saturating_add(total);
        for (family, value) in [
            (&mut nominal, level.nominal_seats),
            (&mut lower, level.min_seats),
            (&mut upper, level.max_seats.unwrap_or(most)),
            (&mut current, level.current_seats),
        ] {
            family.set(&labels, f64::from(value));
        }
    }
    vec![nominal, lower, upper, current]
}
