//! `Predicate`: which changes are worth a reconcile.
//!
//! It looks at single changes on their way into the queue. It saves runs, not memory: the store
//! holds every object. A reconciler must not rely on it, because first lists pass every predicate
//! here, and a name may come back for other reasons.

use kubist_apimachinery::{Generation, Object, Selector};
use kubist_cache::ResourceEvent;

type Test<K> = dyn Fn(&ResourceEvent<K>) -> bool + Send;

/// A test of changes.
pub struct Predicate<K> {
    test: Box<Test<K>>,
}

impl<K: Object> Predicate<K> {
    /// By a function of your own.
    pub fn new(test: impl Fn(&ResourceEvent<K>) -> bool + Send + 'static) -> Self {
        Self {
            test: Box::new(test),
        }
    }

    /// Updates for which a function of both states differs; all other changes.
    pub fn differs<T: PartialEq>(of: impl Fn(&K) -> T + Send + 'static) -> Self {
        Self::new(move |change| match change {
            ResourceEvent::Updated { old, new } => of(old) != of(new) || old.uid() != new.uid(),
            _ => true,
        })
    }

    /// Updates that change the labels; all other changes.
    pub fn labels_changed() -> Self {
        Self::new(|change| match change {
            ResourceEvent::Updated { old, new } => !old.labels().iter().eq(new.labels().iter()),
            _ => true,
        })
    }

    /// Changes of objects that the selector matches, before or after.
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

    /// Both hold.
    pub fn and(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) && other.passes(change))
    }

    /// One of both holds.
    pub fn or(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) || other.passes(change))
    }

    /// Whether a change passes.
    pub fn passes(&self, change: &ResourceEvent<K>) -> bool {
        (self.test)(change)
    }
}

impl<K: Generation> Predicate<K> {
    /// Updates that change the desired state (`metadata.generation`) or begin the deletion; all
    /// other changes. For kinds of which the server counts generations.
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
