//! `Plan`: which Pods of a StatefulSet are created, mended and deleted now. No I/O.
//!
//! Ordered sets do one thing at a time: each Pod is available before the next is created, surplus
//! Pods go from the highest number down, and only a complete set is updated. Parallel sets create
//! and delete at once; their updates are in order, too.

use super::claims::{self, Claims};
use super::identity::{self, ordinal};
use crate::clock::until;
use crate::pod_state::{count, is_available, is_over, ready_since};
use kubist_api::apps::v1::{StatefulSet, StatefulSetStatus};
use kubist_api::core::v1::{Pod, PodTemplateSpec};
use kubist_apimachinery::{Object as _, Time};
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

/// A revision of the template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revision<'a> {
    pub(super) name: &'a str,
    pub(super) template: &'a PodTemplateSpec,
}

/// A set, its Pods and claims at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) set: &'a StatefulSet,
    pub(super) pods: &'a [Arc<Pod>],
    pub(super) claims: &'a Claims,
    pub(super) current: Revision<'a>,
    pub(super) update: Revision<'a>,
    pub(super) collisions: i32,
    pub(super) now: Time,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Create the claims, then the Pod.
    Create(Box<Pod>, i32),
    /// Create the claims that a Pod waits for.
    Claim(Arc<Pod>, i32),
    /// Give a Pod the labels and volumes of its number, and its claims their owners.
    Mend(Arc<Pod>, i32),
    Delete(Arc<Pod>),
}

/// What to do, in order. If one of them fails, the rest is left for later.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) acts: Vec<Act>,
    pub(super) status: StatefulSetStatus,
    /// When to plan again, if nothing changes before.
    pub(super) check: Option<Duration>,
}

/// The Pods by their places.
struct Places {
    /// Those that are wanted, in order.
    replicas: Vec<Option<Arc<Pod>>>,
    /// The others, the highest number first.
    condemned: Vec<(i32, Arc<Pod>)>,
}

impl View<'_> {
    /// Decides what to do.
    pub(super) fn plan(&self) -> Plan {
        let mut plan = Plan {
            acts: Vec::new(),
            status: self.counted(),
            check: self.next_check(),
        };
        if !self.set.is_terminating() {
            let places = self.places();
            let _finished = self.keep(&places, &mut plan)
                && self.shrink(&places, &mut plan)
                && self.roll(&places, &mut plan);
        }
        self.complete(&mut plan.status);
        plan
    }

    fn places(&self) -> Places {
        let size = usize::try_from(identity::size(self.set)).unwrap_or(0);
        let mut places = Places {
            replicas: vec![None; size],
            condemned: Vec::new(),
        };
        for pod in self.pods {
            let Some(ordinal) = ordinal(self.set, pod) else {
                continue;
            };
            match identity::index(self.set, ordinal) {
                Some(index) => places.replicas[index] = Some(Arc::clone(pod)),
                None => places.condemned.push((ordinal, Arc::clone(pod))),
            }
        }
        places
            .condemned
            .sort_by_key(|(ordinal, _)| Reverse(*ordinal));
        places
    }

    fn is_ordered(&self) -> bool {
        self.set.spec.pod_management_policy != "Parallel"
    }

    fn is_ready(&self, pod: &Pod) -> bool {
        let minimum = self.set.spec.min_ready_seconds;
        pod.status.phase == "Running" && is_available(pod, minimum, self.now)
    }

    /// Creates missing Pods and replaces those that have ended. False if the rest must wait.
    fn keep(&self, places: &Places, plan: &mut Plan) -> bool {
        let ordered = self.is_ordered();
        for (ordinal, pod) in (identity::first(self.set)..).zip(&places.replicas) {
            let goes_on = match pod {
                None => self.create(ordinal, plan),
                Some(pod) => self.look_after(pod, ordinal, plan),
            };
            if ordered && !goes_on {
                return false;
            }
        }
        true
    }

    fn create(&self, ordinal: i32, plan: &mut Plan) -> bool {
        if !claims::is_stale(self.set, self.claims, ordinal) {
            let revision = self.revision_of(ordinal);
            let pod = identity::made(self.set, revision.template, revision.name, ordinal);
            plan.acts.push(Act::Create(Box::new(pod), ordinal));
        }
        false
    }

    /// The revision of a Pod that is created: below the partition it is the current one.
    fn revision_of(&self, ordinal: i32) -> Revision<'_> {
        let strategy = &self.set.spec.update_strategy;
        let kept = match &strategy.rolling_update {
            _ if strategy.type_ != "RollingUpdate" => return self.update,
            Some(rolling) => rolling.partition.unwrap_or(0),
            None => self.set.status.current_replicas,
        };
        if ordinal < identity::first(self.set).saturating_add(kept) {
            self.current
        } else {
            self.update
        }
    }

    fn look_after(&self, pod: &Arc<Pod>, ordinal: i32, plan: &mut Plan) -> bool {
        if is_over(pod) {
            if !pod.is_terminating() {
                plan.acts.push(Act::Delete(Arc::clone(pod)));
            }
            return false;
        }
        let lacks_claim = || {
            let wanted = claims::wanted(self.set, ordinal);
            wanted
                .iter()
                .any(|it| !self.claims.contains_key(&it.metadata.name))
        };
        if pod.status.phase == "Pending" && lacks_claim() {
            plan.acts.push(Act::Claim(Arc::clone(pod), ordinal));
        }
        if self.is_ordered() && (pod.is_terminating() || !self.is_ready(pod)) {
            return false;
        }
        if !identity::fits(self.set, pod, ordinal) || self.has_wrong_owners(pod, ordinal) {
            plan.acts.push(Act::Mend(Arc::clone(pod), ordinal));
        }
        true
    }

    fn has_wrong_owners(&self, pod: &Pod, ordinal: i32) -> bool {
        let wanted = claims::wanted(self.set, ordinal);
        let mut known = wanted
            .iter()
            .filter_map(|it| self.claims.get(&it.metadata.name));
        known.any(|it| claims::owners(self.set, it, pod).is_some())
    }

    /// Deletes surplus Pods, the highest number first. False if the rest must wait.
    fn shrink(&self, places: &Places, plan: &mut Plan) -> bool {
        let ordered = self.is_ordered();
        for (ordinal, pod) in &places.condemned {
            if self.has_wrong_owners(pod, *ordinal) {
                plan.acts.push(Act::Mend(Arc::clone(pod), *ordinal));
            }
        }
        // An ordered set deletes a Pod that is not available only if it is the first of all those.
        let is_broken = |it: &Pod| !self.is_ready(it) || it.is_terminating();
        let among = places.replicas.iter().flatten();
        let above = places.condemned.iter().rev().map(|(_, pod)| pod);
        let first_broken = among.chain(above).find(|it| is_broken(it));
        for (_, pod) in &places.condemned {
            if pod.is_terminating() {
                if ordered {
                    return false;
                }
                continue;
            }
            let is_first = first_broken.is_some_and(|it| Arc::ptr_eq(it, pod));
            if ordered && !self.is_ready(pod) && !is_first {
                return false;
            }
            plan.acts.push(Act::Delete(Arc::clone(pod)));
            if ordered {
                return false;
            }
        }
        true
    }

    /// Deletes the Pod with the highest number that is not of the newest revision, when those
    /// above it are available.
    fn roll(&self, places: &Places, plan: &mut Plan) -> bool {
        let strategy = &self.set.spec.update_strategy;
        if strategy.type_ == "OnDelete" {
            return true;
        }
        let partition = strategy.rolling_update.as_ref();
        let partition = partition.and_then(|it| it.partition).unwrap_or(0);
        let kept = usize::try_from(partition).unwrap_or(0);
        for pod in places.replicas.iter().skip(kept).rev() {
            let Some(pod) = pod else { return false };
            if identity::revision(pod) != self.update.name && !pod.is_terminating() {
                plan.acts.push(Act::Delete(Arc::clone(pod)));
                plan.status.current_replicas -= 1;
                return false;
            }
            if pod.is_terminating() || !self.is_ready(pod) {
                return false;
            }
        }
        true
    }

    /// Returns the status with the counts.
    fn counted(&self) -> StatefulSetStatus {
        let created = || self.pods.iter().filter(|it| !it.status.phase.is_empty());
        let of = |name: &str| {
            let of = |it: &&Arc<Pod>| !it.is_terminating() && identity::revision(it) == name;
            count(created().filter(of).count())
        };
        let ready = |it: &&Arc<Pod>| it.status.phase == "Running" && ready_since(it).is_some();
        StatefulSetStatus {
            observed_generation: self.set.metadata.generation,
            replicas: count(created().count()),
            ready_replicas: count(created().filter(ready).count()),
            available_replicas: count(created().filter(|it| self.is_ready(it)).count()),
            current_replicas: of(self.current.name),
            updated_replicas: of(self.update.name),
            current_revision: self.current.name.into(),
            update_revision: self.update.name.into(),
            collision_count: Some(self.collisions),
            ..self.set.status.clone()
        }
    }

    /// Makes the newest revision the current one when all Pods are of it.
    fn complete(&self, status: &mut StatefulSetStatus) {
        let size = identity::size(self.set);
        let all = [
            status.updated_replicas,
            status.ready_replicas,
            status.replicas,
        ];
        if self.set.spec.update_strategy.type_ == "RollingUpdate" && all == [size; 3] {
            status.current_replicas = status.updated_replicas;
            status.current_revision = status.update_revision.clone();
        }
    }

    /// After how long the next ready Pod is available.
    fn next_check(&self) -> Option<Duration> {
        let minimum = self.set.spec.min_ready_seconds;
        let ready = self.pods.iter().filter_map(|it| ready_since(it));
        ready
            .filter_map(|since| until(since, minimum, self.now))
            .min()
    }
}
