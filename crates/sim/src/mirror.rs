//! `Mirror`: the controller of the simulation. For each `ConfigMap` it writes a `Secret` of the
//! same name that names the copied version.
//!
//! It is written like a user's controller, with injected faults.

use crate::checks::Check;
use crate::faults::Faults;
use crate::faulty_source::FaultySource;
use crate::ledger::{COPY_OF, Kind, Ledger, OWNER, Stamp};
use crate::network::Protocol;
use crate::plan::{ControllerPlan, Defect};
use crate::reads::Reads;
use crate::rng::SimRng;
use crate::unit::Environment;
use kubist_api::core::v1::{ConfigMap, Secret};
use kubist_apimachinery::{Object as _, ObjectName, Str};
use kubist_cache::{Index, IndexHandle, Lister};
use kubist_client::{Api, Client};
use kubist_controller::{Action, Config, Controller, Error, EventSource, Manager, Reconciler};
use kubist_informers::{FactoryConfig, SharedInformer, SharedInformerFactory};
use kubist_workqueue::{DuringBackoff, Group};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The time limit of a reconcile.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(20);
/// The time limit for the controller's stop: that of its workers, and a margin.
const END_MAX: Duration = Duration::from_secs(2 * 60);

type Factory = SharedInformerFactory<FaultySource>;

/// The checked controller, across its restarts.
pub(crate) struct Mirror {
    plan: ControllerPlan,
    environment: Environment,
    rng: SimRng,
    starts: u32,
    running: Option<Running>,
}

struct Running {
    factory: Factory,
    token: CancellationToken,
    tasks: JoinSet<()>,
    seen: Arc<Mutex<Seen>>,
    reads: Arc<Reads>,
}

/// The state of each key at its last successful reconcile.
type Seen = BTreeMap<ObjectName, Option<Stamp>>;

impl Mirror {
    pub(crate) fn new(plan: &ControllerPlan, environment: &Environment, rng: SimRng) -> Self {
        Self {
            plan: plan.clone(),
            environment: environment.clone(),
            rng,
            starts: 0,
            running: None,
        }
    }

    /// Starts the controller, with its previous informers unless a manager ran them.
    pub(crate) fn start(&mut self, kept: Option<Factory>) {
        self.starts += 1;
        let rng = self.rng.fork(&self.starts.to_string());
        let trace = &self.environment.faults.trace;
        let kept_informers = kept.is_some();
        trace.note(
            "controller",
            format_args!("starts, informers kept: {kept_informers}"),
        );
        let factory = kept.unwrap_or_else(|| self.factory(&rng));
        let (config_maps, secrets) = (factory.informer(), factory.informer());
        let controller = self.controller(&config_maps, &secrets);
        let reads = Arc::<Reads>::default();
        let seen = Arc::<Mutex<Seen>>::default();
        let copier = MirrorReconciler {
            client: self.environment.network.client(Protocol::Http1),
            config_maps: config_maps.lister_unsynced(),
            by_owner: config_maps.add_index(owner_index()),
            secrets: secrets.lister_unsynced(),
            reads: Arc::clone(&reads),
            faults: Arc::clone(&self.environment.faults),
            rng: Mutex::new(rng.fork("copier")),
            seen: Arc::clone(&seen),
            defect: self.environment.defect,
        };
        let token = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let stop = token.clone();
        let violations = self.environment.violations.clone();
        if self.plan.managed {
            let manager = Manager::new(factory.clone()).with(controller, copier);
            tasks.spawn(async move {
                if let Err(error) = manager.run(stop).await {
                    violations.record(Check::Keys, format!("the manager ended: {error}"));
                }
            });
        } else {
            factory.start();
            tasks.spawn(async move {
                if let Err(error) = controller.run(copier, stop).await {
                    violations.record(Check::Keys, format!("the controller ended: {error}"));
                }
            });
        }
        self.running = Some(Running {
            factory,
            token,
            tasks,
            seen,
            reads,
        });
    }

    /// Stops the controller and returns the informers if they continue.
    pub(crate) async fn stop(&mut self) -> Option<Factory> {
        let running = self.running.take()?;
        let Running {
            factory,
            token,
            mut tasks,
            ..
        } = running;
        token.cancel();
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(END_MAX, ended).await.is_err() {
            let what = "the controller did not end".to_owned();
            self.environment.violations.record(Check::Tasks, what);
        }
        let trace = &self.environment.faults.trace;
        trace.note("controller", format_args!("stopped"));
        (!self.plan.managed).then_some(factory)
    }

    /// Returns wrong copies, and keys that were not reconciled in their last state.
    pub(crate) fn check(&self) -> Vec<(Check, String)> {
        let seen = self.running.as_ref().map(|it| it.seen.lock().clone());
        self.environment.storage.ledger(|ledger| {
            let mirror = wrong_copy(ledger).map(|what| (Check::Mirror, what));
            let keys = seen.and_then(|seen| lost_key(ledger, &seen));
            let keys = keys.map(|what| (Check::Keys, what));
            let reads = self.running.as_ref();
            let reads = reads.and_then(|it| it.reads.outdated(ledger));
            let reads = reads.map(|what| (Check::Reads, what));
            mirror.into_iter().chain(keys).chain(reads).collect()
        })
    }

    fn factory(&self, rng: &SimRng) -> Factory {
        let source = FaultySource {
            network: self.environment.network.clone(),
            faults: Arc::clone(&self.environment.faults),
            rng: rng.fork("source"),
        };
        let config = FactoryConfig {
            reflector: self.plan.reflector.clone(),
            seed: Some(rng.fork("seed").next()),
            ..FactoryConfig::default()
        };
        SharedInformerFactory::with_config(source, config)
    }

    fn controller(
        &self,
        config_maps: &SharedInformer<ConfigMap>,
        secrets: &SharedInformer<Secret>,
    ) -> Controller {
        let mut itself = EventSource::for_object(config_maps);
        if let Some(period) = self.plan.resync {
            itself = itself.resync(period);
        }
        let mut queue = kubist_workqueue::Config::default();
        if self.plan.keeps_backoff {
            queue.during_backoff = DuringBackoff::KeepBackoff;
        }
        if self.plan.by_namespace {
            queue.group = Some(Group::by(|name: &ObjectName| name.namespace.clone()));
        }
        let config = Config {
            workers: self.plan.workers,
            queue,
            // Faults may delay an informer's first list for long.
            sync_timeout: None,
            reconcile_timeout: Some(RECONCILE_TIMEOUT),
            ..Config::default()
        };
        let (defect, lister) = (self.environment.defect, config_maps.lister_unsynced());
        let owner_of = move |object: &ConfigMap| {
            let shown = || lister.get(&object.object_name());
            let version = |it: &ConfigMap| it.metadata.resource_version.clone();
            let is_shown = || shown().is_some_and(|it| version(&it) == version(object));
            if defect == Some(Defect::MapsLastState) && !is_shown() {
                return Vec::new();
            }
            owner(object).into_iter().collect()
        };
        Controller::with_source::<ConfigMap, _>("mirror", itself)
            .watches(config_maps, owner_of)
            .watches(secrets, |secret| vec![secret.object_name()])
            .config(config)
    }
}

/// Returns the owner that an object names.
fn owner(object: &ConfigMap) -> Option<ObjectName> {
    let owner = object.metadata.labels.get(OWNER)?;
    let namespace = object.metadata.namespace.clone();
    Some(ObjectName::new(namespace, owner.clone()))
}

fn owner_index() -> Index<ConfigMap> {
    Index::new("owner", |object: &ConfigMap, owners| {
        if let Some(owner) = owner(object) {
            owners.push(&owner.to_string());
        }
    })
}

/// Returns a copy that is missing, outdated, or without an original.
fn wrong_copy(ledger: &Ledger) -> Option<String> {
    let originals: BTreeMap<_, _> = ledger.all(Kind::Original).collect();
    let copies: BTreeMap<_, _> = ledger.all(Kind::Copy).collect();
    for (name, original) in &originals {
        let should = original.stamp.to_string();
        let copy = copies.get(*name).and_then(|it| it.copy_of.as_deref());
        if copy != Some(&should) {
            return Some(format!("{name} is {should}, its copy is of {copy:?}"));
        }
    }
    let orphan = copies.keys().find(|name| !originals.contains_key(*name));
    orphan.map(|name| format!("{name} is gone, its copy is not"))
}

/// Returns a key whose last reconcile saw another state, or that was never reconciled.
fn lost_key(ledger: &Ledger, seen: &Seen) -> Option<String> {
    let originals: BTreeMap<_, _> = ledger.all(Kind::Original).collect();
    for (name, stamp) in seen {
        let original = originals.get(name).map(|it| &it.stamp);
        if stamp.as_ref() != original {
            return Some(format!("{name} was last reconciled in another state"));
        }
    }
    let missing = originals.keys().find(|name| !seen.contains_key(**name));
    missing.map(|name| format!("{name} was never reconciled"))
}

/// The reconciler.
struct MirrorReconciler {
    client: Client,
    config_maps: Lister<ConfigMap>,
    by_owner: IndexHandle<ConfigMap>,
    secrets: Lister<Secret>,
    reads: Arc<Reads>,
    faults: Arc<Faults>,
    rng: Mutex<SimRng>,
    seen: Arc<Mutex<Seen>>,
    defect: Option<Defect>,
}

impl Reconciler for MirrorReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        self.trouble(&key, "before").await?;
        let original = self.config_maps.get(&key);
        let stamp = original.as_deref().map(Stamp::of);
        let owned = self.config_maps.by_index(&self.by_owner, &key.to_string());
        let entry = |it: &Arc<ConfigMap>| (it.object_name(), Stamp::of(&**it));
        self.reads.note(&key, owned.iter().map(entry).collect());
        if self.defect != Some(Defect::ForgetsKeys) {
            self.copy(&key, stamp.as_ref()).await.inspect_err(|error| {
                let trace = &self.faults.trace;
                trace.note("reconcile", format_args!("{key}: {error}"));
            })?;
        }
        self.trouble(&key, "after").await?;
        let shown = stamp.as_ref().map(ToString::to_string);
        let trace = &self.faults.trace;
        trace.note("reconcile", format_args!("{key} done, saw {shown:?}"));
        if self.defect != Some(Defect::ForgetsKeys) {
            self.seen.lock().insert(key, stamp);
        }
        Ok(Action::done())
    }
}

impl MirrorReconciler {
    async fn copy(&self, key: &ObjectName, original: Option<&Stamp>) -> Result<(), Error> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), key.namespace.clone());
        let held = self.secrets.get(key);
        let Some(original) = original else {
            if held.is_some()
                && let Err(error) = secrets.delete(&key.name).await
                && !error.is_not_found()
            {
                return Err(error.into());
            }
            return Ok(());
        };
        let mut should: Str = original.to_string().into();
        if self.defect == Some(Defect::WritesWrongly) {
            should = "something else".into();
        }
        let Some(held) = held else {
            let mut secret = Secret::default();
            secret.metadata.name = key.name.clone();
            secret.metadata.namespace = key.namespace.clone();
            secret.metadata.annotations.insert(COPY_OF.into(), should);
            secrets.create(&secret).await?;
            return Ok(());
        };
        if held.metadata.annotations.get(COPY_OF) != Some(&should) {
            let mut secret = Secret::clone(&held);
            secret.metadata.annotations.insert(COPY_OF.into(), should);
            secrets.replace(&secret).await?;
        }
        Ok(())
    }

    /// Injects the faults of reconcilers.
    async fn trouble(&self, key: &ObjectName, when: &str) -> Result<(), Error> {
        let (stream_fault, pause) = {
            let mut rng = self.rng.lock();
            if !self.faults.strike(&mut rng, self.faults.trouble.reconciles) {
                return Ok(());
            }
            let longest = Duration::from_secs(3);
            (rng.below(8), rng.time(Duration::ZERO, longest))
        };
        let trace = &self.faults.trace;
        let note = |what: &str| trace.note("fault", format_args!("reconcile {key}: {what} {when}"));
        match stream_fault {
            0 => {
                note("panics");
                resume_unwind(Box::new("injected"));
            }
            1 => {
                note("hangs");
                std::future::pending::<()>().await;
            }
            2..=4 => {
                note("is slow");
                tokio::time::sleep(pause).await;
            }
            5 => {
                note("is asked to wait");
                return Err(Error::after(pause, "throttled"));
            }
            _ => {
                note("fails");
                return Err(Error::new("injected"));
            }
        }
        Ok(())
    }
}
