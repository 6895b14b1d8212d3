//! `Handler`: a witness at an informer, and the ways in which it can be broken.

use crate::dice::Dice;
use crate::expectation::Observed;
use crate::faults::Faults;
use crate::plan::{Defect, HandlerPlan, Manner};
use crate::witness::{Call, Said, Witness};
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, Registration, SharedInformer, Subscription};
use parking_lot::Mutex;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;

/// A handler whose informer's form is forgotten.
pub(crate) struct Handler {
    pub(crate) witness: Arc<Witness>,
    pub(crate) plan: HandlerPlan,
    state: Box<dyn Fn() -> HandlerState + Send>,
    waiting: Box<dyn Fn() -> usize + Send>,
    remove: Box<dyn Fn() + Send>,
    /// What a broken mailbox keeps.
    hoard: Arc<Mutex<usize>>,
}

impl Handler {
    /// How far it is.
    pub(crate) fn state(&self) -> HandlerState {
        (self.state)()
    }

    /// Whether it is still told of changes.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(self.state(), HandlerState::Syncing | HandlerState::Synced)
    }

    /// How many changes wait for it.
    pub(crate) fn waiting(&self) -> usize {
        (self.waiting)() + *self.hoard.lock()
    }

    /// It shall be told no more.
    pub(crate) fn remove(&self) {
        (self.remove)();
    }
}

/// What a handler does when it is called.
struct Ear {
    witness: Arc<Witness>,
    faults: Arc<Faults>,
    dice: Dice,
    defect: Option<Defect>,
    state: Arc<OnceLock<Box<dyn Fn() -> HandlerState + Send + Sync>>>,
    /// Calls that a broken adapter holds back.
    held_back: Vec<Call>,
    hoard: Arc<Mutex<usize>>,
}

impl Ear {
    fn hear<K: Object>(&mut self, change: &ResourceEvent<K>) {
        let call = Call::of(change);
        let state = self.state.get().map_or(HandlerState::Syncing, |it| it());
        match self.defect {
            None => self.witness.observed(&call, state),
            Some(defect) => self.hear_wrongly(defect, call, state),
        }
    }

    fn hear_wrongly(&mut self, defect: Defect, call: Call, state: HandlerState) {
        use Said::Observed as Tells;
        let witness = &self.witness;
        match (defect, &call.said) {
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
                    said: Tells {
                        observed,
                        initial: false,
                    },
                };
                witness.observed(&call, state);
                witness.observed(&back, state);
            }
            (
                Defect::RepeatsDeletions,
                Tells {
                    observed: Observed::Deleted(_),
                    ..
                },
            ) => {
                witness.observed(&call, state);
                witness.observed(&call, state);
            }
            (Defect::LateFirstList, Tells { initial: true, .. }) => self.held_back.push(call),
            (Defect::LateFirstList, _) => {
                for late in self.held_back.drain(..) {
                    witness.observed(&late, state);
                }
                witness.observed(&call, state);
            }
            (Defect::HoardsChanges, _) => {
                *self.hoard.lock() += 1;
                witness.observed(&call, state);
            }
            _ => witness.observed(&call, state),
        }
    }

    /// Tells two updates of one object as one.
    fn skip(&mut self, call: Call, state: HandlerState) {
        let same = |held: &Call| held.name == call.name;
        let Some(index) = self.held_back.iter().position(same) else {
            self.held_back.push(call);
            return;
        };
        let earlier = self.held_back.remove(index);
        let (
            Said::Observed {
                observed: Observed::Updated { old, .. },
                ..
            },
            Said::Observed {
                observed: Observed::Updated { new, .. },
                ..
            },
        ) = (earlier.said, call.said)
        else {
            return;
        };
        let both = Call {
            name: call.name,
            said: Said::Observed {
                observed: Observed::Updated { old, new },
                initial: false,
            },
        };
        self.witness.observed(&both, state);
    }
}

/// Adds a handler to an informer. Those that ask for changes do so in `tasks`.
pub(crate) fn add<K: Object>(
    informer: &SharedInformer<K>,
    plan: HandlerPlan,
    witness: Witness,
    faults: &Arc<Faults>,
    (dice, defect): (Dice, Option<Defect>),
    tasks: &mut JoinSet<()>,
) -> (Handler, Registration<K>) {
    let witness = Arc::new(witness);
    let hoard = Arc::<Mutex<usize>>::default();
    let mut ear = Ear {
        witness: Arc::clone(&witness),
        faults: Arc::clone(faults),
        dice,
        defect,
        state: Arc::default(),
        held_back: Vec::new(),
        hoard: Arc::clone(&hoard),
    };
    let known = Arc::clone(&ear.state);
    let config = HandlerConfig {
        delivery: plan.delivery,
        resync: plan.resync,
        name: witness.name.as_str().into(),
        ..HandlerConfig::default()
    };
    let registration = match plan.manner {
        Manner::Called => {
            let handler = move |change: ResourceEvent<K>| {
                ear.hear(&change);
                let percent = ear.faults.trouble.handler_panics;
                if ear.faults.strike(&mut ear.dice, percent) {
                    let name = &ear.witness.name;
                    ear.faults
                        .trace
                        .note("fault", format_args!("{name}: panics"));
                    // Without the hook, which would write to the terminal.
                    resume_unwind(Box::new("by the dice"));
                }
            };
            informer.add_handler_with(handler, config)
        }
        Manner::Waits { pause_max } => {
            let ear = Arc::new(Mutex::new(ear));
            let handler = move |change: ResourceEvent<K>| {
                let ear = Arc::clone(&ear);
                async move {
                    let pause = ear.lock().dice.time(Duration::ZERO, pause_max);
                    // What is handled is what has waited: so that synced must wait for it too.
                    tokio::time::sleep(pause).await;
                    ear.lock().hear(&change);
                }
            };
            informer.add_waiting_handler(handler, config)
        }
        Manner::Asks { pause_max } => {
            let subscription = informer.subscribe(config);
            let registration = subscription.registration();
            tasks.spawn(ask(subscription, ear, pause_max));
            registration
        }
    };
    let of_state = registration.clone();
    // Set once, here; whoever is called before that is not synced yet.
    drop(known.set(Box::new(move || of_state.state())));
    let (of_state, of_waiting, of_remove) = (
        registration.clone(),
        registration.clone(),
        registration.clone(),
    );
    let handler = Handler {
        witness,
        plan,
        state: Box::new(move || of_state.state()),
        waiting: Box::new(move || of_waiting.waiting()),
        remove: Box::new(move || of_remove.remove()),
        hoard,
    };
    (handler, registration)
}

async fn ask<K: Object>(mut subscription: Subscription<K>, mut ear: Ear, pause_max: Duration) {
    while let Some(change) = subscription.next().await {
        ear.hear(&change);
        if !pause_max.is_zero() {
            let pause = ear.dice.time(Duration::ZERO, pause_max);
            tokio::time::sleep(pause).await;
        }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("witness", &self.witness.name)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
