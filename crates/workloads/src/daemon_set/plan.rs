//! `Plan`: which Pods of a DaemonSet are created and deleted now. No I/O.
//!
//! Every wanted node gets a Pod. Only when nothing is missing or surplus, Pods of older templates
//! are replaced: so many that no more than `maxUnavailable` nodes are without an available Pod,
//! or, with `maxSurge`, by a second Pod on so many nodes.

use super::failures::Failures;
use super::pods::{self, Eligibility, eligibility, is_updated};
use crate::clock::until;
use crate::pod_state::{count, is_available, is_over, ready_since};
use kubist_api::apps::v1::{DaemonSet, DaemonSetStatus};
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::{IntOrString, Object as _, Rounding, Str, Time};
use kubist_events::EventType;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of Pods that one reconcile creates or deletes, as upstream.
const BURST_MAX: usize = 250;

/// A set, the nodes and its Pods at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) set: &'a DaemonSet,
    pub(super) nodes: &'a [Arc<Node>],
    pub(super) pods: &'a [Arc<Pod>],
    /// The hash of the current template.
    pub(super) hash: &'a str,
    pub(super) now: Time,
}

/// What to do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The nodes that get a Pod.
    pub(super) create: Vec<Str>,
    pub(super) delete: Vec<Arc<Pod>>,
    /// Events: reason and note.
    pub(super) news: Vec<(EventType, &'static str, String)>,
    /// When to plan again, if nothing changes before.
    pub(super) check: Option<Duration>,
    pub(super) status: DaemonSetStatus,
}

/// A node and the Pods for it.
struct Place<'a> {
    node: &'a Str,
    eligibility: Eligibility,
    pods: Vec<&'a Arc<Pod>>,
}

/// The Pods of a node that are not being deleted, one of each template.
enum Pair<'a> {
    Both(&'a Arc<Pod>, &'a Arc<Pod>),
    New(&'a Arc<Pod>),
    Old(&'a Arc<Pod>),
    Neither,
    /// There are more.
    Excess,
}

impl View<'_> {
    /// Decides what to do.
    pub(super) fn plan(&self, failures: &mut Failures) -> Plan {
        let (places, lost) = self.places();
        let mut plan = Plan {
            status: self.counted(&places),
            check: self.next_check(),
            ..Plan::default()
        };
        for place in &places {
            self.manage(place, failures, &mut plan);
        }
        plan.delete.extend(lost);
        let settled = plan.create.is_empty() && plan.delete.is_empty();
        if settled && self.set.spec.update_strategy.type_ == "RollingUpdate" {
            self.roll(&places, &mut plan);
        }
        plan.create.truncate(BURST_MAX);
        plan.delete.truncate(BURST_MAX);
        plan
    }

    /// Groups the Pods by nodes, the oldest first. The others are unassigned Pods for nodes that
    /// do not exist.
    fn places(&self) -> (Vec<Place<'_>>, Vec<Arc<Pod>>) {
        let mut by_node: BTreeMap<&Str, Vec<&Arc<Pod>>> = BTreeMap::new();
        let present = self.pods.iter();
        for pod in present.filter(|it| !(is_over(it) && it.is_terminating())) {
            if let Some(node) = pods::node(pod) {
                by_node.entry(node).or_default().push(pod);
            }
        }
        let spec = pods::tolerant(self.set);
        let mut nodes: Vec<_> = self.nodes.iter().collect();
        nodes.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        let places = nodes.into_iter().map(|node| {
            let name = &node.metadata.name;
            let mut pods = by_node.remove(name).unwrap_or_default();
            pods.sort_by_key(|it| {
                let meta = &it.metadata;
                let unassigned = it.spec.node_name.is_empty();
                (unassigned, meta.creation_timestamp, meta.name.clone())
            });
            Place {
                node: name,
                eligibility: eligibility(&spec, node),
                pods,
            }
        });
        let places = places.collect();
        let lost = by_node.into_values().flatten();
        let lost = lost.filter(|it| it.spec.node_name.is_empty() && !it.is_terminating());
        (places, lost.cloned().collect())
    }

    fn is_available(&self, pod: &Pod) -> bool {
        is_available(pod, self.set.spec.min_ready_seconds, self.now)
    }

    /// Sees to it that a node has the Pods that it should have.
    fn manage(&self, place: &Place<'_>, failures: &mut Failures, plan: &mut Plan) {
        let staying = place.pods.iter().filter(|it| !it.is_terminating());
        match place.eligibility {
            Eligibility::Wanted if place.pods.is_empty() => plan.create.push(place.node.clone()),
            Eligibility::Unwanted => plan.delete.extend(staying.copied().cloned()),
            eligibility => {
                let mut running = Vec::new();
                for pod in staying {
                    if is_over(pod) {
                        self.replace_ended(pod, place.node, failures, plan);
                    } else {
                        running.push(*pod);
                    }
                }
                if !self.surges() {
                    plan.delete.extend(running.into_iter().skip(1).cloned());
                } else if running.is_empty() {
                    if eligibility == Eligibility::Wanted {
                        plan.create.push(place.node.clone());
                    }
                } else {
                    self.prune(&running, plan);
                }
            }
        }
    }

    /// Deletes a Pod that has ended, which it should not have.
    fn replace_ended(&self, pod: &Arc<Pod>, node: &Str, failures: &mut Failures, plan: &mut Plan) {
        let (name, namespace) = (pod.name(), pod.namespace());
        if pod.status.phase == "Failed" {
            if let Some(left) = failures.wait(node, self.now) {
                plan.look_again(left);
                return;
            }
            failures.note(node, self.now);
            let note = format!(
                "Found failed daemon pod {namespace}/{name} on node {node}, will try to kill it"
            );
            plan.news
                .push((EventType::Warning, "FailedDaemonPod", note));
        } else {
            let note = format!(
                "Found succeeded daemon pod {namespace}/{name} on node {node}, will try to delete it"
            );
            plan.news
                .push((EventType::Normal, "SucceededDaemonPod", note));
        }
        plan.delete.push(Arc::clone(pod));
    }

    /// With surge, a node may have two Pods until the new one is available.
    fn prune(&self, running: &[&Arc<Pod>], plan: &mut Plan) {
        let (new, old) = self.by_template(running.iter().copied());
        let surplus = new.iter().skip(1).chain(old.iter().skip(1));
        plan.delete.extend(surplus.map(|it| Arc::clone(it)));
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (ready_since(old).is_none() || self.is_available(new))
        {
            plan.delete.push(Arc::clone(old));
        }
    }

    /// Separates the Pods of the current template from others.
    fn by_template<'a>(
        &self,
        pods: impl Iterator<Item = &'a Arc<Pod>>,
    ) -> (Vec<&'a Arc<Pod>>, Vec<&'a Arc<Pod>>) {
        pods.partition(|it| is_updated(self.set, it, self.hash))
    }

    fn pair<'a>(&self, place: &Place<'a>) -> Pair<'a> {
        let staying = place.pods.iter().filter(|it| !it.is_terminating());
        let (new, old) = self.by_template(staying.copied());
        match (&new[..], &old[..]) {
            ([new], [old]) => Pair::Both(new, old),
            ([new], []) => Pair::New(new),
            ([], [old]) => Pair::Old(old),
            ([], []) => Pair::Neither,
            _ => Pair::Excess,
        }
    }

    fn surges(&self) -> bool {
        self.limits(1).1 > 0
    }

    /// How many nodes may be without an available Pod, and how many may have two.
    fn limits(&self, wanted: usize) -> (usize, usize) {
        let strategy = &self.set.spec.update_strategy;
        let rolling = strategy.rolling_update.as_deref();
        let rolling = rolling.filter(|_| strategy.type_ == "RollingUpdate");
        let scaled = |limit: Option<&IntOrString>| {
            let total = i64::try_from(wanted).unwrap_or(i64::MAX);
            let scaled = limit.and_then(|it| it.scaled(total, Rounding::Up).ok());
            scaled.and_then(|it| usize::try_from(it).ok()).unwrap_or(0)
        };
        let surge = scaled(rolling.and_then(|it| it.max_surge.as_ref()));
        let unavailable = scaled(rolling.and_then(|it| it.max_unavailable.as_ref()));
        if surge == 0 && unavailable == 0 {
            (1, 0)
        } else {
            (unavailable, surge)
        }
    }

    fn roll(&self, places: &[Place<'_>], plan: &mut Plan) {
        let is_wanted = |it: &&Place<'_>| it.eligibility == Eligibility::Wanted;
        let wanted = places.iter().filter(is_wanted).count();
        let (unavailable, surge) = self.limits(wanted);
        let relevant: Vec<_> = places
            .iter()
            .filter(|it| is_wanted(it) || !it.pods.is_empty())
            .collect();
        if surge == 0 {
            self.roll_by_deletion(&relevant, unavailable, plan);
        } else {
            self.roll_by_surge(&relevant, surge, wanted, plan);
        }
    }

    fn roll_by_deletion(&self, places: &[&Place<'_>], most: usize, plan: &mut Plan) {
        let mut unavailable = 0;
        let mut candidates = Vec::new();
        for place in places {
            match self.pair(place) {
                Pair::New(new) if self.is_available(new) => {}
                Pair::Old(old) if self.is_available(old) => candidates.push(Arc::clone(old)),
                Pair::Old(old) => {
                    // Nothing is lost.
                    unavailable += 1;
                    plan.delete.push(Arc::clone(old));
                }
                _ => unavailable += 1,
            }
        }
        candidates.truncate(most.saturating_sub(unavailable));
        plan.delete.extend(candidates);
    }

    fn roll_by_surge(&self, places: &[&Place<'_>], most: usize, wanted: usize, plan: &mut Plan) {
        let (mut surging, mut available) = (0, 0);
        let (mut candidates, mut leaving) = (Vec::new(), Vec::new());
        for place in places {
            let is_wanted = place.eligibility == Eligibility::Wanted;
            match self.pair(place) {
                Pair::Excess => surging += 1,
                Pair::Neither => {}
                Pair::New(new) => available += usize::from(self.is_available(new)),
                Pair::Both(new, old) => {
                    available += usize::from(self.is_available(old));
                    if self.is_available(new) {
                        plan.delete.push(Arc::clone(old));
                    } else {
                        surging += 1;
                    }
                }
                Pair::Old(old) if self.is_available(old) => {
                    available += 1;
                    if is_wanted {
                        candidates.push(place.node.clone());
                    } else {
                        leaving.push(Arc::clone(old));
                    }
                }
                Pair::Old(_) if is_wanted => plan.create.push(place.node.clone()),
                Pair::Old(old) => plan.delete.push(Arc::clone(old)),
            }
        }
        // A Pod leaves a node that is no longer wanted when another is available instead.
        leaving.truncate(available.saturating_sub(wanted));
        plan.delete.extend(leaving);
        candidates.truncate(most.saturating_sub(surging));
        plan.create.extend(candidates);
    }

    /// Returns the status with the counts.
    fn counted(&self, places: &[Place<'_>]) -> DaemonSetStatus {
        let is_wanted = |it: &&Place<'_>| it.eligibility == Eligibility::Wanted;
        let wanted: Vec<_> = places.iter().filter(is_wanted).collect();
        let oldest = || wanted.iter().filter_map(|it| it.pods.first());
        let misplaced = places
            .iter()
            .filter(|it| !is_wanted(it) && !it.pods.is_empty());
        let available = count(oldest().filter(|it| self.is_available(it)).count());
        let updated = oldest().filter(|it| is_updated(self.set, it, self.hash));
        DaemonSetStatus {
            desired_number_scheduled: count(wanted.len()),
            current_number_scheduled: count(oldest().count()),
            number_misscheduled: count(misplaced.count()),
            number_ready: count(oldest().filter(|it| ready_since(it).is_some()).count()),
            updated_number_scheduled: count(updated.count()),
            number_available: available,
            number_unavailable: count(wanted.len()) - available,
            observed_generation: self.set.metadata.generation,
            ..self.set.status.clone()
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

impl Plan {
    fn look_again(&mut self, wait: Duration) {
        self.check = Some(self.check.map_or(wait, |it| it.min(wait)));
    }
}
