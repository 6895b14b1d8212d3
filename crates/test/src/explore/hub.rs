//! `Hub`: what all clients of a world share: the plan, what has happened, and what was found.

use crate::explore::ledger::Ledger;
use crate::explore::plan::{Fault, FaultKind, Plan};
use crate::explore::problem::Problem;
use crate::explore::trace::Trace;
use crate::faults::{Call, Faults};
use crate::story::What;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The most signals that wait for the world; more than it can cause at one moment.
pub(crate) const SIGNALS_MAX: usize = 1024;

/// A copy of a controller, and how often it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) controller: usize,
    pub(crate) number: usize,
    pub(crate) life: u32,
}

/// What a client tells the world.
#[derive(Clone, Debug)]
pub(crate) enum Signal {
    /// A copy has to be dropped, by this fault.
    Crash(Copy, Fault),
    /// A copy is frozen for this time.
    Freeze(Copy, Duration),
    /// The events of a controller are held for this time, until the token is cancelled.
    Hold(usize, Duration, Hold),
    /// A copy has ended by itself.
    Ended(Copy, Result<(), String>),
    /// Something was found; the world need not go on.
    Stop,
}

/// How much a controller has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) writes: u64,
    pub(crate) requests: u64,
    pub(crate) events: u64,
}

/// Events of a controller that are held back.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) released: CancellationToken,
    pub(crate) relist: bool,
}

/// The different requests that are kept of those that were forbidden.
const FORBIDDEN_MAX: usize = 16;

/// Requests that were answered 403, and how often.
pub(crate) type Forbidden = BTreeMap<String, u64>;

/// Adds to the forbidden requests; further different ones are not kept.
pub(crate) fn forbid(forbidden: &mut Forbidden, request: String, times: u64) {
    if forbidden.len() < FORBIDDEN_MAX || forbidden.contains_key(&request) {
        *forbidden.entry(request).or_default() += times;
    }
}

/// What all clients of a world share.
pub(crate) struct Hub {
    pub(crate) plan: Plan,
    pub(crate) trace: Trace,
    pub(crate) faults: Faults,
    pub(crate) ledger: Mutex<Ledger>,
    pub(crate) names: Vec<String>,
    pub(crate) requests_max: u64,
    counts: Vec<Mutex<Counts>>,
    /// Those of each controller that go on.
    holds: Vec<Mutex<Vec<Hold>>>,
    /// The faults of the plan, as they were when they struck.
    struck: Mutex<Vec<Option<Fault>>>,
    signals: mpsc::Sender<Signal>,
    is_calm: AtomicBool,
    is_stopped: AtomicBool,
    requests: AtomicU64,
    forbidden: Mutex<Forbidden>,
    problem: Mutex<Option<Problem>>,
}

impl Hub {
    pub(crate) fn new(
        plan: Plan,
        trace: Trace,
        faults: Faults,
        names: Vec<String>,
        signals: mpsc::Sender<Signal>,
        requests_max: u64,
    ) -> Self {
        Self {
            counts: names.iter().map(|_| Mutex::default()).collect(),
            holds: names.iter().map(|_| Mutex::default()).collect(),
            struck: Mutex::new(vec![None; plan.faults.len()]),
            ledger: Mutex::new(Ledger::new()),
            plan,
            trace,
            faults,
            names,
            requests_max,
            signals,
            is_calm: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            forbidden: Mutex::default(),
            problem: Mutex::default(),
        }
    }

    /// Notes a problem, if it is the first, and ends the world.
    pub(crate) fn report(&self, problem: Problem) {
        let mut first = self.problem.lock();
        if first.is_none() {
            self.trace.note(|| What::Broke(problem.to_string()));
            *first = Some(problem);
            self.is_stopped.store(true, Ordering::Relaxed);
            self.signal(Signal::Stop);
        }
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        self.problem.lock().clone()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Ends what clients can do, without a problem.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It is full only if the world has ended, or more happens at once than can.
        drop(self.signals.try_send(signal));
    }

    /// No fault strikes from now on, and nothing is delayed.
    pub(crate) fn calm_down(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
        for holds in &self.holds {
            holds.lock().drain(..).for_each(|it| it.released.cancel());
        }
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Counts a request of the world. Returns false when there were too many.
    pub(crate) fn admit(&self) -> bool {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if requests > self.requests_max {
            self.report(Problem::Busy { requests });
        }
        !self.is_stopped()
    }

    /// Notes that a client was answered 403.
    pub(crate) fn forbid(&self, client: &str, call: &Call) {
        forbid(&mut self.forbidden.lock(), format!("{client}: {call}"), 1);
    }

    pub(crate) fn forbidden(&self) -> Forbidden {
        self.forbidden.lock().clone()
    }

    /// Returns the faults of the plan as they have struck; none for those that have not.
    pub(crate) fn struck(&self) -> Vec<Option<Fault>> {
        self.struck.lock().clone()
    }

    pub(crate) fn counts(&self, controller: usize) -> Counts {
        *self.counts[controller].lock()
    }

    /// Counts a request of a controller, and returns the fault that strikes at it.
    pub(crate) fn strike(&self, controller: usize, call: &Call) -> Option<Fault> {
        if call.is_bookkeeping() {
            return None;
        }
        let is_write = call.is_write();
        let counts = {
            let mut counts = self.counts[controller].lock();
            counts.requests += 1;
            counts.writes += u64::from(is_write);
            *counts
        };
        self.strike_if(controller, Some(call), |fault| match fault.kind {
            FaultKind::Crash { .. } | FaultKind::Freeze { .. } => {
                is_write && fault.at == counts.writes
            }
            FaultKind::Fail { of_writes, .. } => {
                let at_write = of_writes && is_write && fault.at == counts.writes;
                at_write || (!of_writes && fault.at == counts.requests)
            }
            FaultKind::Outage { .. } => fault.at == counts.requests,
            FaultKind::Hold { .. } => false,
        })
    }

    /// Counts an event of a controller, and holds its events if that is planned.
    pub(crate) fn arrive(&self, controller: usize) {
        let events = {
            let mut counts = self.counts[controller].lock();
            counts.events += 1;
            counts.events
        };
        let is_hold =
            |fault: &Fault| matches!(fault.kind, FaultKind::Hold { .. }) && fault.at == events;
        let fault = self.strike_if(controller, None, is_hold);
        if let Some(FaultKind::Hold { time, relist }) = fault.map(|it| it.kind) {
            let hold = Hold {
                released: CancellationToken::new(),
                relist,
            };
            self.holds[controller].lock().push(hold.clone());
            self.signal(Signal::Hold(controller, time, hold));
        }
    }

    /// Returns a hold of a controller that goes on.
    pub(crate) fn hold(&self, controller: usize) -> Option<Hold> {
        let mut holds = self.holds[controller].lock();
        holds.retain(|it| !it.released.is_cancelled());
        holds.first().cloned()
    }

    fn strike_if(
        &self,
        controller: usize,
        call: Option<&Call>,
        is: impl Fn(&Fault) -> bool,
    ) -> Option<Fault> {
        if self.is_calm() {
            return None;
        }
        let mut struck = self.struck.lock();
        let faults = self.plan.faults.iter().zip(struck.iter_mut());
        for (fault, struck) in faults {
            if struck.is_none() && fault.controller == controller && is(fault) {
                let fault = call.map_or_else(|| fault.clone(), |call| fault.at_request(call));
                *struck = Some(fault.clone());
                // One that strikes after the write is noted then.
                if !fault.is_after_write() {
                    let name = &self.names[controller];
                    self.trace.note(|| What::Fault(fault.describe(name)));
                }
                let mut ledger = self.ledger.lock();
                match fault.kind {
                    FaultKind::Outage { time } => ledger.disturb_for(time),
                    _ => ledger.disturb(),
                }
                return Some(fault);
            }
        }
        None
    }
}
