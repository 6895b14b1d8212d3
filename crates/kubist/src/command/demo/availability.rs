//! `Availability`: the number of available Pods of an application, event by event.
//!
//! It is updated by an informer handler that gets every change, so that no drop is missed.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, Str};
use kubist_cache::{Deleted, ResourceEvent};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The label with the application's name.
pub(super) const APP_LABEL: &str = "app.kubernetes.io/name";

/// The availability of an application. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Availability {
    app: Str,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Pods that are neither finished nor being deleted.
    live: BTreeSet<Str>,
    /// Those of them that are ready.
    ready: BTreeSet<Str>,
    extremes: Option<Extremes>,
}

/// The minimum and the maximum since [`Availability::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extremes {
    /// The minimum of ready Pods.
    pub(super) ready_least: usize,
    /// The maximum of live Pods.
    pub(super) live_most: usize,
}

impl Availability {
    pub(super) fn of(app: &str) -> Self {
        Self {
            app: app.into(),
            counts: Arc::default(),
        }
    }

    /// Begins a measurement at the current state.
    pub(super) fn begin(&self) {
        let mut counts = self.counts.lock();
        counts.extremes = None;
        counts.measure();
    }

    /// Returns the bounds since [`Self::begin`].
    pub(super) fn extremes(&self) -> Extremes {
        let counts = self.counts.lock();
        counts.extremes.unwrap_or_else(|| counts.now())
    }

    /// Records a change of a Pod.
    pub(super) fn note(&self, change: &ResourceEvent<Pod>) {
        let (pod, gone) = match change {
            ResourceEvent::Added { object, .. }
            | ResourceEvent::Updated { new: object, .. }
            | ResourceEvent::Resynced(object) => (object, false),
            ResourceEvent::Deleted(Deleted::Known(object)) => (object, true),
            ResourceEvent::Deleted(Deleted::FinalStateUnknown { name, .. }) => {
                let mut counts = self.counts.lock();
                counts.live.remove(&name.name);
                counts.ready.remove(&name.name);
                return counts.measure();
            }
        };
        if pod.metadata.labels.get(APP_LABEL) != Some(&self.app) {
            return;
        }
        let mut counts = self.counts.lock();
        let (name, live) = (&pod.metadata.name, !gone && is_live(pod));
        put(&mut counts.live, name, live);
        put(&mut counts.ready, name, live && is_ready(pod));
        counts.measure();
    }
}

impl Counts {
    fn now(&self) -> Extremes {
        Extremes {
            ready_least: self.ready.len(),
            live_most: self.live.len(),
        }
    }

    fn measure(&mut self) {
        let now = self.now();
        let before = self.extremes.unwrap_or(now);
        self.extremes = Some(Extremes {
            ready_least: before.ready_least.min(now.ready_least),
            live_most: before.live_most.max(now.live_most),
        });
    }
}

fn put(names: &mut BTreeSet<Str>, name: &Str, there: bool) {
    if there {
        names.insert(name.clone());
    } else {
        names.remove(name);
    }
}

/// Neither finished nor being deleted.
pub(super) fn is_live(pod: &Pod) -> bool {
    !pod.is_terminating() && !matches!(pod.status.phase.as_str(), "Succeeded" | "Failed")
}

/// Whether it is ready.
pub(super) fn is_ready(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    conditions.any(|it| it.type_.as_str() == "Ready" && it.status.as_str() == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PodCondition;

    fn pod(name: &str, app: &str, ready: bool) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.labels.insert(APP_LABEL.into(), app.into());
        let status = if ready { "True" } else { "False" };
        let condition = PodCondition {
            type_: "Ready".into(),
            status: status.into(),
            ..PodCondition::default()
        };
        pod.status.conditions.push(condition);
        Arc::new(pod)
    }

    fn added(pod: Arc<Pod>) -> ResourceEvent<Pod> {
        ResourceEvent::Added {
            object: pod,
            initial: false,
        }
    }

    #[test]
    fn the_worst_moment_is_remembered_and_other_applications_do_not_count() {
        let availability = Availability::of("web");
        for name in ["a", "b", "c"] {
            availability.note(&added(pod(name, "web", true)));
        }
        availability.note(&added(pod("x", "other", true)));
        availability.begin();
        assert_eq!(
            availability.extremes(),
            Extremes {
                ready_least: 3,
                live_most: 3
            }
        );

        availability.note(&added(pod("d", "web", false)));
        availability.note(&ResourceEvent::Deleted(Deleted::Known(pod(
            "a", "web", true,
        ))));
        availability.note(&added(pod("d", "web", true)));
        availability.note(&added(pod("e", "web", true)));
        assert_eq!(
            availability.extremes(),
            Extremes {
                ready_least: 2,
                live_most: 4
            }
        );
    }
}
