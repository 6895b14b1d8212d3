//! `Unit`: one checked informer with its handlers, from start to stop.

use crate::checks::{Check, Violations};
use crate::expectation::Expectation;
use crate::faults::Faults;
use crate::faulty_source::{FaultyListerWatcher, Shared};
use crate::handler::{self, Handler};
use crate::handler_checker::HandlerChecker;
use crate::ledger::Stamp;
use crate::network::{Network, Protocol};
use crate::plan::{Defect, Form, HandlerPlan, InformerPlan, NAMES, NAMESPACES};
use crate::rng::SimRng;
use crate::storage::Storage;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Encoded, Metadata, Selection, Source as _, Written};
use kubist_informers::{
    Delivery, HandlerState, InformerConfig, InformerStats, Problem, Registration, Report,
    SharedInformer,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The time limit for an informer's stop: more than a handler's longest pause.
const END_MAX: Duration = Duration::from_secs(2 * 60);

/// The time limit for a write to become visible.
const SHOWN_MAX: Duration = Duration::from_secs(30);

/// The parts of the simulation that units use.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) network: Network,
    pub(crate) storage: Arc<Storage>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) violations: Violations,
    pub(crate) defect: Option<Defect>,
}

/// An informer with its form erased.
pub(crate) struct Unit {
    name: String,
    plan: InformerPlan,
    environment: Environment,
    rng: SimRng,
    informer: Box<dyn AnyInformer>,
    expectation: Arc<Mutex<Expectation>>,
    handlers: Vec<Handler>,
    added: u32,
    token: CancellationToken,
    tasks: JoinSet<()>,
}

/// The operations on an informer of any form.
trait AnyInformer: Send {
    fn held(&self) -> BTreeMap<ObjectName, Stamp>;
    fn stats(&self) -> InformerStats;
    fn run(&self, token: CancellationToken, tasks: &mut JoinSet<()>);
    fn expect_shown(
        &self,
        name: String,
        written: Written,
        environment: &Environment,
        tasks: &mut JoinSet<()>,
    );
    fn add(
        &self,
        plan: HandlerPlan,
        checker: HandlerChecker,
        environment: &Environment,
        rng: SimRng,
        tasks: &mut JoinSet<()>,
    ) -> Handler;
}

impl<K: Object> AnyInformer for SharedInformer<K> {
    fn held(&self) -> BTreeMap<ObjectName, Stamp> {
        let objects = self.lister_unsynced().list();
        let entry = |object: &Arc<K>| (object.object_name(), Stamp::of(&**object));
        objects.iter().map(entry).collect()
    }

    fn stats(&self) -> InformerStats {
        Self::stats(self)
    }

    fn run(&self, token: CancellationToken, tasks: &mut JoinSet<()>) {
        let informer = self.clone();
        tasks.spawn(async move { informer.run(token).await.expect("it runs once") });
    }

    fn expect_shown(
        &self,
        name: String,
        written: Written,
        environment: &Environment,
        tasks: &mut JoinSet<()>,
    ) {
        let (lister, environment) = (self.lister_unsynced(), environment.clone());
        tasks.spawn(async move {
            let limit = tokio::time::sleep(SHOWN_MAX);
            if lister.wait_for(&written, limit).await.is_err() {
                return;
            }
            let written_at = written.version().to_u64();
            let is_gone = environment.storage.ledger(|ledger| {
                let now = ledger.original(&written.name);
                now.is_none_or(|now| now.stamp.uid != written.uid)
            });
            let held = lister.get(&written.name).map(|it| Stamp::of(&*it));
            let shows = held
                .as_ref()
                .is_some_and(|it| Some(it.version) >= written_at);
            // If the object was deleted meanwhile, the cache may lack it.
            if !is_gone && !shows {
                let what =
                    format!("{name}: {written} is reported as shown, but the cache has {held:?}");
                environment.violations.record(Check::Shown, what);
            }
        });
    }

    fn add(
        &self,
        plan: HandlerPlan,
        checker: HandlerChecker,
        environment: &Environment,
        rng: SimRng,
        tasks: &mut JoinSet<()>,
    ) -> Handler {
        let broken = (rng, environment.defect);
        let (handler, registration) =
            handler::add(self, plan, checker, &environment.faults, broken, tasks);
        tasks.spawn(watch_sync(registration, Arc::clone(&handler.checker)));
        handler
    }
}

/// Tells the checker when its registration has synced.
async fn watch_sync<K: Object>(registration: Registration<K>, checker: Arc<HandlerChecker>) {
    if registration.synced().await == HandlerState::Synced {
        checker.synced();
    }
}

impl Unit {
    /// Creates an informer with its first handlers and starts it.
    pub(crate) fn start(
        name: String,
        plan: &InformerPlan,
        environment: &Environment,
        rng: &SimRng,
    ) -> Self {
        let expectation = Arc::<Mutex<Expectation>>::default();
        let rng = rng.fork(&name);
        let make = InformerBuilder {
            name: &name,
            plan,
            environment,
            rng: &rng,
            expectation: &expectation,
        };
        let informer: Box<dyn AnyInformer> = match plan.form {
            Form::Decoded => Box::new(make.informer(ConfigMap::clone)),
            Form::Encoded => Box::new(make.informer(Encoded::<ConfigMap>::clone)),
            Form::Metadata => Box::new(
                make.informer(|it: &Metadata<ConfigMap>| Metadata::new(it.metadata.clone())),
            ),
        };
        let mut unit = Self {
            name,
            plan: plan.clone(),
            environment: environment.clone(),
            rng,
            informer,
            expectation,
            handlers: Vec::new(),
            added: 0,
            token: CancellationToken::new(),
            tasks: JoinSet::new(),
        };
        for plan in &plan.handlers {
            unit.add(*plan, true);
        }
        unit.informer.run(unit.token.clone(), &mut unit.tasks);
        let what = format_args!(
            "{} starts: {:?}, {:?}, {:?}, {:?}",
            unit.name, plan.form, plan.queue, plan.selection, plan.reflector.initial_sync
        );
        environment.faults.trace.note("informer", what);
        unit
    }

    /// Adds a handler.
    pub(crate) fn add(&mut self, plan: HandlerPlan, early: bool) {
        self.added += 1;
        let name = format!("{}/{}", self.name, self.added);
        let trace = &self.environment.faults.trace;
        let (delivery, mode) = (plan.delivery, plan.mode);
        trace.note("handler", format_args!("{name}: {delivery:?}, {mode:?}"));
        let rng = self.rng.fork(&name);
        let (expectation, violations) = (&self.expectation, &self.environment.violations);
        let checker = HandlerChecker::new(name, delivery, early, expectation, violations, trace);
        let tasks = &mut self.tasks;
        let handler = self
            .informer
            .add(plan, checker, &self.environment, rng, tasks);
        self.handlers.push(handler);
    }

    /// Starts a wait for a written original, which must not end early. Only for informers without
    /// selectors.
    pub(crate) fn written(&mut self, written: &Written) {
        if self.plan.selection == Selection::all() {
            let (name, written) = (self.name.clone(), written.clone());
            let tasks = &mut self.tasks;
            while tasks.try_join_next().is_some() {}
            self.informer
                .expect_shown(name, written, &self.environment, tasks);
        }
    }

    /// Removes the handler that was added last.
    pub(crate) fn remove_last(&self) {
        if let Some(handler) = self.handlers.last() {
            let trace = &self.environment.faults.trace;
            trace.note("handler", format_args!("{}: removed", handler.checker.name));
            handler.remove();
        }
    }

    /// Returns the expected contents.
    fn truth(&self) -> BTreeMap<ObjectName, Stamp> {
        let selection = &self.plan.selection;
        self.environment.storage.ledger(|it| it.selected(selection))
    }

    /// Reports whether the informer and all its handlers have the server's state.
    pub(crate) fn has_converged(&self) -> bool {
        let truth = self.truth();
        let mut alive = self.handlers.iter().filter(|it| it.is_alive());
        let agrees = |it: &Handler| {
            let every = matches!(it.plan.delivery, Delivery::EveryEvent { .. });
            it.state() == HandlerState::Synced
                && it.checker.held() == truth
                && !(every && it.checker.history_gap(true).is_some())
        };
        self.informer.held() == truth && alive.all(agrees)
    }

    /// Checks the number of pending events of the handlers.
    pub(crate) fn check_memory(&self) {
        let names = NAMES.len() * NAMESPACES.len();
        for handler in &self.handlers {
            let most = match handler.plan.delivery {
                Delivery::EveryEvent { pending_max } => pending_max,
                Delivery::Bounded { pending_max, .. } => pending_max.max(names),
                // At most one event is pending per object.
                _ => names,
            };
            let waiting = handler.waiting();
            if waiting > most {
                let name = &handler.checker.name;
                let what = format!("{name}: {waiting} changes wait, {most} may");
                self.environment.violations.record(Check::Memory, what);
            }
        }
    }

    /// Compares everything at the end of a run.
    pub(crate) fn check_end(&self) {
        let (truth, violations) = (self.truth(), &self.environment.violations);
        if let Some(what) = difference(&self.informer.held(), &truth) {
            violations.record(Check::Convergence, format!("{}: {what}", self.name));
        }
        for handler in self.handlers.iter().filter(|it| it.is_alive()) {
            if let Some(what) = difference(&handler.checker.held(), &truth) {
                let name = &handler.checker.name;
                violations.record(Check::FinalState, format!("{name}: {what}"));
            }
            if handler.state() != HandlerState::Synced {
                let what = format!("{} never synced", handler.checker.name);
                violations.record(Check::Synced, what);
            }
        }
        self.check_histories(true);
    }

    fn check_histories(&self, running: bool) {
        for handler in &self.handlers {
            if matches!(handler.plan.delivery, Delivery::EveryEvent { .. }) {
                let alive = running && handler.is_alive();
                if let Some(what) = handler.checker.history_gap(alive) {
                    let what = format!("{}: {what}", handler.checker.name);
                    self.environment.violations.record(Check::History, what);
                }
            }
        }
    }

    /// Stops the informer, its handlers and its tasks.
    pub(crate) async fn stop(mut self) {
        self.check_memory();
        let stats = self.informer.stats();
        let trace = &self.environment.faults.trace;
        let (lists, watches) = (stats.reflector.lists, stats.reflector.watches);
        let (objects, overflows) = (stats.objects, stats.handler_overflows);
        trace.note(
            "informer",
            format_args!(
                "{} stops: {objects} objects, {lists} lists, {watches} watches, \
                 {overflows} overflows",
                self.name
            ),
        );
        self.token.cancel();
        let tasks = &mut self.tasks;
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(END_MAX, ended).await.is_err() {
            let what = format!("{} did not end", self.name);
            self.environment.violations.record(Check::Tasks, what);
        }
        self.check_histories(false);
    }
}

/// Creates an informer.
struct InformerBuilder<'a> {
    name: &'a str,
    plan: &'a InformerPlan,
    environment: &'a Environment,
    rng: &'a SimRng,
    expectation: &'a Arc<Mutex<Expectation>>,
}

impl InformerBuilder<'_> {
    fn informer<F: Ingest>(&self, copy: fn(&F) -> F) -> SharedInformer<F> {
        let (environment, faults) = (self.environment, &self.environment.faults);
        let client = environment.network.client(Protocol::Http2);
        let lister = FaultyListerWatcher {
            inner: client.lister_watcher::<F>(&self.plan.selection),
            shared: Arc::new(Shared {
                name: self.name.to_owned(),
                faults: Arc::clone(faults),
                rng: Mutex::new(self.rng.fork("source")),
                expectation: Arc::clone(self.expectation),
                defect: environment.defect,
                copy: Some(copy),
            }),
        };
        let (trace, name) = (faults.trace.clone(), self.name.to_owned());
        let config = InformerConfig {
            name: self.name.into(),
            reflector: self.plan.reflector.clone(),
            seed: Some(self.rng.fork("seed").next()),
            queue: self.plan.queue,
            resync: self.plan.resync,
            on_problem: Some(Arc::new(move |problem: &Problem| {
                trace.note("problem", format_args!("{name}: {}", shown(problem)));
            })),
            ..InformerConfig::default()
        };
        SharedInformer::new(Arc::new(lister), config)
    }
}

/// Shows a problem in one short line.
fn shown(problem: &Problem) -> String {
    match problem {
        Problem::Fetch(Report::ListFailed(error)) => format!("list failed: {error}"),
        Problem::Fetch(Report::WatchFailed(error, then)) => {
            format!("watch failed: {error}, {then:?}")
        }
        other => format!("{other:?}"),
    }
}

/// Returns the first difference between two views.
pub(crate) fn difference(
    has: &BTreeMap<ObjectName, Stamp>,
    should: &BTreeMap<ObjectName, Stamp>,
) -> Option<String> {
    for (name, stamp) in should {
        match has.get(name) {
            None => return Some(format!("lacks {name} {stamp}")),
            Some(held) if held != stamp => {
                return Some(format!("has {name} {held}, the server {stamp}"));
            }
            Some(_) => {}
        }
    }
    let extra = has.iter().find(|(name, _)| !should.contains_key(*name));
    extra.map(|(name, stamp)| format!("has {name} {stamp}, which is gone"))
}
