//! DaemonSets: a Pod on every node that its template allows.
//!
//! A pure core decides. The Pods are bound by the scheduler, which their affinity leads to their
//! nodes. Templates are kept as ControllerRevisions.

mod failures;
mod plan;
mod pods;
#[cfg(test)]
mod simulation;

use self::failures::Failures;
use self::plan::{Plan, View};
use crate::owned_pods::OwnedPods;
use crate::ownership::selector_of;
use crate::pod_writer::PodWriter;
use crate::revisions::{Draft, Revisions};
use crate::unless_outdated;
use kubist_api::apps::v1::DaemonSet;
use kubist_api::core::v1::Node;
use kubist_apimachinery::{Object as _, ObjectName, Str};
use kubist_cache::{Lister, WriteLog};
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_events::EventRecorder;
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, DaemonSetReconciler) {
    let (sets, nodes) = (factory.informer::<DaemonSet>(), factory.informer::<Node>());
    let reconciler = DaemonSetReconciler {
        client: client.clone(),
        sets: sets.lister_unsynced(),
        nodes: nodes.lister_unsynced(),
        pods: OwnedPods::new(factory),
        revisions: Revisions::new(factory),
        writes: WriteLog::new(),
        recorder,
        failures: Mutex::default(),
    };
    let lister = sets.lister_unsynced();
    let controller = reconciler
        .pods
        .controller("daemon-set", &sets, factory, |set: &DaemonSet| {
            selector_of(set.spec.selector.as_deref())
        })
        .reads_own_writes(&sets, &reconciler.writes)
        .watches(&nodes, move |_: &Node| {
            lister.list().iter().map(|it| it.object_name()).collect()
        });
    (
        reconciler.revisions.watched_by(controller, factory),
        reconciler,
    )
}

/// Reconciles DaemonSets.
#[derive(Debug)]
pub struct DaemonSetReconciler {
    client: Client,
    sets: Lister<DaemonSet>,
    nodes: Lister<Node>,
    pods: OwnedPods,
    revisions: Revisions,
    writes: WriteLog<DaemonSet>,
    recorder: EventRecorder,
    /// The failures of each set's nodes, with its uid. An entry is removed with its set.
    failures: Mutex<BTreeMap<ObjectName, (Str, Failures)>>,
}

impl Reconciler for DaemonSetReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(set) = self.sets.get(&key) else {
            self.failures.lock().remove(&key);
            return Ok(Action::done());
        };
        if set.is_terminating() {
            return Ok(Action::done());
        }
        Box::pin(self.sync(&set, &key)).await
    }
}

impl DaemonSetReconciler {
    async fn sync(&self, set: &DaemonSet, key: &ObjectName) -> Result<Action, Error> {
        let selector = selector_of(set.spec.selector.as_deref());
        let api = self.pods.api(&self.client, key);
        let pods = self.pods.of(&api, set, &selector).await?;
        let history = self.revisions.of(&self.client, key, set, &selector);
        let mut history = history.await?;
        let before = set.status.collision_count;
        let mut collisions = before.unwrap_or(0);
        let draft = Draft {
            template: &set.spec.template,
            annotations: &set.metadata.annotations,
            hash_label: pods::HASH,
        };
        let Some(current) = history.current(set, draft, &mut collisions).await? else {
            return Ok(Action::done());
        };
        let hash = current
            .metadata
            .labels
            .get(pods::HASH)
            .cloned()
            .unwrap_or_default();
        let nodes = self.nodes.list();
        let view = View {
            set,
            nodes: &nodes,
            pods: &pods,
            hash: &hash,
            now: self.client.ambient().time(),
        };
        let mut plan = self.plan(&view, key);
        if before.is_some() || collisions > 0 {
            plan.status.collision_count = Some(collisions);
        }
        let writer = PodWriter::new(&api, &self.recorder, set);
        for (type_, reason, note) in plan.news.drain(..) {
            writer.tell(type_, reason, note);
        }
        let spec = pods::tolerant(set);
        let made = plan
            .create
            .iter()
            .map(|it| pods::made(set, &spec, &hash, it));
        let (_, rejected) = writer.create(&made.collect::<Vec<_>>()).await;
        let (_, refused) = writer.delete(&plan.delete).await;
        self.write_status(set, key, &plan).await?;
        let live: BTreeSet<&Str> = pods
            .iter()
            .filter_map(|it| it.metadata.labels.get(pods::HASH))
            .chain([&hash])
            .collect();
        let live = history.revisions.iter().filter(|it| {
            let own = it.metadata.labels.get(pods::HASH);
            own.is_some_and(|it| live.contains(it))
        });
        let live = live.map(|it| &*it.metadata.name).collect();
        let limit = set.spec.revision_history_limit.unwrap_or(10);
        history.truncate(&live, limit).await?;
        match rejected.or(refused) {
            Some(error) => Err(error.into()),
            None => Ok(plan.check.map_or_else(Action::done, Action::requeue_after)),
        }
    }

    fn plan(&self, view: &View<'_>, key: &ObjectName) -> Plan {
        let uid = &view.set.metadata.uid;
        let mut all = self.failures.lock();
        let (known, failures) = all.entry(key.clone()).or_default();
        if known != uid {
            (*known, *failures) = (uid.clone(), Failures::default());
        }
        view.plan(failures)
    }

    async fn write_status(
        &self,
        set: &DaemonSet,
        key: &ObjectName,
        plan: &Plan,
    ) -> Result<(), Error> {
        if plan.status == set.status {
            return Ok(());
        }
        let mut updated = set.clone();
        updated.status = plan.status.clone();
        let api = Api::namespaced(self.client.clone(), key.namespace.clone());
        let api = api.with_write_log(&self.writes.for_key(key));
        unless_outdated(api.replace_status(&updated).await).map(drop)
    }
}
