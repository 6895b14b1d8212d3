//! Random lives of DaemonSets: never two Pods on a node without surge, never more unavailable than
//! allowed, and in the end one Pod of the newest template on every node.

use super::failures::Failures;
use super::plan::View;
use super::pods;
use crate::pod_state::{is_over, ready_since};
use kubist_api::apps::v1::{DaemonSet, RollingUpdateDaemonSet};
use kubist_api::core::v1::{Node, Pod, PodCondition, Taint};
use kubist_apimachinery::{Object as _, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
enum Event {
    Reconcile,
    Ready(usize),
    Unready(usize),
    Fails(usize),
    Deleted(usize),
    Removed,
    /// A node gets or loses a label that the set wants.
    Labelled(usize),
    /// A node gets or loses a taint.
    Tainted(usize),
    Joins,
    Leaves(usize),
    Renewed,
    Passes(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        7 => Just(Event::Reconcile),
        6 => (0..9_usize).prop_map(Event::Ready),
        1 => (0..9_usize).prop_map(Event::Unready),
        1 => (0..9_usize).prop_map(Event::Fails),
        1 => (0..9_usize).prop_map(Event::Deleted),
        3 => Just(Event::Removed),
        1 => (0..6_usize).prop_map(Event::Labelled),
        1 => (0..6_usize).prop_map(Event::Tainted),
        1 => Just(Event::Joins),
        1 => (0..6_usize).prop_map(Event::Leaves),
        1 => Just(Event::Renewed),
        2 => (1..9_i64).prop_map(Event::Passes),
    ]
}

struct World {
    set: DaemonSet,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    failures: Failures,
    revision: u32,
    now: i64,
    made: u32,
    unavailable_max: usize,
    surge_max: usize,
}

impl World {
    fn new(unavailable_max: usize, surge_max: usize) -> Self {
        let mut set = DaemonSet::default();
        set.metadata.name = "log".into();
        set.metadata.uid = "set".into();
        let wanted = &mut set.spec.template.spec.node_selector;
        wanted.insert("log".into(), "yes".into());
        let strategy = &mut set.spec.update_strategy;
        strategy.type_ = "RollingUpdate".into();
        let number = |it: usize| i32::try_from(it).expect("it is small").into();
        strategy.rolling_update = Some(Box::new(RollingUpdateDaemonSet {
            max_unavailable: Some(number(unavailable_max)),
            max_surge: Some(number(surge_max)),
        }));
        let mut world = Self {
            set,
            nodes: Vec::new(),
            pods: Vec::new(),
            failures: Failures::default(),
            revision: 1,
            now: 1_000,
            made: 0,
            unavailable_max,
            surge_max,
        };
        (0..4).for_each(|_| world.happens(Event::Joins));
        world
    }

    fn happens(&mut self, event: Event) {
        let now = Time::from_unix(self.now);
        match event {
            Event::Reconcile => self.reconcile(),
            Event::Ready(at) => {
                let alive = self.pods.get_mut(at).filter(|it| !is_over(it));
                if let Some(pod) = alive.filter(|it| ready_since(it).is_none()) {
                    if pod.spec.node_name.is_empty() {
                        pod.spec.node_name = pods::node(pod).cloned().unwrap_or_default();
                    }
                    pod.status.phase = "Running".into();
                    set_ready(pod, "True", now);
                }
            }
            Event::Unready(at) => {
                if let Some(pod) = self.pods.get_mut(at) {
                    set_ready(pod, "False", now);
                }
            }
            Event::Fails(at) => {
                if let Some(pod) = self.pods.get_mut(at) {
                    pod.status.phase = "Failed".into();
                    set_ready(pod, "False", now);
                }
            }
            Event::Deleted(at) => {
                if let Some(pod) = self.pods.get_mut(at) {
                    pod.metadata.deletion_timestamp.get_or_insert(now);
                }
            }
            Event::Removed => self.pods.retain(|it| !it.is_terminating()),
            Event::Labelled(at) => {
                if let Some(node) = self.nodes.get_mut(at)
                    && node.metadata.labels.remove("log").is_none()
                {
                    node.metadata.labels.insert("log".into(), "yes".into());
                }
            }
            Event::Tainted(at) => {
                if let Some(node) = self.nodes.get_mut(at)
                    && node.spec.taints.pop().is_none()
                {
                    node.spec.taints.push(Taint {
                        key: "gpu".into(),
                        effect: "NoSchedule".into(),
                        ..Taint::default()
                    });
                }
            }
            Event::Joins if self.nodes.len() < 7 => {
                self.made += 1;
                let mut node = Node::default();
                node.metadata.name = format!("node-{}", self.made).into();
                node.metadata.labels.insert("log".into(), "yes".into());
                self.nodes.push(node);
            }
            Event::Leaves(at) if at < self.nodes.len() => {
                // As upstream's collector of Pods does, what ran there goes, too.
                let name = self.nodes.remove(at).metadata.name;
                self.pods.retain(|it| it.spec.node_name != name);
            }
            Event::Joins | Event::Leaves(_) => {}
            Event::Renewed => self.revision += 1,
            Event::Passes(seconds) => self.now += seconds,
        }
    }

    fn reconcile(&mut self) {
        let hash = format!("hash-{}", self.revision);
        let pods: Vec<_> = self.pods.iter().cloned().map(Arc::new).collect();
        let nodes: Vec<_> = self.nodes.iter().cloned().map(Arc::new).collect();
        let view = View {
            set: &self.set,
            nodes: &nodes,
            pods: &pods,
            hash: &hash,
            now: Time::from_unix(self.now),
        };
        let plan = view.plan(&mut self.failures);
        let spec = pods::tolerant(&self.set);
        let (before, excess) = (self.available(), self.excess(&hash));
        for pod in &plan.delete {
            let mut stored = self.pods.iter_mut();
            let stored = stored.find(|it| it.metadata.uid == pod.metadata.uid);
            stored.expect("it is stored").metadata.deletion_timestamp = Some(view.now);
        }
        for node in &plan.create {
            let mut pod = pods::made(&self.set, &spec, &hash, node);
            self.made += 1;
            pod.metadata.uid = format!("pod-{}", self.made).into();
            pod.metadata.name = pod.metadata.uid.clone();
            pod.metadata.creation_timestamp = Some(view.now);
            pod.status.phase = "Pending".into();
            self.pods.push(pod);
        }
        self.set.status = plan.status;
        self.check(&before, excess);
    }

    /// The wanted nodes that have an available Pod.
    fn available(&self) -> Vec<String> {
        let spec = pods::tolerant(&self.set);
        let wanted = self
            .nodes
            .iter()
            .filter(|it| pods::eligibility(&spec, it) == pods::Eligibility::Wanted);
        let has = |name: &str| {
            let mut pods = self.pods.iter().filter(|it| !it.is_terminating());
            pods.any(|it| {
                pods::node(it).is_some_and(|it| *it == *name) && ready_since(it).is_some()
            })
        };
        let names = wanted.map(|it| it.metadata.name.to_string());
        names.filter(|it| has(it)).collect()
    }

    /// On how many nodes there are two Pods of older templates. As upstream, the older one stays
    /// there, whether it is available or not.
    fn excess(&self, hash: &str) -> usize {
        let is_old = |it: &&Pod| !it.is_terminating() && !pods::is_updated(&self.set, it, hash);
        let old = self.pods.iter().filter(is_old);
        let mut on: BTreeMap<_, usize> = BTreeMap::new();
        for node in old.filter_map(pods::node) {
            *on.entry(node).or_default() += 1;
        }
        on.values().filter(|it| **it > 1).count()
    }

    fn check(&self, before: &[String], excess: usize) {
        let mut on: BTreeMap<_, (usize, usize)> = BTreeMap::new();
        for pod in self.pods.iter().filter(|it| !is_over(it)) {
            let counts = on.entry(pods::node(pod).expect("a node")).or_default();
            counts.0 += usize::from(!pod.is_terminating());
            counts.1 += 1;
        }
        let most = if self.surge_max > 0 { 2 } else { 1 };
        assert!(on.values().all(|it| it.0 <= most), "{on:?}");
        if self.surge_max == 0 {
            assert!(
                on.values().all(|it| it.1 <= 1),
                "one that ends is waited for: {on:?}"
            );
        }
        // What the controller took away itself.
        let after = self.available();
        let lost = before.iter().filter(|it| !after.contains(it)).count();
        let wanted = usize::try_from(self.set.status.desired_number_scheduled);
        let unavailable = wanted.expect("it is a number") - after.len();
        if self.surge_max == 0 {
            assert!(lost == 0 || unavailable <= self.unavailable_max);
        } else {
            assert!(lost <= excess);
        }
        let status = &self.set.status;
        let sum = status.number_available + status.number_unavailable;
        assert_eq!(sum, status.desired_number_scheduled);
    }
}

fn set_ready(pod: &mut Pod, value: &str, now: Time) {
    pod.status.conditions = vec![PodCondition {
        type_: "Ready".into(),
        status: value.into(),
        last_transition_time: Some(now),
        ..PodCondition::default()
    }];
}

proptest! {
    #[test]
    fn nodes_have_their_pods_and_updates_keep_their_promises(
        (unavailable, surge) in prop_oneof![(1..4_usize, Just(0)), (Just(0), 1..4_usize)],
        events in vec(event(), 0..90),
    ) {
        let mut world = World::new(unavailable, surge);
        for event in events {
            world.happens(event);
        }
        for _ in 0..40 {
            world.happens(Event::Reconcile);
            world.happens(Event::Removed);
            (0..world.pods.len()).for_each(|at| world.happens(Event::Ready(at)));
            world.happens(Event::Passes(1_000));
        }
        let spec = pods::tolerant(&world.set);
        let hash = format!("hash-{}", world.revision);
        for node in &world.nodes {
            let on = |it: &&Pod| pods::node(it) == Some(&node.metadata.name);
            let there: Vec<_> = world.pods.iter().filter(on).collect();
            match pods::eligibility(&spec, node) {
                pods::Eligibility::Wanted => {
                    prop_assert_eq!(there.len(), 1);
                    prop_assert!(pods::is_updated(&world.set, there[0], &hash));
                }
                pods::Eligibility::Tolerated => prop_assert!(there.len() <= 1),
                pods::Eligibility::Unwanted => prop_assert!(there.is_empty()),
            }
        }
        let status = &world.set.status;
        let wanted = status.desired_number_scheduled;
        let all = [status.current_number_scheduled, status.updated_number_scheduled,
            status.number_ready, status.number_available];
        prop_assert_eq!(all, [wanted; 4]);
    }
}
