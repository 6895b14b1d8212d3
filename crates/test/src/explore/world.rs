//! `World`: one run of a scenario by one plan, on a runtime of its own.

mod due;

use crate::clock::{after, later};
use crate::controllers::ServerController;
use crate::explore::ground::{self, Ground, Standing};
use crate::explore::hub::{Hub, SIGNALS_MAX, Signal};
use crate::explore::normal::Normal;
use crate::explore::observer::{Observer, TURN};
use crate::explore::outcome::Outcome;
use crate::explore::panics::Panics;
use crate::explore::plan::{Measured, Plan, Stale};
use crate::explore::problem::Problem;
use crate::explore::random::Random;
use crate::explore::running::Running;
use crate::explore::scenario::Scenario;
use crate::explore::state::State;
use crate::explore::trace::{Pulse, Trace};
use crate::explore::witness::Witness;
use crate::faults::{Faults, Interposer, Revisions, Sender, Tap};
use crate::login::Login;
use crate::story::What;
use due::Due;
use futures_util::FutureExt as _;
use futures_util::future::pending;
use kubist::client::Client;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long a step of the user may take.
const STEP_MAX: Duration = Duration::from_secs(60 * 60);
/// How long dropped tasks may take to end.
const TASKS_END: Duration = Duration::from_secs(60);
/// How often to look whether they have.
const TASKS_LOOK: Duration = Duration::from_secs(1);
/// The name of the user who takes the steps.
pub(crate) const USER: &str = "user";
/// Writes of a run without faults, after its last step, that count as a loop.
const REFERENCE_WRITES: u64 = 2_000;

/// How a run is made.
pub(crate) struct Terms<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) ground: &'a Ground,
    /// How a run without faults ends, to be compared with.
    pub(crate) reference: Option<&'a Outcome>,
    /// Whether everything that happens is kept.
    pub(crate) in_full: bool,
    /// For who watches from outside.
    pub(crate) pulse: Arc<Pulse>,
}

struct World<'a> {
    terms: &'a Terms<'a>,
    standing: Standing,
    hub: Arc<Hub>,
    state: Arc<Mutex<State>>,
    signals: mpsc::Receiver<Signal>,
    copies: Vec<Running>,
    due: Vec<(Instant, Due)>,
    user: Client,
    background: JoinSet<()>,
    /// A thread for blocking work was started.
    blocking: Arc<AtomicBool>,
}

/// Runs a plan on this thread.
pub(crate) fn run(terms: &Terms<'_>, plan: Plan) -> Outcome {
    let panics = Panics::collect();
    let blocking = Arc::<AtomicBool>::default();
    let runtime = match ground::runtime(&blocking) {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::failed(ground::setup(error)),
    };
    let world = AssertUnwindSafe(|| {
        runtime.block_on(async {
            match World::build(terms, plan, &blocking).await {
                Ok(world) => world.play().await,
                Err(problem) => Outcome::failed(problem),
            }
        })
    });
    // Controllers and invariants are caught where they run; this is a step, or a rule.
    let outcome = catch_unwind(world).unwrap_or_else(|_| {
        Outcome::failed(Problem::Panicked {
            controller: "a step of the user".to_owned(),
            message: Panics::take().pop().unwrap_or_default(),
        })
    });
    // Dropping it would wait for threads that controllers have started.
    runtime.shutdown_background();
    drop(panics);
    outcome
}

impl<'a> World<'a> {
    async fn build(
        terms: &'a Terms<'a>,
        plan: Plan,
        blocking: &Arc<AtomicBool>,
    ) -> Result<Self, Problem> {
        let Terms {
            scenario, ground, ..
        } = terms;
        let trace = Trace::begin(terms.in_full, Arc::clone(&terms.pulse));
        let standing = ground.start(plan.seed).await?;
        let mut background = JoinSet::new();
        for (index, controller) in scenario.servers_own.iter().enumerate() {
            let mut seed = Random::new(plan.seed).of("server's own", &[index as u64]);
            let client = standing.client(&controller.login(), seed.next())?;
            let token = CancellationToken::new();
            background.spawn(controller.run(&standing.server, client, token).map(drop));
        }
        let revisions = Revisions::of(standing.kv.clone());
        background.spawn(revisions.clone().run());
        let faults = Faults::new(revisions);
        scenario.add_faults.iter().for_each(|add| add(&faults));
        let names = scenario.controllers.iter().map(|it| it.name.clone());
        let (sender, signals) = mpsc::channel(SIGNALS_MAX);
        let requests_max = scenario.limits.requests;
        let hub = Hub::new(plan, trace, faults, names.collect(), sender, requests_max);
        let hub = Arc::new(hub);
        let state = Arc::new(Mutex::new(ground.state.clone()));
        let of_reference = terms.reference.map(|it| 100 + 10 * it.writes());
        let writes_max = scenario.limits.writes.or(of_reference);
        let writes_max = writes_max.unwrap_or(REFERENCE_WRITES);
        let invariants = scenario.invariants.as_slice().into();
        let observer = Observer::new(&hub, &invariants, &state, writes_max);
        observer.ask(&ground.state);
        background.spawn(observer.run(standing.kv.clone(), ground.state.revision()));
        let user = user(&standing, &hub)?;
        let candidates = scenario.controllers.iter().enumerate();
        let copies = candidates.flat_map(|(index, candidate)| {
            (0..candidate.copies)
                .map(move |copy| Running::new(index, copy, candidate, scenario.login_of(candidate)))
        });
        Ok(Self {
            terms,
            standing,
            hub,
            state,
            signals,
            copies: copies.collect(),
            due: Vec::new(),
            user,
            background,
            blocking: Arc::clone(blocking),
        })
    }

    async fn play(mut self) -> Outcome {
        for index in 0..self.copies.len() {
            self.start(index, None);
        }
        for (index, gap) in self.hub.plan.steps.clone() {
            match gap {
                Some(gap) => self.pass(gap).await,
                None => self.settle().await,
            }
            if self.hub.is_stopped() {
                break;
            }
            self.take_step(index).await;
        }
        // Faults may still strike here, at what the last step has caused.
        self.settle().await;
        if self.calm_down().await {
            self.settle().await;
        }
        let end = self.judge();
        self.shut_down().await;
        self.outcome(end).await
    }

    fn start(&mut self, index: usize, stale: Option<Stale>) {
        let base = self.terms.ground.state.revision();
        let running = &mut self.copies[index];
        if let Err(problem) = running.start(&self.standing, &self.hub, base, stale) {
            self.hub.report(problem);
        }
        if let Some(stale) = stale {
            let life = running.copy.life;
            let at = Instant::now() + stale.catch_up;
            self.due.push((at, Due::CatchUp(index, life)));
        }
    }

    /// Lets time pass.
    async fn pass(&mut self, time: Duration) {
        let until = after(time);
        self.beside(pending::<()>(), until).await;
    }

    /// Waits for a future until a time, and does meanwhile what signals and faults demand.
    async fn beside<T>(&mut self, future: impl Future<Output = T>, until: Instant) -> Option<T> {
        let mut future = Box::pin(future);
        while !self.hub.is_stopped() {
            let due = self.due.iter().map(|(at, _)| *at).min();
            let wake = due.map_or(until, |it| it.min(until));
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => self.handle(signal).await,
                value = &mut future => return Some(value),
                () = sleep_until(wake) => {
                    let now = Instant::now();
                    if let Some(index) = self.due.iter().position(|(at, _)| *at <= now) {
                        let (_, due) = self.due.remove(index);
                        self.act(due);
                    } else if now >= until {
                        return None;
                    }
                }
            }
            self.check_controllers();
        }
        None
    }

    /// Waits until nothing is written any more, and no fault goes on.
    async fn settle(&mut self) {
        let limits = &self.terms.scenario.limits;
        let limit = after(limits.settle);
        loop {
            let quiet_at = later(self.hub.ledger.lock().last(), limits.quiet);
            let last_due = self.due.iter().map(|(at, _)| *at + TURN).max();
            let now = Instant::now();
            if self.hub.is_stopped() || (now >= quiet_at && last_due.is_none()) {
                return;
            }
            if now >= limit {
                let most = self.hub.ledger.lock().most_written(100);
                return self.hub.report(Problem::NotSettled {
                    within: limits.settle,
                    quiet: limits.quiet,
                    most,
                });
            }
            let until = last_due.map_or(quiet_at, |it| it.max(quiet_at));
            self.beside(pending::<()>(), until.min(limit)).await;
        }
    }

    async fn take_step(&mut self, index: usize) {
        let Some(step) = self.terms.scenario.steps.get(index).cloned() else {
            return;
        };
        self.hub.ledger.lock().disturb();
        self.hub.trace.note(|| What::Step(step.name.clone()));
        self.hub.trace.beat(|text| text.push_str(&step.name));
        let act = (step.act)(self.user.clone());
        let until = Instant::now() + STEP_MAX;
        let ended = self.beside(act, until).await;
        self.hub.ledger.lock().disturb();
        let error = match ended {
            Some(Ok(())) => return,
            Some(Err(error)) => error,
            None if self.hub.is_stopped() => return,
            None => format!("it takes longer than {STEP_MAX:?}"),
        };
        self.hub.report(Problem::StepFailed {
            step: step.name,
            error,
        });
    }

    fn check_controllers(&self) {
        let name = || match &self.hub.names[..] {
            [only] => only.clone(),
            names => format!("one of {}", names.join(", ")),
        };
        if let Some(message) = Panics::take().into_iter().next() {
            let controller = name();
            self.hub.report(Problem::Panicked {
                controller,
                message,
            });
        }
        if self.blocking.load(Ordering::Relaxed) {
            self.hub.report(Problem::Elsewhere {
                controller: name(),
                what: "it starts a thread with spawn_blocking".to_owned(),
            });
        }
        self.copies.iter().for_each(|it| it.check(&self.hub));
    }

    /// Ends all faults. Returns whether any was left.
    async fn calm_down(&mut self) -> bool {
        self.hub.calm_down();
        self.hub.faults.clear();
        let due = std::mem::take(&mut self.due);
        let was_left = !due.is_empty() || !self.terms.scenario.add_faults.is_empty();
        for (_, due) in due {
            self.act(due);
        }
        // Delayed requests are under way for that long.
        self.pass(self.hub.plan.delay_max + TURN).await;
        was_left
    }

    /// Compares the end with what it should be.
    fn judge(&self) -> Normal {
        let scenario = self.terms.scenario;
        let state = self.state.lock();
        let collects = scenario
            .servers_own
            .contains(&ServerController::GarbageCollector);
        if collects && let Some((object, owners)) = state.orphan() {
            self.hub.report(Problem::Orphan { object, owners });
        }
        let base = self.terms.ground.state.revision();
        let end = Normal::of(&state.without_garbage(), base);
        if let Some(reference) = self.terms.reference
            && scenario.converges
            && !self.hub.is_stopped()
        {
            let differences = reference.end.differences(&end, &scenario.excuses);
            if !differences.is_empty() {
                self.hub.report(Problem::Diverged { differences });
            }
        }
        end
    }

    async fn shut_down(&mut self) {
        let limit = self.terms.scenario.limits.stop;
        for running in &mut self.copies {
            if self.hub.is_stopped() {
                running.crash().await;
            } else {
                running.stop(&self.hub, limit).await;
            }
        }
        self.check_controllers();
        self.hub.stop();
    }

    /// Drops everything, and looks whether something goes on.
    async fn outcome(self, end: Normal) -> Outcome {
        let Self {
            hub,
            standing,
            background,
            user,
            copies,
            state,
            ..
        } = self;
        let measured = hub.names.iter().enumerate().map(|(index, name)| {
            let counts = hub.counts(index);
            let ledger = hub.ledger.lock();
            let own = || copies.iter().filter(|it| it.copy.controller == index);
            Measured {
                name: name.clone(),
                copies: own().count(),
                writes: counts.writes,
                requests: counts.requests,
                events: counts.events,
                is_elected: own().any(|it| ledger.holds_lease(it.label())),
            }
        });
        let measured = measured.collect();
        drop((copies, user, standing, background, state));
        let metrics = Handle::current().metrics();
        let until = Instant::now() + TASKS_END;
        sleep(TURN).await;
        while metrics.num_alive_tasks() > 0 && Instant::now() < until {
            sleep(TASKS_LOOK).await;
        }
        let left = metrics.num_alive_tasks();
        if left > 0 && hub.problem().is_none() {
            hub.report(Problem::Outlived {
                controller: String::new(),
                what: format!("{left} tasks"),
            });
        }
        Outcome::of(&hub, measured, end)
    }
}

/// Returns the client of the user who takes the steps.
fn user(standing: &Standing, hub: &Arc<Hub>) -> Result<Client, Problem> {
    let login = Login::admin().with_user_agent(USER);
    let sender = Sender {
        user: login.user.clone(),
        client: USER.into(),
    };
    let witness = Witness {
        label: USER.into(),
        hub: Arc::clone(hub),
    };
    // No rules: a server that is down would fail the step instead of the controller.
    let taps: Vec<Arc<dyn Tap>> = vec![Arc::new(witness)];
    let transport = Interposer::transport(sender, Some(USER), taps, standing.transport(&login)?);
    let transport = transport.map_err(ground::setup)?;
    Ok(standing.client_over(transport, hub.plan.seed))
}
