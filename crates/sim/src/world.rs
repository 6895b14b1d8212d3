//! `World`: server, network, clients, informers and controller of one run.

use crate::checks::{Check, Violations};
use crate::faults::Faults;
use crate::ledger::{Kind, OWNER, Stored};
use crate::mirror::Mirror;
use crate::network::Network;
use crate::outcome::Outcome;
use crate::plan::{Defect, Plan, Step, TIER, Write, WriteVerb};
use crate::rng::SimRng;
use crate::server::{Port, Server};
use crate::storage::Storage;
use crate::trace::Trace;
use crate::unit::{Environment, Unit};
use crate::unreadable;
use kubist_api::core::v1::{ConfigMap, Secret};
use kubist_apimachinery::{ObjectName, Str};
use kubist_cache::Written;
use kubist_client::{Api, ApiError, Client};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// How often convergence is checked.
const SETTLE_LOOK: Duration = Duration::from_secs(1);
/// How long convergence must last.
const SETTLE_STAY: Duration = Duration::from_secs(5);
/// How long dropped tasks may take to end.
const LEAK_MAX: Duration = Duration::from_secs(60);

struct World {
    plan: Plan,
    trace: Trace,
    violations: Violations,
    storage: Arc<Storage>,
    server: Server,
    network: Network,
    faults: Arc<Faults>,
    environment: Environment,
    operator: Client,
    /// The number of writes so far, which objects contain.
    writes: u64,
    rng: SimRng,
    units: Vec<Unit>,
    restarts: u32,
    mirror: Mirror,
    /// Faults that end by themselves.
    ends: Vec<(Instant, Ending)>,
}

/// The end of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    ServerDown,
    Stall,
    StorageFailures,
}

/// Executes a plan on a runtime with a paused clock.
pub(crate) async fn run(plan: Plan) -> Outcome {
    let trace = Trace::start();
    let violations = Violations::new(&trace);
    let mut world = World::new(plan, &trace, &violations).await;
    world.play().await;
    world.settle().await;
    world.shut_down().await;
    check_tasks(&violations).await;
    Outcome::of(&trace, &violations)
}

/// Checks that no other task runs.
async fn check_tasks(violations: &Violations) {
    let metrics = tokio::runtime::Handle::current().metrics();
    let until = Instant::now() + LEAK_MAX;
    while metrics.num_alive_tasks() > 0 && Instant::now() < until {
        sleep(SETTLE_LOOK).await;
    }
    let left = metrics.num_alive_tasks();
    if left > 0 {
        let what = format!("{left} tasks go on after the shutdown");
        violations.record(Check::Tasks, what);
    }
}

impl World {
    async fn new(plan: Plan, trace: &Trace, violations: &Violations) -> Self {
        let rng = SimRng::new(plan.seed);
        let storage = Arc::new(Storage::new(&plan, trace));
        let port = Port::default();
        let mut server = Server::new(&storage, &port, trace, plan.seed);
        server.start().await;
        let latency_max = plan.trouble.latency_max;
        let network = Network::new(&port, trace, rng.fork("network"), latency_max);
        let faults = Arc::new(Faults::new(plan.trouble.clone(), trace));
        let environment = Environment {
            network: network.clone(),
            storage: Arc::clone(&storage),
            faults: Arc::clone(&faults),
            violations: violations.clone(),
            defect: plan.defect,
        };
        let mirror = Mirror::new(&plan.controller, &environment, rng.fork("mirror"));
        Self {
            trace: trace.clone(),
            violations: violations.clone(),
            storage,
            server,
            operator: network.operator(),
            network,
            faults,
            environment,
            writes: 0,
            rng: rng.fork("world"),
            units: Vec::new(),
            restarts: 0,
            mirror,
            ends: Vec::new(),
            plan,
        }
    }

    /// The phase of writes and faults.
    async fn play(&mut self) {
        let began = Instant::now();
        let steps = std::mem::take(&mut self.plan.steps);
        let mut started = false;
        for (at, step) in steps {
            if !started && at > Duration::ZERO {
                self.start_clients();
                started = true;
            }
            self.pass_time_until(began + at).await;
            self.take(step).await;
            self.units.iter().for_each(Unit::check_memory);
        }
        if !started {
            self.start_clients();
        }
        self.pass_time_until(began + self.plan.length).await;
    }

    fn start_clients(&mut self) {
        for index in 0..self.plan.informers.len() {
            let unit = self.unit(index);
            self.units.push(unit);
        }
        self.mirror.start(None);
    }

    fn unit(&mut self, index: usize) -> Unit {
        self.restarts += 1;
        let name = format!("informer-{index}.{}", self.restarts);
        let plan = &self.plan.informers[index];
        Unit::start(name, plan, &self.environment, &self.rng)
    }

    /// Waits, and ends faults meanwhile.
    async fn pass_time_until(&mut self, until: Instant) {
        loop {
            let first = self.ends.iter().map(|(at, _)| *at).min();
            let Some(first) = first.filter(|at| *at <= until) else {
                break;
            };
            sleep_until(first).await;
            if let Some(index) = self.ends.iter().position(|(at, _)| *at == first) {
                let (_, ending) = self.ends.remove(index);
                self.end(ending).await;
            }
        }
        sleep_until(until).await;
    }

    async fn end(&mut self, ending: Ending) {
        // Another fault of the same kind may have started meanwhile.
        if self.ends.iter().any(|(_, it)| *it == ending) {
            return;
        }
        self.trace.note("step", format_args!("{ending:?} ends"));
        match ending {
            Ending::ServerDown => self.server.start().await,
            Ending::Stall => self.network.stall(false),
            Ending::StorageFailures => self.storage.set_failing(false),
        }
    }

    async fn take(&mut self, step: Step) {
        let step = match step {
            Step::Write(write) => return self.write(write).await,
            step => step,
        };
        self.trace.note("step", format_args!("{step:?}"));
        match step {
            Step::Write(_) => {}
            Step::Compact => self.storage.compact().await,
            Step::RestartServer {
                graceful,
                loses_state,
                down_for,
            } => {
                self.server.stop(graceful).await;
                if loses_state {
                    self.storage.lose_state().await;
                }
                let at = Instant::now() + down_for;
                self.ends.push((at, Ending::ServerDown));
            }
            Step::RestartInformer { informer } => {
                let unit = self.unit(informer);
                std::mem::replace(&mut self.units[informer], unit)
                    .stop()
                    .await;
            }
            Step::RestartController => {
                let kept = self.mirror.stop().await;
                self.mirror.start(kept);
            }
            Step::CutConnections => self.network.cut(),
            Step::Stall { time } => {
                self.network.stall(true);
                self.ends.push((Instant::now() + time, Ending::Stall));
            }
            Step::StorageFails { time } => {
                self.storage.set_failing(true);
                self.ends
                    .push((Instant::now() + time, Ending::StorageFailures));
            }
            Step::AddHandler { informer, plan } => self.units[informer].add(plan, false),
            Step::RemoveHandler { informer } => self.units[informer].remove_last(),
        }
    }

    /// Writes as an operator would: failures are not retried.
    async fn write(&mut self, write: Write) {
        self.writes += 1;
        let (namespace, name, verb) = (write.namespace, write.name, write.verb);
        let done = self.try_write(write).await;
        if let Ok(Some(written)) = &done {
            self.units.iter_mut().for_each(|it| it.written(written));
        }
        let outcome = match done {
            Ok(_) => "done".to_owned(),
            Err(error) => error.to_string(),
        };
        let what = format_args!("{verb:?} {namespace}/{name}: {outcome}");
        self.trace.note("write", what);
    }

    async fn try_write(&self, write: Write) -> Result<Option<Written>, ApiError> {
        let api: Api<ConfigMap> = Api::namespaced(self.operator.clone(), write.namespace);
        let name = ObjectName::new(write.namespace, write.name);
        let held = self.storage.ledger(|it| it.original(&name).cloned());
        let mut object = ConfigMap::default();
        object.metadata.name = name.name;
        object.metadata.namespace = name.namespace;
        let number = self.writes.to_string();
        object.data.insert("write".into(), number.into());
        match &held {
            Some(held) if write.verb == WriteVerb::Put => {
                object.metadata.labels = held.labels.clone();
            }
            _ if write.tier.is_empty() => {}
            _ => {
                let labels = &mut object.metadata.labels;
                labels.insert(TIER.into(), write.tier.into());
            }
        }
        let labels = &mut object.metadata.labels;
        if write.owner.is_empty() {
            labels.remove(OWNER);
        } else {
            labels.insert(OWNER.into(), write.owner.into());
        }
        let written = match (write.verb, held) {
            (WriteVerb::Delete, None) => return Ok(None),
            (WriteVerb::Delete, Some(_)) => {
                api.delete(write.name).await?;
                return Ok(None);
            }
            (WriteVerb::Replace, Some(_)) => {
                api.delete(write.name).await?;
                api.create(&object).await
            }
            // Without a version it replaces any existing object.
            (_, Some(_)) => api.replace(&object).await,
            (_, None) => api.create(&object).await,
        };
        written.map(|it| Some(Written::saved(&it)))
    }

    /// Writes undecodable objects again after faults have stopped, because nothing else would
    /// deliver them.
    async fn mend(&self) {
        let unreadable = |kind: Kind| -> Vec<ObjectName> {
            self.storage.ledger(|ledger| {
                let objects = ledger.all(kind);
                let is_bad = |(name, stored): &(&ObjectName, &Stored)| {
                    let version = stored.stamp.version.to_string();
                    unreadable::is_unreadable(&self.faults, name, &version)
                };
                objects
                    .filter(is_bad)
                    .map(|(name, _)| name.clone())
                    .collect()
            })
        };
        let (originals, copies) = (unreadable(Kind::Original), unreadable(Kind::Copy));
        self.faults.calm_down();
        let number = Str::from(self.writes.to_string());
        for name in originals {
            let api = Api::<ConfigMap>::namespaced(self.operator.clone(), name.namespace);
            if let Ok(mut object) = api.get(&name.name).await {
                object.data.insert("mended".into(), number.clone());
                // A concurrent write has repaired it too.
                drop(api.replace(&object).await);
            }
        }
        for name in copies {
            let api = Api::<Secret>::namespaced(self.operator.clone(), name.namespace);
            if let Ok(mut object) = api.get(&name.name).await {
                let annotations = &mut object.metadata.annotations;
                annotations.insert("mended".into(), number.clone());
                drop(api.replace(&object).await);
            }
        }
    }

    /// The phase without faults, until everything has converged.
    async fn settle(&mut self) {
        for (_, ending) in std::mem::take(&mut self.ends) {
            self.end(ending).await;
        }
        self.mend().await;
        self.network.calm_down();
        self.trace.note("step", format_args!("no more trouble"));
        let until = Instant::now() + self.plan.settle_max;
        let mut agreed_since = None;
        while Instant::now() < until {
            let agree =
                self.units.iter().all(Unit::has_converged) && self.mirror.check().is_empty();
            if agree {
                let since = *agreed_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= SETTLE_STAY {
                    break;
                }
            } else {
                agreed_since = None;
            }
            sleep(SETTLE_LOOK).await;
        }
        self.trace.note("step", format_args!("settled"));
        self.units.iter().for_each(Unit::check_end);
        for (check, what) in self.mirror.check() {
            self.violations.record(check, what);
        }
    }

    async fn shut_down(mut self) {
        for unit in self.units.drain(..) {
            unit.stop().await;
        }
        if let Some(factory) = self.mirror.stop().await {
            factory.shutdown().await;
        }
        self.server.stop(true).await;
        self.network.shut_down().await;
        self.storage.engine().close();
        if self.plan.defect == Some(Defect::LeavesTask) {
            let mut tasks = JoinSet::new();
            tasks.spawn(std::future::pending::<()>());
            tasks.detach_all();
        }
    }
}
