//! StatefulSets: Pods with numbers, which keep their names and volumes when they are replaced.
//!
//! A pure core decides, step by step; what it wants is done here in order. Templates are kept as
//! ControllerRevisions.

mod claims;
mod identity;
mod plan;
#[cfg(test)]
mod simulation;

use self::claims::Claims;
use self::plan::{Act, Plan, Revision, View};
use crate::owned_pods::OwnedPods;
use crate::ownership::selector_of;
use crate::revisions::{Draft, History, Revisions, template_of};
use crate::unless_outdated;
use futures_util::future::join_all;
use kubist_api::apps::v1::{ControllerRevision, StatefulSet};
use kubist_api::core::v1::{ObjectReference, PersistentVolumeClaim, Pod};
use kubist_apimachinery::{DeleteOptions, ObjectName, Str};
use kubist_cache::{Lister, WriteLog};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_events::{EventRecorder, EventType};
use kubist_informers::SharedInformerFactory;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The label of a revision with its hash.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    recorder: EventRecorder,
) -> (Controller, StatefulSetReconciler) {
    let sets = factory.informer::<StatefulSet>();
    let claims = factory.informer::<PersistentVolumeClaim>();
    let reconciler = StatefulSetReconciler {
        client: client.clone(),
        sets: sets.lister_unsynced(),
        pods: OwnedPods::new(factory),
        revisions: Revisions::new(factory),
        claims: claims.lister_unsynced(),
        writes: WriteLog::new(),
        claim_writes: WriteLog::new(),
        recorder,
    };
    let controller = reconciler
        .pods
        .controller("stateful-set", &sets, factory, |set: &StatefulSet| {
            selector_of(set.spec.selector.as_deref())
        })
        .reads_own_writes(&sets, &reconciler.writes)
        .reads_own_writes(&claims, &reconciler.claim_writes);
    // A claim that is gone lets a Pod be created.
    let controller = controller.watches(&claims, |claim: &PersistentVolumeClaim| {
        let owners = claim.metadata.owner_references.iter();
        let pods = owners.filter(|it| it.kind == "Pod");
        let sets = pods.filter_map(|it| it.name.rsplit_once('-'));
        sets.map(|(set, _)| ObjectName {
            namespace: claim.metadata.namespace.clone(),
            name: set.into(),
        })
        .collect()
    });
    (
        reconciler.revisions.watched_by(controller, factory),
        reconciler,
    )
}

/// Reconciles StatefulSets.
#[derive(Debug)]
pub struct StatefulSetReconciler {
    client: Client,
    sets: Lister<StatefulSet>,
    pods: OwnedPods,
    revisions: Revisions,
    claims: Lister<PersistentVolumeClaim>,
    writes: WriteLog<StatefulSet>,
    claim_writes: WriteLog<PersistentVolumeClaim>,
    recorder: EventRecorder,
}

impl Reconciler for StatefulSetReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(set) = self.sets.get(&key) else {
            return Ok(Action::done());
        };
        Box::pin(self.sync(&set, &key)).await
    }
}

impl StatefulSetReconciler {
    async fn sync(&self, set: &StatefulSet, key: &ObjectName) -> Result<Action, Error> {
        let selector = selector_of(set.spec.selector.as_deref());
        let api = self.pods.api(&self.client, key);
        let pods = self.pods.of(&api, set, &selector).await?;
        let history = self.revisions.of(&self.client, key, set, &selector);
        let mut history = history.await?;
        let mut collisions = set.status.collision_count.unwrap_or(0);
        let draft = Draft {
            template: &set.spec.template,
            annotations: &set.metadata.annotations,
            hash_label: HASH_LABEL,
        };
        let Some(update) = history.current(set, draft, &mut collisions).await? else {
            return Ok(Action::done());
        };
        let current = current(set, &history, &update);
        let restored = template_of(&current);
        let view = View {
            set,
            pods: &pods,
            claims: &self.claims_of(set, &pods),
            current: Revision {
                name: &current.metadata.name,
                template: restored.as_ref().unwrap_or(&set.spec.template),
            },
            update: Revision {
                name: &update.metadata.name,
                template: &set.spec.template,
            },
            collisions,
            now: self.client.ambient().time(),
        };
        let plan = view.plan();
        let claims = Api::namespaced(self.client.clone(), key.namespace.clone());
        let run = Run {
            set,
            known: view.claims,
            pods: api,
            claims: claims.with_write_log(&self.claim_writes.for_key(key)),
            recorder: &self.recorder,
            owner: ObjectReference::of(set),
        };
        let failure = run.act(&plan).await.err();
        self.write_status(set, key, &plan).await?;
        let pods = pods.iter().map(|it| identity::revision(it));
        let live = [&*current.metadata.name, &*update.metadata.name];
        let live: BTreeSet<_> = pods.chain(live).collect();
        let limit = set.spec.revision_history_limit.unwrap_or(10);
        history.truncate(&live, limit).await?;
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(plan.check.map_or_else(Action::done, Action::requeue_after)),
        }
    }

    /// Returns the claims of the set's numbers that exist.
    fn claims_of(&self, set: &StatefulSet, pods: &[Arc<Pod>]) -> Claims {
        if set.spec.volume_claim_templates.is_empty() {
            return Claims::new();
        }
        let first = identity::first(set);
        let numbers = first..first.saturating_add(identity::size(set));
        let further = pods.iter().filter_map(|it| identity::ordinal(set, it));
        let wanted = numbers
            .chain(further)
            .flat_map(|it| claims::wanted(set, it));
        let known = wanted.filter_map(|it| {
            let name = it.metadata.name;
            let claim = self.claims.find(&set.metadata.namespace, &name)?;
            Some((name, claim))
        });
        known.collect()
    }

    async fn write_status(
        &self,
        set: &StatefulSet,
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

/// Returns the revision that the status calls the current one; the newest, if it is gone.
fn current(
    set: &StatefulSet,
    history: &History,
    update: &Arc<ControllerRevision>,
) -> Arc<ControllerRevision> {
    let mut revisions = history.revisions.iter();
    let known = revisions.find(|it| it.metadata.name == set.status.current_revision);
    Arc::clone(known.unwrap_or(update))
}

/// One reconcile.
struct Run<'a> {
    set: &'a StatefulSet,
    known: &'a Claims,
    pods: Api<Pod>,
    claims: Api<PersistentVolumeClaim>,
    recorder: &'a EventRecorder,
    owner: ObjectReference,
}

impl Run<'_> {
    /// Does what is planned, in batches of 1, 2, 4, …; after a failure the rest is left.
    async fn act(&self, plan: &Plan) -> Result<(), ApiError> {
        let (mut rest, mut batch) = (plan.acts.as_slice(), 1);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.min(rest.len()));
            let done = join_all(now.iter().map(|it| self.perform(it))).await;
            done.into_iter().collect::<Result<(), _>>()?;
            (rest, batch) = (later, batch * 2);
        }
        Ok(())
    }

    async fn perform(&self, act: &Act) -> Result<(), ApiError> {
        match act {
            Act::Create(pod, ordinal) => self.create(pod, *ordinal).await,
            Act::Claim(pod, ordinal) => {
                self.claim(&pod.metadata.name, *ordinal).await?;
                self.own(pod, *ordinal).await
            }
            Act::Mend(pod, ordinal) => self.mend(pod, *ordinal).await,
            Act::Delete(pod) => {
                let options = DeleteOptions::default().with_uid(pod.metadata.uid.clone());
                let name = &pod.metadata.name;
                let answer = self.pods.delete_with(name, &options).await;
                self.tell("Delete", name, answer.map(drop))
            }
        }
    }

    async fn create(&self, pod: &Pod, ordinal: i32) -> Result<(), ApiError> {
        let name = &pod.metadata.name;
        if let Err(error) = self.claim(name, ordinal).await {
            return self.tell("Create", name, Err(error));
        }
        match self.pods.create(pod).await {
            Ok(pod) => {
                self.tell("Create", name, Ok(()))?;
                self.own(&pod, ordinal).await
            }
            Err(error) if error.is_already_exists() => Ok(()),
            Err(error) if crate::is_namespace_ending(&error) => Ok(()),
            Err(error) => self.tell("Create", name, Err(error)),
        }
    }

    /// Creates the claims of a number that do not exist.
    async fn claim(&self, pod: &Str, ordinal: i32) -> Result<(), ApiError> {
        let set = &self.set.metadata.name;
        for claim in claims::wanted(self.set, ordinal) {
            let name = &claim.metadata.name;
            if self.known.contains_key(name) {
                continue;
            }
            match self.claims.create(&claim).await {
                Err(error) if error.is_already_exists() => {}
                Err(error) => {
                    let note = format!(
                        "Create Claim {name} for Pod {pod} in StatefulSet {set} failed error: {error}"
                    );
                    self.event(name, EventType::Warning, "FailedCreate", note);
                    return Err(error);
                }
                Ok(_) => {
                    let note =
                        format!("Create Claim {name} Pod {pod} in StatefulSet {set} success");
                    self.event(name, EventType::Normal, "SuccessfulCreate", note);
                }
            }
        }
        Ok(())
    }

    /// Gives the claims of a Pod the owners that the retention policy says.
    async fn own(&self, pod: &Pod, ordinal: i32) -> Result<(), ApiError> {
        for claim in claims::wanted(self.set, ordinal) {
            let Some(claim) = self.known.get(&claim.metadata.name) else {
                continue;
            };
            if let Some(owners) = claims::owners(self.set, claim, pod) {
                let mut claim = PersistentVolumeClaim::clone(claim);
                claim.metadata.owner_references = owners;
                ignore_outdated(self.claims.replace(&claim).await)?;
            }
        }
        Ok(())
    }

    async fn mend(&self, pod: &Pod, ordinal: i32) -> Result<(), ApiError> {
        self.claim(&pod.metadata.name, ordinal).await?;
        self.own(pod, ordinal).await?;
        if identity::index(self.set, ordinal).is_none() || identity::fits(self.set, pod, ordinal) {
            return Ok(());
        }
        let mut mended = pod.clone();
        identity::restore(self.set, &mut mended, ordinal);
        let answer = self.pods.replace(&mended).await;
        self.tell("Update", &pod.metadata.name, answer.map(drop))
    }

    /// Tells what became of a Pod. That it changed or is gone is no failure.
    fn tell(&self, verb: &str, pod: &Str, answer: Result<(), ApiError>) -> Result<(), ApiError> {
        let set = &self.set.metadata.name;
        match answer {
            Ok(()) => {
                let note = format!("{verb} Pod {pod} in StatefulSet {set} successful");
                self.event(pod, EventType::Normal, &format!("Successful{verb}"), note);
                Ok(())
            }
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
            Err(error) => {
                let note = format!("{verb} Pod {pod} in StatefulSet {set} failed error: {error}");
                self.event(pod, EventType::Warning, &format!("Failed{verb}"), note);
                Err(error)
            }
        }
    }

    /// Tells an event about the Pod or claim of this name. Each name has an event of its own.
    fn event(&self, name: &Str, type_: EventType, reason: &str, note: String) {
        let related = ObjectReference {
            namespace: self.owner.namespace.clone(),
            name: name.clone(),
            ..ObjectReference::default()
        };
        self.recorder
            .event_related(&self.owner, &related, type_, reason, "", note);
    }
}

fn ignore_outdated<T>(answer: Result<T, ApiError>) -> Result<(), ApiError> {
    match answer {
        Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error),
        _ => Ok(()),
    }
}
