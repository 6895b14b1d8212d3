//! `Predicate`: which events lead to a reconcile.
//!
//! Predicates filter single events on their way into the queue. They reduce reconciles, not memory:
//! the store holds every object. A reconciler must not depend on them, because initial lists match
//! every predicate, and keys are requeued for other reasons too.

use kubist_apimachinery::{Generation, Object, Selector};
use kubist_cache::ResourceEvent;

type Test<K> = dyn Fn(&ResourceEvent<K>) -> bool + Send;

/// A predicate on events.
pub struct Predicate<K> {
    test: Box<Test<K>>,
}

impl<K: Object> Predicate<K> {
    /// Creates a predicate with a custom function.
    pub fn new(test: impl Fn(&ResourceEvent<K>) -> bool + Send + 'static) -> Self {
        Self {
            test: Box::new(test),
        }
    }

    /// Matches updates for which a function of the two states differs, and all other events.
    pub fn differs<T: PartialEq>(of: impl Fn(&K) -> T + Send + 'static) -> Self {
        Self::new(move |change| match change {
            ResourceEvent::Updated { old, new } => of(old) != of(new) || old.uid() != new.uid(),
            _ => true,
        })
    }

    /// Matches updates that change the labels, and all other events.
    pub fn labels_changed() -> Self {
        Self::new(|change| match change {
            ResourceEvent::Updated { old, new } => !old.labels().iter().eq(new.labels().iter()),
            _ => true,
        })
    }

    /// Matches events of objects that match the selector in their old or new state.
    pub fn selected(selector: Selector) -> Self {
        Self::new(move |change| match change {
            ResourceEvent::Updated { old, new } => {
                selector.matches_object(&**old) || selector.matches_object(&**new)
            }
            change => change
                .object()
                .is_none_or(|it| selector.matches_object(&**it)),
        })
    }

    /// Matches if both match.
    pub fn and(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) && other.passes(change))
    }

    /// Matches if either matches.
    pub fn or(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) || other.passes(change))
    }

    /// Reports whether an event matches.
    pub fn passes(&self, change: &ResourceEvent<K>) -> bool {
        (self.test)(change)
    }
}

impl<K: Generation> Predicate<K> {
    /// Matches updates that change the desired state (`metadata.generation`) or start the deletion,
    /// and all other events. For kinds whose generation the server increments.
    pub fn generation_changed() -> Self {
        Self::differs(|object: &K| (object.generation(), object.is_terminating()))
    }
}

impl<K> std::fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Predicate")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::Pod;
    use std::sync::Arc;

    fn updated(change: impl Fn(&mut Pod)) -> ResourceEvent<Pod> {
        let old = Pod::default();
        let mut new = old.clone();
        change(&mut new);
        ResourceEvent::Updated {
            old: Arc::new(old),
            new: Arc::new(new),
        }
    }

    #[test]
    fn status_updates_do_not_change_the_generation() {
        let predicate = Predicate::generation_changed();
        assert!(!predicate.passes(&updated(|pod| pod.status.phase = "Running".into())));
        assert!(predicate.passes(&updated(|pod| pod.metadata.generation = 2)));
        let begun =
            updated(|pod| pod.metadata.deletion_timestamp = Some(kubist_apimachinery::Time::ZERO));
        assert!(predicate.passes(&begun));
        let object = Arc::new(Pod::default());
        assert!(predicate.passes(&ResourceEvent::Added {
            object,
            initial: false
        }));
    }

    #[test]
    fn labels_and_selectors_look_at_both_states() {
        let labelled = |pod: &mut Pod| {
            pod.metadata.labels.insert("app".into(), "web".into());
        };
        assert!(Predicate::labels_changed().passes(&updated(labelled)));
        assert!(!Predicate::labels_changed().passes(&updated(|_| {})));
        let web = || Predicate::selected("app=web".parse().expect("a selector"));
        assert!(web().passes(&updated(labelled)));
        assert!(!web().passes(&updated(|_| {})));
        assert!(
            !web()
                .and(Predicate::labels_changed())
                .passes(&updated(|_| {}))
        );
        assert!(web().or(Predicate::new(|_| true)).passes(&updated(|_| {})));
    }
}
