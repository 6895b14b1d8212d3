//! `ClientTap`: what the plan does to the requests of one copy of a controller.

use crate::explore::freeze::Frost;
use crate::explore::hub::{Copy, Hub, Signal};
use crate::explore::plan::{Failing, Fault, FaultKind};
use crate::explore::problem::Problem;
use crate::explore::random::Random;
use crate::faults::{self, Answered, Arrival, Call, Delivery, Failure, Fate, Tap, Treatment, View};
use crate::story::What;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::pending;
use kubist::apimachinery::{ObjectName, Str};
use kubist::codec::watch_stream::EventKind;
use parking_lot::Mutex;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An older state that a copy sees until it is lifted.
#[derive(Clone, Debug)]
pub(crate) struct OldView {
    pub(crate) revision: u64,
    pub(crate) lifted: CancellationToken,
}

/// Decides about the requests of one copy of a controller.
pub(crate) struct ClientTap {
    pub(crate) copy: Copy,
    pub(crate) label: Str,
    pub(crate) frost: Frost,
    hub: Arc<Hub>,
    old_view: Option<OldView>,
    random: Mutex<Random>,
    /// What happens when a write that is under way is answered.
    after: Mutex<Vec<(Call, Fault)>>,
    is_dead: AtomicBool,
    is_dropped: AtomicBool,
    home: ThreadId,
}

impl ClientTap {
    pub(crate) fn new(hub: &Arc<Hub>, copy: Copy, label: Str, old_view: Option<OldView>) -> Self {
        let Copy {
            controller,
            number,
            life,
        } = copy;
        let numbers = [controller as u64, number as u64, u64::from(life)];
        let random = Random::new(hub.plan.seed).of("client", &numbers);
        Self {
            copy,
            label,
            frost: Frost::default(),
            hub: Arc::clone(hub),
            old_view,
            random: Mutex::new(random),
            after: Mutex::default(),
            is_dead: AtomicBool::new(false),
            is_dropped: AtomicBool::new(false),
            home: std::thread::current().id(),
        }
    }

    /// Nothing is served any more, and nothing is answered.
    pub(crate) fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        if let Some(view) = &self.old_view {
            view.lifted.cancel();
        }
    }

    /// Its future is gone; whoever speaks now has outlived it.
    pub(crate) fn dropped(&self) {
        self.die();
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn catch_up(&self) {
        if let Some(view) = &self.old_view {
            view.lifted.cancel();
        }
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed) || self.hub.is_stopped()
    }

    fn controller(&self) -> String {
        self.hub.names[self.copy.controller].clone()
    }

    /// Returns a delay of the plan, often none.
    fn delay(&self) -> Duration {
        let most = self.hub.plan.delay_max;
        if most.is_zero() || self.hub.is_calm() {
            return Duration::ZERO;
        }
        let mut random = self.random.lock();
        if random.chance(50) {
            return Duration::ZERO;
        }
        random.time(Duration::ZERO, most)
    }

    async fn treatment(&self, call: &Call) -> Treatment {
        if self.is_dropped.load(Ordering::Relaxed) {
            let (controller, what) = (self.controller(), call.to_string());
            self.hub.report(Problem::Outlived { controller, what });
            return fated(Fate::Never);
        }
        if std::thread::current().id() != self.home {
            self.hub.report(Problem::Elsewhere {
                controller: self.controller(),
                what: format!("it sends {call} from another thread"),
            });
            return fated(Fate::Break);
        }
        // A request that was sent while the process stood still did not leave it; its connection
        // is gone when the process goes on.
        if self.frost.thawed().await {
            return fated(Fate::Break);
        }
        if self.is_dead() || !self.hub.admit() {
            return fated(Fate::Never);
        }
        self.hub.trace.beat(|text| {
            write!(text, "{} sent: {call}", self.label).expect("texts can be written to");
        });
        self.hub.trace.mark(call.resource.as_bytes());
        self.hub.trace.mark(call.name.as_bytes());
        let fate = match self.hub.strike(self.copy.controller, call) {
            Some(fault) => self.fate(call, fault),
            None => Fate::Serve,
        };
        let view = self.old_view.as_ref();
        let view = view.filter(|it| !it.lifted.is_cancelled());
        Treatment {
            delay: self.delay(),
            fate,
            view: view.map(|it| View {
                revision: it.revision,
                gets: false,
            }),
        }
    }

    fn fate(&self, call: &Call, fault: Fault) -> Fate {
        match &fault.kind {
            FaultKind::Crash { done: false, .. } => {
                self.die();
                self.hub.signal(Signal::Crash(self.copy, fault));
                Fate::Never
            }
            FaultKind::Crash { done: true, .. } => {
                self.after.lock().push((call.clone(), fault));
                Fate::NeverAfter
            }
            FaultKind::Freeze { .. } => {
                self.after.lock().push((call.clone(), fault));
                Fate::Serve
            }
            FaultKind::Fail { failing, .. } => failed(call, *failing),
            FaultKind::Outage { time } => {
                self.hub.faults.restart_server(*time);
                Fate::Serve // which the server cannot do
            }
            FaultKind::Hold { .. } => Fate::Serve,
        }
    }

    /// Returns the fault that strikes after this request, which may be one of several at a time.
    fn take_after(&self, call: &Call) -> Option<Fault> {
        let mut after = self.after.lock();
        let index = after.iter().position(|(of, _)| of == call)?;
        Some(after.swap_remove(index).1)
    }

    async fn after(&self, call: &Call, answered: &Answered) {
        if call.is_write() {
            let mut ledger = self.hub.ledger.lock();
            let problem = ledger.answered(&self.label, call, answered);
            drop(ledger);
            if let Some(problem) = problem {
                self.hub.report(problem);
            }
        }
        if answered.code == 403 {
            self.hub.forbid(&self.label, call);
        }
        // What is not there yet is asked for all the time.
        if answered.code >= 400 && (call.is_write() || answered.code != 404) {
            self.hub.trace.note(|| What::Refused {
                client: self.label.clone(),
                call: call.to_string(),
                code: answered.code,
                is_lost: answered.is_lost,
            });
        }
        let fault = self.take_after(call);
        if let Some(fault) = &fault {
            self.hub.trace.note(|| What::FaultAfterWrite {
                client: self.label.clone(),
                text: fault.describe(&self.controller()),
            });
        }
        match fault.as_ref().map(|it| &it.kind) {
            Some(FaultKind::Crash { .. }) => {
                self.die();
                let fault = fault.into_iter();
                fault.for_each(|it| self.hub.signal(Signal::Crash(self.copy, it)));
            }
            Some(FaultKind::Freeze { time }) => {
                self.frost.freeze();
                self.hub.signal(Signal::Freeze(self.copy, *time));
            }
            _ => {}
        }
        if self.is_dead() {
            pending::<()>().await;
        }
        self.frost.thawed().await;
    }

    async fn delivery(&self, watch: &Call, arrival: &Arrival) -> Delivery {
        self.hub.trace.mark(&arrival.revision.to_le_bytes());
        let delay = self.delay();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if let Some(view) = &self.old_view
            && arrival.revision > view.revision
        {
            view.lifted.cancelled().await;
        }
        if !watch.is_bookkeeping() && arrival.kind != EventKind::Bookmark {
            self.hub.arrive(self.copy.controller);
        }
        let mut relists = false;
        while let Some(hold) = self.hub.hold(self.copy.controller) {
            hold.released.cancelled().await;
            relists |= hold.relist;
        }
        if relists {
            return Delivery::End(Box::new(faults::gone()));
        }
        self.frost.thawed().await;
        if self.is_dead() {
            pending::<()>().await;
        }
        self.saw(watch, arrival);
        Delivery::Deliver
    }

    fn saw(&self, watch: &Call, arrival: &Arrival) {
        if arrival.kind != EventKind::Bookmark {
            self.hub.trace.note(|| What::Saw {
                client: self.label.clone(),
                resource: watch.resource.clone(),
                name: arrival.name.clone(),
                revision: arrival.revision,
                is_deleted: arrival.kind == EventKind::Deleted,
            });
        }
    }
}

fn fated(fate: Fate) -> Treatment {
    Treatment {
        fate,
        ..Treatment::default()
    }
}

fn failed(call: &Call, failing: Failing) -> Fate {
    let status = |failure: Failure| Box::new(failure.status(call));
    match failing {
        Failing::Conflict => Fate::Answer(status(Failure::Conflict)),
        Failing::TooManyRequests => {
            let after = Duration::from_secs(1);
            Fate::Answer(status(Failure::TooManyRequests(after)))
        }
        Failing::InternalError => Fate::Answer(status(Failure::InternalError)),
        Failing::TimeoutAfter => Fate::AnswerAfter(status(Failure::Timeout)),
        Failing::BreakAfter => Fate::BreakAfter,
    }
}

impl Tap for ClientTap {
    fn treat<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Treatment> {
        self.treatment(call).boxed()
    }

    fn answered<'a>(&'a self, call: &'a Call, answered: &'a Answered) -> BoxFuture<'a, ()> {
        self.after(call, answered).boxed()
    }

    fn deliver<'a>(&'a self, watch: &'a Call, arrival: &'a Arrival) -> BoxFuture<'a, Delivery> {
        self.delivery(watch, arrival).boxed()
    }

    fn broken<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, ()> {
        let learns = async {
            self.frost.thawed().await;
            if self.is_dead() {
                pending::<()>().await;
            }
        };
        learns.boxed()
    }

    /// Also while nothing is kept, so that a run takes the same turns when it is told.
    fn sees_lists(&self) -> bool {
        true
    }

    fn listed(&self, call: &Call, items: &[(ObjectName, u64)], _version: &Str) {
        for (name, revision) in items {
            self.hub.trace.note(|| What::Saw {
                client: self.label.clone(),
                resource: call.resource.clone(),
                name: name.clone(),
                revision: *revision,
                is_deleted: false,
            });
        }
    }
}
