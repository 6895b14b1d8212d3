//! `FlowControl`: API priority and fairness around a pure [`FlowController`]: requests wait for
//! their seats here.
//!
//! A request waits for a quarter of the time limit of requests, as upstream, and is refused with
//! 429 then. Dropping its future gives its place up. A client that accepts nothing of its response
//! for [`STALLED`] loses its seats to a request that needs them, as without priority levels
//! (`in_flight.rs`).

use crate::filters::in_flight::STALLED;
use crate::metrics::flow_control::{Flow, FlowMetrics, families};
use kubist_apimachinery::Str;
use kubist_authorization::Attributes;
use kubist_flow_control::{
    Arrival, Class, Configuration, Execution, FlowController, LevelStats, QueueStats, Rejection,
    RequestStats, Ticket, Work,
};
use parking_lot::Mutex;
use prometheus::proto::MetricFamily;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

/// How long a request waits, as upstream: a quarter of the time limit of requests.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// What it holds at a moment.
pub(crate) struct FlowDump {
    /// On the clock of the requests' times.
    pub(crate) now: Duration,
    pub(crate) levels: Vec<LevelStats>,
    /// For each level: how many requests were handled, refused, waited too long, and gave up.
    pub(crate) outcomes: BTreeMap<Str, [u64; 4]>,
    pub(crate) queues: Vec<QueueStats>,
    pub(crate) requests: Vec<RequestStats>,
}

/// The seats and queues of a server.
pub(crate) struct FlowControl {
    seats: u32,
    began: Instant,
    state: Mutex<State>,
}

struct State {
    flows: FlowController,
    /// Those that wait, to be told when they may go on.
    waiters: BTreeMap<Ticket, oneshot::Sender<Execution>>,
    /// The responses that are being sent, with the time at which the client last accepted data.
    sending: BTreeMap<u64, Sending>,
    next: u64,
    metrics: FlowMetrics,
}

/// A response that is being sent.
struct Sending {
    last: Arc<AtomicU64>,
    execution: Execution,
    flow: Arc<Flow>,
    seats: u32,
}

/// Why a request does not get a seat.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) class: Arc<Class>,
}

/// The seats of a request. Dropping it frees them.
pub(crate) struct FlowSeat {
    of: Arc<FlowControl>,
    class: Arc<Class>,
    flow: Arc<Flow>,
    seats: u32,
    held: Held,
}

/// A request in the metric of those that wait. Dropping it counts a client that is gone.
struct Queued {
    flow: Arc<Flow>,
    is_over: bool,
}

impl Queued {
    fn begin(flow: Arc<Flow>) -> Self {
        flow.waits();
        let is_over = false;
        Self { flow, is_over }
    }

    /// It has waited to the end.
    fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.flow.waits_no_longer();
        if !self.is_over {
            self.flow.is_cancelled();
        }
    }
}

enum Held {
    Nothing,
    Handling(Execution),
    Sending(u64, Arc<AtomicU64>),
}

impl FlowControl {
    pub(crate) fn new(seats: usize) -> Arc<Self> {
        let seats = u32::try_from(seats).unwrap_or(u32::MAX);
        let state = State {
            flows: FlowController::new(seats, &Configuration::default()),
            waiters: BTreeMap::new(),
            sending: BTreeMap::new(),
            next: 0,
            metrics: FlowMetrics::default(),
        };
        Arc::new(Self {
            seats,
            began: Instant::now(),
            state: Mutex::new(state),
        })
    }

    /// Takes another configuration.
    pub(crate) fn configure(&self, configuration: &Configuration) {
        let mut state = self.state.lock();
        state.metrics.forget_classes();
        let begun = state.flows.configure(self.now(), configuration);
        self.go_on(&mut state, begun);
    }

    /// Lends seats between levels every ten seconds. Never returns.
    ///
    /// # Cancel safety
    /// Can be dropped at any time. Seats then stay as they are lent.
    pub(crate) async fn run(&self) {
        loop {
            tokio::time::sleep(FlowController::ADJUST_EVERY).await;
            let mut state = self.state.lock();
            let begun = state.flows.adjust(self.now());
            self.go_on(&mut state, begun);
        }
    }

    /// Takes the seats of a request, and waits for them if need be.
    ///
    /// # Errors
    /// Its queue is full, there are no seats and no queues, or it has waited too long.
    ///
    /// # Cancel safety
    /// Dropping the future gives the place in the queue up.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        request: Attributes<'_>,
        work: Work,
    ) -> Result<FlowSeat, Refused> {
        let Arrived { class, flow, fate } = self.arrive(request, work);
        let (execution, waited) = match fate {
            Fate::Executes(execution) => (execution, Duration::ZERO),
            Fate::Rejected(why) => {
                flow.rejects(why);
                return Err(Refused { class });
            }
            Fate::Waits(waiting) => {
                let began = self.now();
                let queued = Queued::begin(Arc::clone(&flow));
                let execution = self.wait(waiting).await;
                queued.end();
                let waited = self.now().saturating_sub(began);
                let Some(execution) = execution else {
                    flow.times_out(waited);
                    return Err(Refused { class });
                };
                (execution, waited)
            }
        };
        let seats = work.seats.max(1);
        flow.begins(seats, waited);
        Ok(FlowSeat {
            of: Arc::clone(self),
            class,
            flow,
            seats,
            held: Held::Handling(execution),
        })
    }

    /// Returns its metrics.
    pub(crate) fn families(&self) -> Vec<MetricFamily> {
        let (levels, flows) = {
            let state = self.state.lock();
            let levels: Vec<_> = state.flows.levels().collect();
            (levels, state.metrics.flows())
        };
        families(&flows, &levels, self.seats)
    }

    /// Returns what it holds, for those who look at the server.
    pub(crate) fn dump(&self) -> FlowDump {
        let state = self.state.lock();
        let mut outcomes: BTreeMap<Str, [u64; 4]> = BTreeMap::new();
        for ((_, level), flow) in state.metrics.flows() {
            let sums = outcomes.entry(level).or_default();
            for (sum, count) in sums.iter_mut().zip(flow.outcomes()) {
                *sum += count;
            }
        }
        FlowDump {
            now: self.now(),
            levels: state.flows.levels().collect(),
            outcomes,
            queues: state.flows.queues().collect(),
            requests: state.flows.requests().collect(),
        }
    }

    fn arrive(self: &Arc<Self>, request: Attributes<'_>, work: Work) -> Arrived {
        let (mut state, now) = (self.state.lock(), self.now());
        let mut arrival = state.flows.arrive(now, &request, work);
        if let Arrival::Rejected(..) = arrival
            && self.reclaim_stalled(&mut state)
        {
            arrival = state.flows.arrive(now, &request, work);
        }
        let (class, fate) = match arrival {
            Arrival::Executes(class, execution) => (class, Fate::Executes(execution)),
            Arrival::Rejected(class, why) => (class, Fate::Rejected(why)),
            Arrival::Waits(class, ticket) => {
                let (sender, begins) = oneshot::channel();
                state.waiters.insert(ticket, sender);
                // Perhaps for it.
                self.reclaim_stalled(&mut state);
                let of = Arc::clone(self);
                (class, Fate::Waits(Waiting { of, ticket, begins }))
            }
        };
        let flow = state.metrics.flow(&class);
        Arrived { class, flow, fate }
    }

    /// Waits until the request may go on; none if that takes too long.
    async fn wait(&self, mut waiting: Waiting) -> Option<Execution> {
        let until = Instant::now() + WAIT_MAX;
        while Instant::now() < until {
            // Clients that stall are looked for meanwhile.
            let pause = STALLED.min(until - Instant::now());
            if let Ok(begins) = timeout(pause, &mut waiting.begins).await {
                return begins.ok();
            }
            let mut state = self.state.lock();
            self.reclaim_stalled(&mut state);
        }
        // It may have been let in at this moment.
        waiting.begins.try_recv().ok()
    }

    /// Frees the seats of clients that accept nothing. Returns whether there were any.
    fn reclaim_stalled(&self, state: &mut State) -> bool {
        let now = self.millis();
        let limit = u64::try_from(STALLED.as_millis()).unwrap_or(u64::MAX);
        let is_stalled =
            |last: &AtomicU64| now.saturating_sub(last.load(Ordering::Relaxed)) >= limit;
        let stalled = state.sending.iter().filter(|(_, it)| is_stalled(&it.last));
        let stalled: Vec<u64> = stalled.map(|(number, _)| *number).collect();
        for number in &stalled {
            if let Some(sending) = state.sending.remove(number) {
                sending.flow.ends(sending.seats);
                let begun = state.flows.finish(self.now(), sending.execution);
                self.go_on(state, begun);
            }
        }
        !stalled.is_empty()
    }

    /// Tells waiting requests that they may go on.
    fn go_on(&self, state: &mut State, begun: Vec<(Ticket, Execution)>) {
        let mut begun = begun;
        while let Some((ticket, execution)) = begun.pop() {
            let waiter = state.waiters.remove(&ticket);
            let refused = match waiter {
                Some(waiter) => waiter.send(execution).err(),
                None => Some(execution),
            };
            // Its client is gone: the next one may begin.
            if let Some(execution) = refused {
                begun.extend(state.flows.finish(self.now(), execution));
            }
        }
    }

    fn finish(&self, execution: Execution) {
        let mut state = self.state.lock();
        let begun = state.flows.finish(self.now(), execution);
        self.go_on(&mut state, begun);
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A request that was classified.
struct Arrived {
    class: Arc<Class>,
    flow: Arc<Flow>,
    fate: Fate,
}

enum Fate {
    Executes(Execution),
    Waits(Waiting),
    Rejected(Rejection),
}

/// A request in a queue. Dropping it takes it out.
struct Waiting {
    of: Arc<FlowControl>,
    ticket: Ticket,
    begins: oneshot::Receiver<Execution>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.of.state.lock();
        state.waiters.remove(&self.ticket);
        let now = self.of.now();
        let (_waited, begun) = state.flows.cancel(now, self.ticket);
        self.of.go_on(&mut state, begun);
        // It was let in at this moment, and nobody is there to use it.
        if let Ok(execution) = self.begins.try_recv() {
            let begun = state.flows.finish(now, execution);
            self.of.go_on(&mut state, begun);
        }
    }
}

impl FlowSeat {
    /// How the request was classified.
    pub(crate) fn class(&self) -> &Arc<Class> {
        &self.class
    }

    /// The response is ready; from now on its client determines how long sending takes.
    pub(crate) fn sending(&mut self) {
        let Held::Handling(execution) = std::mem::replace(&mut self.held, Held::Nothing) else {
            return;
        };
        let last = Arc::new(AtomicU64::new(self.of.millis()));
        let mut state = self.of.state.lock();
        let number = state.next;
        state.next += 1;
        let sending = Sending {
            last: Arc::clone(&last),
            execution,
            flow: Arc::clone(&self.flow),
            seats: self.seats,
        };
        state.sending.insert(number, sending);
        drop(state);
        self.held = Held::Sending(number, last);
    }

    /// The client accepted data.
    pub(crate) fn took(&self) {
        if let Held::Sending(_, last) = &self.held {
            last.store(self.of.millis(), Ordering::Relaxed);
        }
    }
}

impl Drop for FlowSeat {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Handling(execution) => {
                self.flow.ends(self.seats);
                self.of.finish(execution);
            }
            Held::Sending(number, _) => {
                // Without it, the seats were given to another.
                let held = self.of.state.lock().sending.remove(&number);
                if let Some(sending) = held {
                    self.flow.ends(self.seats);
                    self.of.finish(sending.execution);
                }
            }
        }
    }
}

impl std::fmt::Debug for FlowControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowControl").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for FlowSeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowSeat").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
