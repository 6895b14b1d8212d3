//! `Handler`: a checked handler of an informer, and its deliberate defects.

use crate::expectation::Observed;
use crate::faults::Faults;
use crate::handler_checker::{Call, CallKind, HandlerChecker};
use crate::plan::{Defect, HandlerMode, HandlerPlan};
use crate::rng::SimRng;
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, Registration, SharedInformer, Subscription};
use parking_lot::Mutex;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;

/// A handler with the informer's form erased.
pub(crate) struct Handler {
    pub(crate) checker: Arc<HandlerChecker>,
    pub(crate) plan: HandlerPlan,
    state: Box<dyn Fn() -> HandlerState + Send>,
    waiting: Box<dyn Fn() -> usize + Send>,
    remove: Box<dyn Fn() + Send>,
    /// The events that a broken mailbox keeps.
    hoard: Arc<Mutex<usize>>,
}

impl Handler {
    /// Returns the handler's state.
    pub(crate) fn state(&self) -> HandlerState {
        (self.state)()
    }

    /// Reports whether it still receives events.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(self.state(), HandlerState::Syncing | HandlerState::Synced)
    }

    /// Returns the number of pending events.
    pub(crate) fn waiting(&self) -> usize {
        (self.waiting)() + *self.hoard.lock()
    }

    /// Removes the handler.
    pub(crate) fn remove(&self) {
        (self.remove)();
    }
}

/// The callback of a handler.
struct Callback {
    checker: Arc<HandlerChecker>,
    faults: Arc<Faults>,
    rng: SimRng,
    defect: Option<Defect>,
    state: Arc<OnceLock<Box<dyn Fn() -> HandlerState + Send + Sync>>>,
    /// Calls that a broken adapter holds back.
    held_back: Vec<Call>,
    hoard: Arc<Mutex<usize>>,
}

impl Callback {
    fn hear<K: Object>(&mut self, change: &ResourceEvent<K>) {
        let call = Call::of(change);
        let state = self.state.get().map_or(HandlerState::Syncing, |it| it());
        match self.defect {
            None => self.checker.observed(&call, state),
            Some(defect) => self.hear_wrongly(defect, call, state),
        }
    }

    fn hear_wrongly(&mut self, defect: Defect, call: Call, state: HandlerState) {
        use CallKind::Observed as Tells;
        let checker = &self.checker;
        match (defect, &call.kind) {
            (
                Defect::StaleHandler | Defect::SkipsSteps,
                Tells {
                    observed: Observed::Updated { .. },
                    ..
                },
            ) => {
                if defect == Defect::SkipsSteps {
                    self.skip(call, state);
                }
            }
            (
                Defect::RepeatsOldStates,
                Tells {
                    observed: Observed::Updated { old, new },
                    ..
                },
            ) => {
                let (old, new) = (new.clone(), old.clone());
                let observed = Observed::Updated { old, new };
                let back = Call {
                    name: call.name.clone(),
                    kind: Tells {
                        observed,
                        initial: false,
                    },
                };
                checker.observed(&call, state);
                checker.observed(&back, state);
            }
            (
                Defect::RepeatsDeletions,
                Tells {
                    observed: Observed::Deleted(_),
                    ..
                },
            ) => {
                checker.observed(&call, state);
                checker.observed(&call, state);
            }
            (Defect::LateFirstList, Tells { initial: true, .. }) => self.held_back.push(call),
            (Defect::LateFirstList, _) => {
                for late in self.held_back.drain(..) {
                    checker.observed(&late, state);
                }
                checker.observed(&call, state);
            }
            (Defect::HoardsChanges, _) => {
                *self.hoard.lock() += 1;
                checker.observed(&call, state);
            }
            _ => checker.observed(&call, state),
        }
    }

    /// Merges two updates of one object into one.
    fn skip(&mut self, call: Call, state: HandlerState) {
        let same = |held: &Call| held.name == call.name;
        let Some(index) = self.held_back.iter().position(same) else {
            self.held_back.push(call);
            return;
        };
        let earlier = self.held_back.remove(index);
        let (
            CallKind::Observed {
                observed: Observed::Updated { old, .. },
                ..
            },
            CallKind::Observed {
                observed: Observed::Updated { new, .. },
                ..
            },
        ) = (earlier.kind, call.kind)
        else {
            return;
        };
        let both = Call {
            name: call.name,
            kind: CallKind::Observed {
                observed: Observed::Updated { old, new },
                initial: false,
            },
        };
        self.checker.observed(&both, state);
    }
}

/// Adds a handler to an informer. Subscriptions are read in `tasks`.
pub(crate) fn add<K: Object>(
    informer: &SharedInformer<K>,
    plan: HandlerPlan,
    checker: HandlerChecker,
    faults: &Arc<Faults>,
    (rng, defect): (SimRng, Option<Defect>),
    tasks: &mut JoinSet<()>,
) -> (Handler, Registration<K>) {
    let checker = Arc::new(checker);
    let hoard = Arc::<Mutex<usize>>::default();
    let mut ear = Callback {
        checker: Arc::clone(&checker),
        faults: Arc::clone(faults),
        rng,
        defect,
        state: Arc::default(),
        held_back: Vec::new(),
        hoard: Arc::clone(&hoard),
    };
    let known = Arc::clone(&ear.state);
    let config = HandlerConfig {
        delivery: plan.delivery,
        resync: plan.resync,
        name: checker.name.as_str().into(),
        ..HandlerConfig::default()
    };
    let registration = match plan.mode {
        HandlerMode::Called => {
            let handler = move |change: ResourceEvent<K>| {
                ear.hear(&change);
                let percent = ear.faults.trouble.handler_panics;
                if ear.faults.strike(&mut ear.rng, percent) {
                    let name = &ear.checker.name;
                    ear.faults
                        .trace
                        .note("fault", format_args!("{name}: panics"));
                    // Without the panic hook, which would write to the terminal.
                    resume_unwind(Box::new("injected"));
                }
            };
            informer.add_handler_with(handler, config)
        }
        HandlerMode::Waits { pause_max } => {
            let ear = Arc::new(Mutex::new(ear));
            let handler = move |change: ResourceEvent<K>| {
                let ear = Arc::clone(&ear);
                async move {
                    let pause = ear.lock().rng.time(Duration::ZERO, pause_max);
                    // The event counts as handled after its delay, so that the synced state must
                    // wait for it too.
                    tokio::time::sleep(pause).await;
                    ear.lock().hear(&change);
                }
            };
            informer.add_waiting_handler(handler, config)
        }
        HandlerMode::Asks { pause_max } => {
            let subscription = informer.subscribe(config);
            let registration = subscription.registration();
            tasks.spawn(ask(subscription, ear, pause_max));
            registration
        }
    };
    let of_state = registration.clone();
    // Set once, here; a handler that is called earlier has not synced yet.
    drop(known.set(Box::new(move || of_state.state())));
    let (of_state, of_waiting, of_remove) = (
        registration.clone(),
        registration.clone(),
        registration.clone(),
    );
    let handler = Handler {
        checker,
        plan,
        state: Box::new(move || of_state.state()),
        waiting: Box::new(move || of_waiting.waiting()),
        remove: Box::new(move || of_remove.remove()),
        hoard,
    };
    (handler, registration)
}

async fn ask<K: Object>(mut subscription: Subscription<K>, mut ear: Callback, pause_max: Duration) {
    while let Some(change) = subscription.next().await {
        ear.hear(&change);
        if !pause_max.is_zero() {
            let pause = ear.rng.time(Duration::ZERO, pause_max);
            tokio::time::sleep(pause).await;
        }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("checker", &self.checker.name)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
