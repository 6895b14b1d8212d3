//! `Unit`: one informer under observation, with its handlers, from its start to its end.

use crate::dice::Dice;
use crate::expectation::Expectation;
use crate::faults::Faults;
use crate::handler::{self, Handler};
use crate::ledger::Stamp;
use crate::network::{Network, Speaks};
use crate::plan::{Defect, Form, HandlerPlan, InformerPlan, NAMES, NAMESPACES};
use crate::source::{Shared, TroubledLister};
use crate::storage::Storage;
use crate::verdict::{Check, Verdict};
use crate::witness::Witness;
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

/// How long an informer may take to end: longer than a handler's longest pause.
const END_MAX: Duration = Duration::from_mins(2);

/// How long somebody waits for a write to be shown.
const SHOWN_MAX: Duration = Duration::from_secs(30);

/// What units have to do with.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) network: Network,
    pub(crate) storage: Arc<Storage>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) verdict: Verdict,
    pub(crate) defect: Option<Defect>,
}

/// An informer, its form forgotten.
pub(crate) struct Unit {
    name: String,
    plan: InformerPlan,
    stage: Stage,
    dice: Dice,
    informer: Box<dyn AnyInformer>,
    expectation: Arc<Mutex<Expectation>>,
    handlers: Vec<Handler>,
    added: u32,
    token: CancellationToken,
    tasks: JoinSet<()>,
}

/// What is needed of an informer of any form.
trait AnyInformer: Send {
    fn held(&self) -> BTreeMap<ObjectName, Stamp>;
    fn stats(&self) -> InformerStats;
    fn run(&self, token: CancellationToken, tasks: &mut JoinSet<()>);
    fn expect_shown(&self, name: String, written: Written, stage: &Stage, tasks: &mut JoinSet<()>);
    fn add(
        &self,
        plan: HandlerPlan,
        witness: Witness,
        stage: &Stage,
        dice: Dice,
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

    fn expect_shown(&self, name: String, written: Written, stage: &Stage, tasks: &mut JoinSet<()>) {
        let (lister, stage) = (self.lister_unsynced(), stage.clone());
        tasks.spawn(async move {
            let limit = tokio::time::sleep(SHOWN_MAX);
            if lister.wait_for(&written, limit).await.is_err() {
                return;
            }
            let written_at = written.version().to_u64();
            let is_gone = stage.storage.ledger(|ledger| {
                let now = ledger.original(&written.name);
                now.is_none_or(|now| now.stamp.uid != written.uid)
            });
            let held = lister.get(&written.name).map(|it| Stamp::of(&*it));
            let shows = held
                .as_ref()
                .is_some_and(|it| Some(it.version) >= written_at);
            // Of what is gone by now the cache may show nothing.
            if !is_gone && !shows {
                let what = format!("{name}: {written} is said to be shown, there is {held:?}");
                stage.verdict.violated(Check::Shown, what);
            }
        });
    }

    fn add(
        &self,
        plan: HandlerPlan,
        witness: Witness,
        stage: &Stage,
        dice: Dice,
        tasks: &mut JoinSet<()>,
    ) -> Handler {
        let broken = (dice, stage.defect);
        let (handler, registration) =
            handler::add(self, plan, witness, &stage.faults, broken, tasks);
        tasks.spawn(watch_sync(registration, Arc::clone(&handler.witness)));
        handler
    }
}

/// Tells the witness when its registration is synced.
async fn watch_sync<K: Object>(registration: Registration<K>, witness: Arc<Witness>) {
    if registration.synced().await == HandlerState::Synced {
        witness.synced();
    }
}

impl Unit {
    /// Makes an informer with its first handlers, and starts it.
    pub(crate) fn start(name: String, plan: &InformerPlan, stage: &Stage, dice: &Dice) -> Self {
        let expectation = Arc::<Mutex<Expectation>>::default();
        let dice = dice.fork(&name);
        let make = Make {
            name: &name,
            plan,
            stage,
            dice: &dice,
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
            stage: stage.clone(),
            dice,
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
        stage.faults.trace.note("informer", what);
        unit
    }

    /// Adds a handler.
    pub(crate) fn add(&mut self, plan: HandlerPlan, early: bool) {
        self.added += 1;
        let name = format!("{}/{}", self.name, self.added);
        let trace = &self.stage.faults.trace;
        let (delivery, manner) = (plan.delivery, plan.manner);
        trace.note("handler", format_args!("{name}: {delivery:?}, {manner:?}"));
        let dice = self.dice.fork(&name);
        let (expectation, verdict) = (&self.expectation, &self.stage.verdict);
        let witness = Witness::new(name, delivery, early, expectation, verdict, trace);
        let tasks = &mut self.tasks;
        let handler = self.informer.add(plan, witness, &self.stage, dice, tasks);
        self.handlers.push(handler);
    }

    /// An original was written; whoever waits for it must not be told of it too early. Only where
    /// no selector keeps objects out.
    pub(crate) fn written(&mut self, written: &Written) {
        if self.plan.selection == Selection::all() {
            let (name, written) = (self.name.clone(), written.clone());
            let tasks = &mut self.tasks;
            while tasks.try_join_next().is_some() {}
            self.informer
                .expect_shown(name, written, &self.stage, tasks);
        }
    }

    /// Removes the handler that was added last.
    pub(crate) fn remove_last(&self) {
        if let Some(handler) = self.handlers.last() {
            let trace = &self.stage.faults.trace;
            trace.note("handler", format_args!("{}: removed", handler.witness.name));
            handler.remove();
        }
    }

    /// What it should hold.
    fn truth(&self) -> BTreeMap<ObjectName, Stamp> {
        let selection = &self.plan.selection;
        self.stage.storage.ledger(|it| it.selected(selection))
    }

    /// Whether it, and every handler of it, has what the server has.
    pub(crate) fn has_converged(&self) -> bool {
        let truth = self.truth();
        let mut alive = self.handlers.iter().filter(|it| it.is_alive());
        let agrees = |it: &Handler| {
            let every = matches!(it.plan.delivery, Delivery::EveryEvent { .. });
            it.state() == HandlerState::Synced
                && it.witness.held() == truth
                && !(every && it.witness.history_gap(true).is_some())
        };
        self.informer.held() == truth && alive.all(agrees)
    }

    /// Looks at what waits for the handlers.
    pub(crate) fn check_memory(&self) {
        let names = NAMES.len() * NAMESPACES.len();
        for handler in &self.handlers {
            let most = match handler.plan.delivery {
                Delivery::EveryEvent { pending_max } => pending_max,
                Delivery::Bounded { pending_max, .. } => pending_max.max(names),
                // At most one change waits for each object.
                _ => names,
            };
            let waiting = handler.waiting();
            if waiting > most {
                let name = &handler.witness.name;
                let what = format!("{name}: {waiting} changes wait, {most} may");
                self.stage.verdict.violated(Check::Memory, what);
            }
        }
    }

    /// Compares everything at the end of a run.
    pub(crate) fn check_end(&self) {
        let (truth, verdict) = (self.truth(), &self.stage.verdict);
        if let Some(what) = difference(&self.informer.held(), &truth) {
            verdict.violated(Check::Convergence, format!("{}: {what}", self.name));
        }
        for handler in self.handlers.iter().filter(|it| it.is_alive()) {
            if let Some(what) = difference(&handler.witness.held(), &truth) {
                let name = &handler.witness.name;
                verdict.violated(Check::FinalState, format!("{name}: {what}"));
            }
            if handler.state() != HandlerState::Synced {
                let what = format!("{} never became synced", handler.witness.name);
                verdict.violated(Check::Synced, what);
            }
        }
        self.check_histories(true);
    }

    fn check_histories(&self, running: bool) {
        for handler in &self.handlers {
            if matches!(handler.plan.delivery, Delivery::EveryEvent { .. }) {
                let alive = running && handler.is_alive();
                if let Some(what) = handler.witness.history_gap(alive) {
                    let what = format!("{}: {what}", handler.witness.name);
                    self.stage.verdict.violated(Check::History, what);
                }
            }
        }
    }

    /// Ends the informer, its handlers, and its tasks.
    pub(crate) async fn stop(mut self) {
        self.check_memory();
        let stats = self.informer.stats();
        let trace = &self.stage.faults.trace;
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
            self.stage.verdict.violated(Check::Tasks, what);
        }
        self.check_histories(false);
    }
}

/// What an informer is made of.
struct Make<'a> {
    name: &'a str,
    plan: &'a InformerPlan,
    stage: &'a Stage,
    dice: &'a Dice,
    expectation: &'a Arc<Mutex<Expectation>>,
}

impl Make<'_> {
    fn informer<F: Ingest>(&self, copy: fn(&F) -> F) -> SharedInformer<F> {
        let (stage, faults) = (self.stage, &self.stage.faults);
        let client = stage.network.client(Speaks::Http2);
        let lister = TroubledLister {
            inner: client.lister_watcher::<F>(&self.plan.selection),
            shared: Arc::new(Shared {
                name: self.name.to_owned(),
                faults: Arc::clone(faults),
                dice: Mutex::new(self.dice.fork("source")),
                expectation: Arc::clone(self.expectation),
                defect: stage.defect,
                copy: Some(copy),
            }),
        };
        let (trace, name) = (faults.trace.clone(), self.name.to_owned());
        let config = InformerConfig {
            name: self.name.into(),
            reflector: self.plan.reflector.clone(),
            seed: Some(self.dice.fork("seed").next()),
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

/// A problem in one short line.
fn shown(problem: &Problem) -> String {
    match problem {
        Problem::Fetch(Report::ListFailed(error)) => format!("list failed: {error}"),
        Problem::Fetch(Report::WatchFailed(error, then)) => {
            format!("watch failed: {error}, {then:?}")
        }
        other => format!("{other:?}"),
    }
}

/// Where two views differ, if they do.
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
