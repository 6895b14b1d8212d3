//! Random lives of StatefulSets: the promises about order and availability hold, and they settle.

use super::claims::Claims;
use super::identity;
use super::plan::{Act, Revision, View};
use crate::pod_state::{is_over, ready_since};
use kubist_api::apps::v1::{RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetOrdinals};
use kubist_api::core::v1::{Pod, PodCondition, PodTemplateSpec};
use kubist_apimachinery::{Object as _, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A reconcile that does at most so much.
    Reconcile {
        acts: usize,
    },
    Ready(usize),
    Unready(usize),
    Fails(usize),
    Deleted(usize),
    Removed,
    Scaled(i32),
    Partition(i32),
    Renewed,
    Passes(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Reconcile { acts: 99 }),
        1 => (0..3_usize).prop_map(|acts| Event::Reconcile { acts }),
        5 => (0..6_usize).prop_map(Event::Ready),
        1 => (0..6_usize).prop_map(Event::Unready),
        1 => (0..6_usize).prop_map(Event::Fails),
        1 => (0..6_usize).prop_map(Event::Deleted),
        3 => Just(Event::Removed),
        1 => (0..6_i32).prop_map(Event::Scaled),
        1 => (0..6_i32).prop_map(Event::Partition),
        1 => Just(Event::Renewed),
        2 => (1..9_i64).prop_map(Event::Passes),
    ]
}

struct World {
    set: StatefulSet,
    pods: BTreeMap<String, Pod>,
    revision: u32,
    now: i64,
    made: u32,
}

impl World {
    fn new(parallel: bool, start: i32, minimum: i32) -> Self {
        let mut set = StatefulSet::default();
        set.metadata.name = "db".into();
        set.metadata.uid = "set".into();
        let spec = &mut set.spec;
        spec.replicas = Some(3);
        spec.min_ready_seconds = minimum;
        spec.ordinals = Some(Box::new(StatefulSetOrdinals { start }));
        let policy = if parallel { "Parallel" } else { "OrderedReady" };
        spec.pod_management_policy = policy.into();
        spec.update_strategy.type_ = "RollingUpdate".into();
        let rolling = spec.update_strategy.rolling_update.insert(Box::default());
        **rolling = RollingUpdateStatefulSetStrategy {
            partition: Some(0),
            ..RollingUpdateStatefulSetStrategy::default()
        };
        Self {
            set,
            pods: BTreeMap::new(),
            revision: 1,
            now: 1_000,
            made: 0,
        }
    }

    fn partition(&self) -> i32 {
        let rolling = self.set.spec.update_strategy.rolling_update.as_ref();
        rolling.and_then(|it| it.partition).unwrap_or(0)
    }

    fn at(&mut self, index: usize) -> Option<&mut Pod> {
        self.pods.values_mut().nth(index)
    }

    fn happens(&mut self, event: Event) {
        let now = Time::from_unix(self.now);
        match event {
            Event::Reconcile { acts } => self.reconcile(acts),
            Event::Ready(index) => {
                if let Some(pod) = self.at(index)
                    && !is_over(pod)
                    && ready_since(pod).is_none()
                {
                    pod.status.phase = "Running".into();
                    set_ready(pod, true, now);
                }
            }
            Event::Unready(index) => {
                if let Some(pod) = self.at(index) {
                    set_ready(pod, false, now);
                }
            }
            Event::Fails(index) => {
                if let Some(pod) = self.at(index) {
                    pod.status.phase = "Failed".into();
                    set_ready(pod, false, now);
                }
            }
            Event::Deleted(index) => {
                if let Some(pod) = self.at(index) {
                    pod.metadata.deletion_timestamp.get_or_insert(now);
                }
            }
            Event::Removed => self.pods.retain(|_, it| !it.is_terminating()),
            Event::Scaled(size) => self.set.spec.replicas = Some(size),
            Event::Partition(at) => {
                let rolling = &mut self.set.spec.update_strategy.rolling_update;
                rolling.get_or_insert_default().partition = Some(at);
            }
            Event::Renewed => self.revision += 1,
            Event::Passes(seconds) => self.now += seconds,
        }
    }

    fn reconcile(&mut self, acts: usize) {
        let update = format!("db-{}", self.revision);
        let current = match self.set.status.current_revision.as_str() {
            "" => update.clone(),
            name => name.to_owned(),
        };
        let pods: Vec<_> = self.pods.values().cloned().map(Arc::new).collect();
        let (claims, template) = (Claims::new(), PodTemplateSpec::default());
        let revision = |name| Revision {
            name,
            template: &template,
        };
        let set = self.set.clone();
        let view = View {
            set: &set,
            pods: &pods,
            claims: &claims,
            current: revision(&current),
            update: revision(&update),
            collisions: 0,
            now: Time::from_unix(self.now),
        };
        let plan = view.plan();
        self.check(&plan.acts, &update);
        for act in plan.acts.iter().take(acts) {
            match act {
                Act::Create(pod, _) => self.create(pod),
                Act::Delete(pod) => {
                    let stored = self
                        .pods
                        .get_mut(&*pod.metadata.name)
                        .expect("it is stored");
                    stored.metadata.deletion_timestamp = Some(view.now);
                }
                Act::Claim(..) | Act::Mend(..) => {}
            }
        }
        self.set.status = plan.status;
    }

    fn create(&mut self, pod: &Pod) {
        let mut pod = pod.clone();
        self.made += 1;
        pod.metadata.uid = format!("pod-{}", self.made).into();
        pod.status.phase = "Pending".into();
        let name = pod.metadata.name.to_string();
        assert!(
            self.pods.insert(name, pod).is_none(),
            "two Pods of one number"
        );
    }

    fn is_available(&self, pod: &Pod) -> bool {
        let minimum = self.set.spec.min_ready_seconds;
        let now = Time::from_unix(self.now);
        !pod.is_terminating() && crate::pod_state::is_available(pod, minimum, now)
    }

    /// What the controller must not do.
    fn check(&self, acts: &[Act], update: &str) {
        let ordered = self.set.spec.pod_management_policy != "Parallel";
        let first = identity::first(&self.set);
        let named = |it: i32| self.pods.get(&*identity::pod_name(&self.set, it));
        let are_available = |mut numbers: std::ops::Range<i32>| {
            numbers.all(|it| named(it).is_some_and(|it| self.is_available(it)))
        };
        let mut deleted_for_update = 0;
        for act in acts {
            match act {
                Act::Create(_, ordinal) => {
                    assert!(
                        !ordered || are_available(first..*ordinal),
                        "{ordinal} is too early"
                    );
                    let below = *ordinal < first + self.partition();
                    let Act::Create(pod, _) = act else { return };
                    assert!(below || identity::revision(pod) == update);
                }
                Act::Delete(pod) => {
                    let ordinal = identity::ordinal(&self.set, pod).expect("a number");
                    let wanted = identity::index(&self.set, ordinal).is_some();
                    if !wanted || is_over(pod) {
                        continue;
                    }
                    deleted_for_update += 1;
                    assert_ne!(identity::revision(pod), update, "{ordinal} is up to date");
                    assert!(
                        ordinal >= first + self.partition(),
                        "it is below the partition"
                    );
                    let end = first + identity::size(&self.set);
                    assert!(
                        are_available(ordinal + 1..end),
                        "those above are not available"
                    );
                }
                Act::Claim(..) | Act::Mend(..) => {}
            }
        }
        assert!(deleted_for_update <= 1);
        assert!(!ordered || acts.len() <= 1, "one thing at a time: {acts:?}");
    }
}

fn set_ready(pod: &mut Pod, ready: bool, now: Time) {
    pod.status.conditions = vec![PodCondition {
        type_: "Ready".into(),
        status: if ready { "True" } else { "False" }.into(),
        last_transition_time: Some(now),
        ..PodCondition::default()
    }];
}

proptest! {
    #[test]
    fn order_and_availability_are_kept_and_every_set_settles(
        parallel in any::<bool>(),
        start in 0..3_i32,
        minimum in 0..5_i32,
        events in vec(event(), 0..80),
    ) {
        let mut world = World::new(parallel, start, minimum);
        for event in events {
            world.happens(event);
        }
        for _ in 0..60 {
            world.happens(Event::Reconcile { acts: 99 });
            world.happens(Event::Removed);
            for index in 0..world.pods.len() {
                world.happens(Event::Ready(index));
            }
            world.happens(Event::Passes(10));
        }
        let (set, size) = (&world.set, identity::size(&world.set));
        let first = identity::first(set);
        let names: Vec<_> = world.pods.keys().cloned().collect();
        let wanted = (first..first + size).map(|it| identity::pod_name(set, it).to_string());
        prop_assert_eq!(names, wanted.collect::<Vec<_>>());
        let newest = format!("db-{}", world.revision);
        let kept = first + world.partition();
        let renewed = world.pods.values().filter(|it| {
            identity::ordinal(set, it).is_some_and(|it| it >= kept)
        });
        for pod in renewed {
            prop_assert_eq!(identity::revision(pod), newest.as_str());
        }
        let status = &set.status;
        let counts = [status.replicas, status.ready_replicas, status.available_replicas];
        prop_assert_eq!(counts, [size; 3]);
        if world.partition() == 0 {
            prop_assert_eq!(&*status.current_revision, newest.as_str());
            prop_assert_eq!(status.current_replicas, size);
        }
    }
}

#[test]
fn pods_are_not_replaced_before_somebody_deletes_them_if_the_set_says_so() {
    let mut world = World::new(false, 0, 0);
    world.set.spec.update_strategy.type_ = "OnDelete".into();
    let settle = |world: &mut World| {
        for _ in 0..8 {
            world.happens(Event::Reconcile { acts: 99 });
            world.happens(Event::Removed);
            (0..3).for_each(|index| world.happens(Event::Ready(index)));
        }
    };
    let revisions = |world: &World| {
        let pods = world.pods.values();
        pods.map(|it| identity::revision(it).to_owned())
            .collect::<Vec<_>>()
    };
    settle(&mut world);
    world.happens(Event::Renewed);
    settle(&mut world);
    assert_eq!(revisions(&world), ["db-1"; 3]);
    world.happens(Event::Deleted(1));
    settle(&mut world);
    assert_eq!(revisions(&world), ["db-1", "db-2", "db-1"]);
    assert_eq!(world.set.status.updated_replicas, 1);
}
