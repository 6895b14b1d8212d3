//! The deletion stages, as decisions about one object: marking, grace periods and finalizers.
//!
//! Pure: it reads no storage and no clock.

use crate::strategy::Strategy;
use crate::strategy::facts::Dependents;
use kubist_apimachinery::{
    AnyObject, GroupResource, ObjectMeta, Preconditions, PropagationPolicy, Status, Str, Time,
};

/// The finalizer that makes the garbage collector release an object's dependents.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer that makes the garbage collector delete an object's dependents first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// The deletion stage of an object, after [`begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Marked by this request, with the grace period in seconds.
    Graceful(i64),
    /// Marked by an earlier request; nothing changes.
    Pending,
    /// Without a grace period, or after its end.
    Now,
}

/// Marks an object for graceful deletion, if its kind supports that.
pub(super) fn begin(
    strategy: &dyn Strategy,
    object: &mut dyn AnyObject,
    requested: Option<i64>,
    now: Time,
) -> Stage {
    // A negative period means one second, as upstream.
    let requested = requested.map(at_least_a_second);
    let period = strategy
        .grace_seconds(object, requested)
        .map(at_least_a_second);
    let meta = object.meta_mut();
    meta.deletion_grace_period_seconds = meta.deletion_grace_period_seconds.map(at_least_a_second);
    let Some(period) = period else {
        return Stage::Now;
    };
    if let Some(deletion) = meta.deletion_timestamp {
        return shorten(meta, deletion, requested, period, now);
    }
    meta.deletion_timestamp = Some(later(now, period));
    meta.deletion_grace_period_seconds = Some(period);
    if meta.generation > 0 {
        meta.generation += 1;
    }
    Stage::Graceful(period)
}

/// Applies a second delete request, which can only shorten the grace period.
fn shorten(
    meta: &mut ObjectMeta,
    deletion: Time,
    requested: Option<i64>,
    period: i64,
    now: Time,
) -> Stage {
    let current = match meta.deletion_grace_period_seconds {
        None | Some(0) => return Stage::Now,
        Some(current) => current,
    };
    // The strategy may shorten the requested period; without a requested period, nothing changes.
    if requested.is_none_or(|requested| requested >= current) {
        return Stage::Pending;
    }
    let asked = later(deletion, -current);
    let mut end = later(asked, period);
    if period > 0 && end < now {
        // The end is not in the past: the old grace period has elapsed in part.
        end = later(now, 1);
        meta.deletion_grace_period_seconds = Some((end.unix() - asked.unix()).max(1));
    } else {
        meta.deletion_grace_period_seconds = Some(period);
    }
    meta.deletion_timestamp = Some(end);
    Stage::Graceful(period)
}

fn at_least_a_second(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

fn later(time: Time, seconds: i64) -> Time {
    Time::from_unix(time.unix().saturating_add(seconds))
}

/// Marks an object that waits only for its finalizers.
pub(super) fn mark(meta: &mut ObjectMeta, now: Time) {
    if meta.deletion_timestamp.is_none() {
        if meta.generation > 0 {
            meta.generation += 1;
        }
        meta.deletion_timestamp = Some(now);
    }
    meta.deletion_grace_period_seconds = Some(0);
}

/// Returns the finalizers of an object after a delete request; `None` if they do not change.
pub(super) fn finalizers(
    strategy: &dyn Strategy,
    meta: &ObjectMeta,
    policy: Option<PropagationPolicy>,
) -> Option<Vec<Str>> {
    let has = |name: &str| meta.finalizers.iter().any(|it| *it == name);
    let dependents = strategy.facts().default_dependents;
    let (orphan, foreground) = match (dependents, policy) {
        (Dependents::Unsupported, _) | (_, Some(PropagationPolicy::Background)) => (false, false),
        (_, Some(PropagationPolicy::Orphan)) => (true, false),
        (_, Some(PropagationPolicy::Foreground)) => (false, true),
        (_, None) if has(ORPHAN) => (true, false),
        (_, None) if has(FOREGROUND) => (false, true),
        (by_default, None) => (by_default == Dependents::Orphan, false),
    };
    with_dependents(meta, orphan, foreground)
}

/// Returns the finalizers of an object whose dependents are orphaned or deleted first; `None` if
/// they do not change.
pub(super) fn with_dependents(
    meta: &ObjectMeta,
    orphan: bool,
    foreground: bool,
) -> Option<Vec<Str>> {
    let mut finalizers: Vec<Str> = meta
        .finalizers
        .iter()
        .filter(|it| **it != ORPHAN && **it != FOREGROUND)
        .cloned()
        .collect();
    if orphan {
        finalizers.push(ORPHAN.into());
    }
    if foreground {
        finalizers.push(FOREGROUND.into());
    }
    let mut before = meta.finalizers.clone();
    let mut after = finalizers.clone();
    before.sort_unstable();
    after.sort_unstable();
    (before != after).then_some(finalizers)
}

/// Checks the preconditions of a delete. Returns 409 with upstream's message.
pub fn check_preconditions(
    group: &str,
    kind: &str,
    meta: &ObjectMeta,
    preconditions: &Preconditions,
) -> Result<(), Status> {
    // Upstream puts the kind in place of the resource.
    let conflict = |why: String| {
        let resource = GroupResource::new(group, kind);
        Err(Status::conflict(&resource, &meta.name, why))
    };
    if let Some(uid) = &preconditions.uid
        && *uid != meta.uid
    {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The \
             object might have been deleted and then recreated",
            meta.uid
        ));
    }
    if let Some(version) = &preconditions.resource_version
        && *version != meta.resource_version
    {
        return conflict(format!(
            "the ResourceVersion in the precondition ({version}) does not match the \
             ResourceVersion in record ({}). The object might have been modified",
            meta.resource_version
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::PlainStrategy;
    use crate::strategy::facts::StrategyFacts;
    use kubist_api::core::v1::ConfigMap;
    use proptest::{prop_assert, proptest};

    #[derive(Debug)]
    struct Graceful;

    impl Strategy for Graceful {
        fn grace_seconds(&self, _: &dyn AnyObject, requested: Option<i64>) -> Option<i64> {
            Some(requested.unwrap_or(30))
        }
    }

    fn with_default_dependents(default_dependents: Dependents) -> PlainStrategy {
        PlainStrategy(StrategyFacts {
            default_dependents,
            ..StrategyFacts::PLAIN
        })
    }

    const NOW: Time = Time::from_unix(1000);

    fn deleted(steps: &[(i64, Option<i64>)]) -> (ConfigMap, Vec<Stage>) {
        let mut object = ConfigMap::default();
        object.metadata.generation = 1;
        let stages = steps
            .iter()
            .map(|(now, requested)| {
                begin(&Graceful, &mut object, *requested, Time::from_unix(*now))
            })
            .collect();
        (object, stages)
    }

    #[test]
    fn a_first_delete_marks_the_end_of_the_grace_period() {
        let (object, stages) = deleted(&[(1000, None)]);
        assert_eq!(stages, [Stage::Graceful(30)]);
        let meta = &object.metadata;
        assert_eq!(meta.deletion_timestamp, Some(Time::from_unix(1030)));
        assert_eq!(
            (meta.deletion_grace_period_seconds, meta.generation),
            (Some(30), 2)
        );
    }

    #[test]
    fn a_later_delete_only_shortens() {
        let (object, stages) = deleted(&[
            (1000, None),
            (1003, Some(5)),
            (1004, Some(50)),
            (1004, None),
        ]);
        let expected = [
            Stage::Graceful(30),
            Stage::Graceful(5),
            Stage::Pending,
            Stage::Pending,
        ];
        assert_eq!(stages, expected);
        assert_eq!(
            object.metadata.deletion_timestamp,
            Some(Time::from_unix(1005))
        );
        assert_eq!(object.metadata.generation, 2);
    }

    #[test]
    fn the_end_never_moves_into_the_past() {
        let (object, _) = deleted(&[(1000, None), (1020, Some(5))]);
        assert_eq!(
            object.metadata.deletion_timestamp,
            Some(Time::from_unix(1021))
        );
        let (object, stages) = deleted(&[(1000, None), (1020, Some(0)), (1021, None)]);
        assert_eq!(stages[1..], [Stage::Graceful(0), Stage::Now]);
        assert_eq!(object.metadata.deletion_timestamp, Some(NOW));
        let (object, _) = deleted(&[(1000, Some(-7))]);
        assert_eq!(object.metadata.deletion_grace_period_seconds, Some(1));
    }

    #[test]
    fn a_kind_without_grace_goes_now() {
        let mut object = ConfigMap::default();
        let stage = begin(&PlainStrategy::default(), &mut object, Some(30), NOW);
        assert_eq!(
            (stage, object.metadata.deletion_timestamp),
            (Stage::Now, None)
        );
    }

    #[test]
    fn policies_become_finalizers() {
        use PropagationPolicy::{Background, Foreground, Orphan};
        for (dependents, has, policy, expected) in [
            (Dependents::Delete, &[][..], None, None),
            (Dependents::Delete, &[], Some(Background), None),
            (Dependents::Delete, &[], Some(Orphan), Some(vec![ORPHAN])),
            (
                Dependents::Delete,
                &[],
                Some(Foreground),
                Some(vec![FOREGROUND]),
            ),
            (Dependents::Delete, &[ORPHAN], None, None),
            (
                Dependents::Delete,
                &[FOREGROUND],
                Some(Orphan),
                Some(vec![ORPHAN]),
            ),
            (
                Dependents::Delete,
                &["a/b", ORPHAN],
                Some(Background),
                Some(vec!["a/b"]),
            ),
            (Dependents::Orphan, &[], None, Some(vec![ORPHAN])),
            (Dependents::Orphan, &[FOREGROUND], None, None),
            (Dependents::Orphan, &[], Some(Background), None),
            (Dependents::Unsupported, &[], Some(Orphan), None),
            (Dependents::Unsupported, &[ORPHAN], None, Some(vec![])),
        ] {
            let meta = ObjectMeta {
                finalizers: has.iter().map(|it| Str::from(*it)).collect(),
                ..ObjectMeta::default()
            };
            let found = finalizers(&with_default_dependents(dependents), &meta, policy);
            let expected = expected.map(|it| it.into_iter().map(Str::from).collect::<Vec<_>>());
            assert_eq!(found, expected, "{dependents:?} {has:?} {policy:?}");
        }
    }

    proptest! {
        #[test]
        fn deletes_bring_the_end_nearer_or_leave_it(
            steps in proptest::collection::vec((0..40_i64, proptest::option::of(0..60_i64)), 1..8),
        ) {
            let mut object = ConfigMap::default();
            let (mut now, mut end) = (1000, i64::MAX);
            for (passed, requested) in steps {
                now += passed;
                begin(&Graceful, &mut object, requested, Time::from_unix(now));
                let marked = object.metadata.deletion_timestamp.expect("it is marked");
                // The shortest grace period is one second, even after the end has passed.
                prop_assert!(marked.unix() <= end.max(now + 1));
                end = marked.unix();
            }
        }
    }
}
