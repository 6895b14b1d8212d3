//! `Rollout`: one reconcile of a Deployment and its ReplicaSets.
//!
//! [`sizes`] and [`status`] compute the desired state, which is written here. A write that fails
//! because the object changed ends the reconcile: the newer state will requeue the key.

use super::{DeploymentReconciler, annotations, new_set, revision, sizes, status};
use crate::{is_namespace_ending, unless_outdated};
use kubist_api::apps::v1::{Deployment, DeploymentStatus, ReplicaSet};
use kubist_api::core::v1::ObjectReference;
use kubist_apimachinery::{DeleteOptions, Object as _, PropagationPolicy, Str, Time};
use kubist_client::{Api, ApiError, Patch};
use kubist_controller::{Action, Error};
use kubist_events::{EventRecorder, EventType};
use serde_json::json;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// How soon to check again whether the last Pods of a recreated Deployment are gone; the end of a
/// terminating Pod changes no ReplicaSet.
const RECREATE_POLL: Duration = Duration::from_millis(500);

/// A Deployment and its ReplicaSets. Written sets are replaced by the server's answers.
pub(super) struct Rollout {
    pub(super) deployments: Api<Deployment>,
    pub(super) replica_sets: Api<ReplicaSet>,
    pub(super) recorder: EventRecorder,
    pub(super) deployment: Arc<Deployment>,
    /// The status as read, with new conditions.
    pub(super) status: DeploymentStatus,
    /// Oldest first.
    pub(super) old: Vec<Arc<ReplicaSet>>,
    pub(super) new: Option<Arc<ReplicaSet>>,
}

/// Why a reconcile ends early.
enum Halt {
    /// An object changed meanwhile; the next reconcile will see the newer state.
    Outdated,
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn written<T>(result: Result<T, ApiError>) -> Result<T, Halt> {
    unless_outdated(result)?.ok_or(Halt::Outdated)
}

impl Rollout {
    pub(super) async fn run(mut self, all: &DeploymentReconciler) -> Result<Action, Error> {
        let moved = if self.deployment.is_terminating() {
            Ok(Action::done())
        } else {
            self.advance(all).await
        };
        let action = match moved {
            Ok(action) => self.write_status().await.map(|again| again.earlier(action)),
            Err(halt) => Err(halt),
        };
        match action {
            Ok(action) => Ok(action),
            Err(Halt::Outdated) => Ok(Action::done()),
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    async fn advance(&mut self, all: &DeploymentReconciler) -> Result<Action, Halt> {
        let now = self.now();
        status::judge_pause(&self.deployment, &mut self.status, now);
        if self.deployment.spec.paused || self.was_scaled() {
            self.scale().await?;
        } else if sizes::is_rolling(&self.deployment) {
            self.roll().await?;
        } else if self.total_old() > 0 {
            self.resize_old(vec![0; self.old.len()]).await?;
        } else if all.has_pods(&self.old) {
            return Ok(Action::requeue_after(RECREATE_POLL));
        } else {
            let new = self.ensure_new().await?;
            self.new = Some(self.resize(new, sizes::wanted(&self.deployment)).await?);
        }
        self.clean_up().await?;
        Ok(Action::done())
    }

    fn sets(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().chain(&self.new).map(|it| &**it)
    }

    fn total_old(&self) -> i32 {
        sizes::total(self.old.iter().map(|it| &**it))
    }

    fn present_old(&self) -> i32 {
        sizes::present(self.old.iter().map(|it| &**it))
    }

    fn was_scaled(&self) -> bool {
        let mut active = self.sets().filter(|it| sizes::size(it) > 0);
        active.any(|it| sizes::was_scaled(&self.deployment, it))
    }

    /// Replaces Pods step by step: the new set grows, then the old ones shrink.
    async fn roll(&mut self) -> Result<(), Halt> {
        let new = self.ensure_new().await?;
        let before = sizes::size(&new);
        let present = self.present_old().saturating_add(sizes::present([&*new]));
        let size = sizes::of_new(&self.deployment, before, present);
        let new = self.resize(new, size).await?;
        if size == before {
            let old: Vec<_> = self.old.iter().map(|it| &**it).collect();
            let sizes = sizes::of_old(&self.deployment, &old, &new);
            self.resize_old(sizes).await?;
        }
        self.new = Some(new);
        Ok(())
    }

    /// Follows `spec.replicas` without other changes.
    async fn scale(&mut self) -> Result<(), Halt> {
        let mut sizes = self.scaled();
        if let Some(new) = self.new.take() {
            let size = sizes.pop().unwrap_or(0);
            self.new = Some(self.resize(new, size).await?);
        }
        self.resize_old(sizes).await
    }

    /// Returns the sizes of all sets, the old ones first.
    fn scaled(&self) -> Vec<i32> {
        let wanted = sizes::wanted(&self.deployment);
        let active: Vec<_> = self.sets().filter(|it| sizes::size(it) > 0).collect();
        let mut sizes: Vec<i32> = self.sets().map(sizes::size).collect();
        let saturated = self.new.as_ref().is_some_and(|new| {
            sizes::size(new) == wanted && new.status.available_replicas == wanted
        });
        if active.is_empty() {
            if let Some(newest) = sizes.last_mut() {
                *newest = wanted;
            }
        } else if saturated && active.len() > 1 {
            sizes[..self.old.len()].fill(0);
        } else if active.len() == 1 || sizes::is_rolling(&self.deployment) {
            let shares = match active.len() {
                1 => vec![wanted],
                _ => sizes::proportional(&self.deployment, &active),
            };
            let positive = sizes.iter_mut().filter(|it| **it > 0);
            positive.zip(shares).for_each(|(size, share)| *size = share);
        }
        sizes
    }

    /// Returns the ReplicaSet of the current template with its revision, and creates it if
    /// necessary.
    async fn ensure_new(&mut self) -> Result<Arc<ReplicaSet>, Halt> {
        let known = self
            .old
            .iter()
            .map(|it| revision::revision(&it.metadata.annotations));
        let newest = known.max().unwrap_or(0) + 1;
        let new = match self.new.take() {
            None => self.create_new(newest).await?,
            Some(known) => {
                let mut set = Arc::clone(&known);
                revision::annotate_revision(&self.deployment, Arc::make_mut(&mut set), newest);
                Arc::make_mut(&mut set).spec.min_ready_seconds =
                    self.deployment.spec.min_ready_seconds;
                self.write_if_new(known, set).await?
            }
        };
        if let Some(revision) = new.metadata.annotations.get(annotations::REVISION) {
            self.note_revision(revision).await?;
        }
        Ok(new)
    }

    async fn create_new(&mut self, newest: i64) -> Result<Arc<ReplicaSet>, Halt> {
        let collisions = self.deployment.status.collision_count.unwrap_or(0);
        let set = new_set(&self.deployment, collisions, newest, self.present_old());
        let name = &set.metadata.name;
        match self.replica_sets.create(&set).await {
            Ok(set) => {
                self.tell_scaled(&set, 0);
                let message = format!("Created new replica set {:?}", &**name);
                let reason = "NewReplicaSetCreated";
                let now = self.now();
                status::set_progressing(&mut self.status, "True", reason, message, now);
                Ok(Arc::new(set))
            }
            Err(error) if error.is_already_exists() => self.take_over(name).await,
            Err(error) if is_namespace_ending(&error) => Err(Halt::Outdated),
            Err(error) => Err(Halt::Failed(error.into())),
        }
    }

    /// Handles an existing set of that name: ours, created a moment ago, or a hash collision.
    async fn take_over(&self, name: &Str) -> Result<Arc<ReplicaSet>, Halt> {
        let existing = written(self.replica_sets.get(name).await)?;
        let deployment = &self.deployment;
        let controller = existing.metadata.controller().map(|it| &it.uid);
        if controller == Some(&deployment.metadata.uid)
            && revision::is_of(&existing, &deployment.spec.template)
        {
            return Ok(Arc::new(existing));
        }
        let mut counted = Deployment::clone(deployment);
        *counted.status.collision_count.get_or_insert(0) += 1;
        written(self.deployments.replace_status(&counted).await)?;
        Err(Halt::Outdated)
    }

    /// Sets the revision of the newest set on the Deployment.
    async fn note_revision(&mut self, revision: &Str) -> Result<(), Halt> {
        let metadata = &self.deployment.metadata;
        if metadata.annotations.get(annotations::REVISION) == Some(revision) {
            return Ok(());
        }
        let patch = Patch::Merge(json!({"metadata": {
            "resourceVersion": &*metadata.resource_version,
            "annotations": {annotations::REVISION: &**revision},
        }}));
        let patched = self.deployments.patch(&metadata.name, &patch).await;
        self.deployment = Arc::new(written(patched)?);
        Ok(())
    }

    async fn resize_old(&mut self, sizes: Vec<i32>) -> Result<(), Halt> {
        for (index, size) in sizes.into_iter().enumerate() {
            let set = &self.old[index];
            // Empty sets that remain empty are not written.
            if sizes::size(set) > 0 || size > 0 {
                self.old[index] = self.resize(Arc::clone(set), size).await?;
            }
        }
        Ok(())
    }

    /// Returns the set with this size, and writes it if anything changed.
    async fn resize(&self, known: Arc<ReplicaSet>, size: i32) -> Result<Arc<ReplicaSet>, Halt> {
        let before = sizes::size(&known);
        let mut set = Arc::clone(&known);
        let resized = Arc::make_mut(&mut set);
        resized.spec.replicas = Some(size);
        sizes::annotate(&self.deployment, resized);
        let set = self.write_if_new(known, set).await?;
        self.tell_scaled(&set, before);
        Ok(set)
    }

    /// Tells that a set has another size. Each step has an event of its own.
    fn tell_scaled(&self, set: &ReplicaSet, before: i32) {
        let (name, size) = (&set.metadata.name, sizes::size(set));
        let direction = match size.cmp(&before) {
            Ordering::Less => "down",
            Ordering::Equal => return,
            Ordering::Greater => "up",
        };
        let note = format!("Scaled {direction} replica set {name} from {before} to {size}");
        let deployment = ObjectReference::of(&*self.deployment);
        let action = format!("ScaleFrom{before}To{size}");
        self.recorder.event_related(
            &deployment,
            &ObjectReference::of(set),
            EventType::Normal,
            "ScalingReplicaSet",
            action,
            note,
        );
    }

    async fn write_if_new(
        &self,
        known: Arc<ReplicaSet>,
        set: Arc<ReplicaSet>,
    ) -> Result<Arc<ReplicaSet>, Halt> {
        if set == known {
            return Ok(known);
        }
        written(self.replica_sets.replace(&*set).await).map(Arc::new)
    }

    /// Deletes the oldest empty sets beyond `revisionHistoryLimit` after the rollout.
    async fn clean_up(&self) -> Result<(), Halt> {
        let limit = self
            .deployment
            .spec
            .revision_history_limit
            .unwrap_or(i32::MAX);
        let spare = self
            .old
            .len()
            .saturating_sub(usize::try_from(limit).unwrap_or(0));
        if spare == 0 || !status::is_complete(&self.deployment, &self.counted()) {
            return Ok(());
        }
        let mut oldest: Vec<_> = self.old.iter().collect();
        oldest.sort_by_key(|it| revision::revision(&it.metadata.annotations));
        for set in oldest.into_iter().take(spare) {
            let settled = set.status.observed_generation >= set.metadata.generation;
            if set.status.replicas > 0 || sizes::size(set) > 0 || !settled || set.is_terminating() {
                continue;
            }
            let options = DeleteOptions::default()
                .with_propagation(PropagationPolicy::Background)
                .with_uid(set.metadata.uid.clone())
                .with_resource_version(set.metadata.resource_version.clone());
            written(self.replica_sets.delete_with(set.name(), &options).await)?;
        }
        Ok(())
    }

    /// Returns the current time.
    fn now(&self) -> Time {
        self.replica_sets.client().ambient().time()
    }

    /// Returns the status with the current counts.
    fn counted(&self) -> DeploymentStatus {
        let sets: Vec<_> = self.sets().collect();
        status::counted(&self.deployment, &self.status, &sets, self.new.as_deref())
    }

    /// Writes the status if it changed, and returns when to check the progress again.
    async fn write_status(&self) -> Result<Action, Halt> {
        let (deployment, now) = (&self.deployment, self.now());
        let mut status = self.counted();
        if !deployment.spec.paused && !deployment.is_terminating() {
            let new = self.new.as_deref();
            status::judge_progress(deployment, &self.status, &mut status, new, now);
        }
        status::stamp(&mut status, &deployment.status, now);
        let again = status::next_check(deployment, &status, now);
        if status != deployment.status {
            let mut updated = Deployment::clone(deployment);
            updated.status = status;
            written(self.deployments.replace_status(&updated).await)?;
        }
        Ok(again.map_or_else(Action::done, Action::requeue_after))
    }
}
