//! The desired number of replicas of each ReplicaSet of a Deployment. Arithmetic only.
//!
//! During a rolling update there are never more than `replicas + maxSurge` Pods, and never fewer
//! than `replicas - maxUnavailable` available ones. Follows upstream's deployment controller.

use super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS, number, put};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_apimachinery::{IntOrString, Rounding};

/// Returns `spec.replicas`, which defaults to 1.
pub(super) fn wanted(deployment: &Deployment) -> i32 {
    deployment.spec.replicas.unwrap_or(1).max(0)
}

/// Returns `spec.replicas` of a ReplicaSet, which defaults to 1.
pub(super) fn size(set: &ReplicaSet) -> i32 {
    set.spec.replicas.unwrap_or(1).max(0)
}

/// Returns the sum of the sizes.
pub(super) fn total<'a>(sets: impl IntoIterator<Item = &'a ReplicaSet>) -> i32 {
    sets.into_iter().map(size).fold(0, i32::saturating_add)
}

/// Returns the number of Pods that may exist now: the desired ones or, if a set has yet to delete
/// some, those that it still counts. Upstream looks at the sizes alone, and so may exceed
/// `maxSurge` while a ReplicaSet shrinks.
pub(super) fn present<'a>(sets: impl IntoIterator<Item = &'a ReplicaSet>) -> i32 {
    let of_one = |set: &ReplicaSet| size(set).max(set.status.replicas);
    sets.into_iter().map(of_one).fold(0, i32::saturating_add)
}

/// Reports whether the Deployment replaces Pods step by step.
pub(super) fn is_rolling(deployment: &Deployment) -> bool {
    deployment.spec.strategy.type_ != "Recreate"
}

/// Returns `(maxSurge, maxUnavailable)` in Pods. Surge is rounded up, unavailability down. If both
/// are 0, one Pod may be unavailable, because no progress would be possible otherwise.
pub(super) fn limits(deployment: &Deployment) -> (i32, i32) {
    if !is_rolling(deployment) {
        return (0, 0);
    }
    let rolling = deployment.spec.strategy.rolling_update.as_deref();
    let quarter = IntOrString::from("25%");
    let resolve = |value: Option<&IntOrString>, rounding| {
        let value = value.unwrap_or(&quarter);
        let scaled = value.scaled(wanted(deployment).into(), rounding);
        i32::try_from(scaled.unwrap_or(0).max(0)).unwrap_or(i32::MAX)
    };
    let surge = resolve(rolling.and_then(|it| it.max_surge.as_ref()), Rounding::Up);
    let max_unavailable = rolling.and_then(|it| it.max_unavailable.as_ref());
    let unavailable = resolve(max_unavailable, Rounding::Down);
    match (surge, unavailable) {
        (0, 0) => (0, 1),
        (surge, unavailable) => (surge, unavailable.min(wanted(deployment))),
    }
}

/// Returns the maximum number of desired Pods.
pub(super) fn most(deployment: &Deployment) -> i32 {
    wanted(deployment).saturating_add(limits(deployment).0)
}

/// Returns the size of the newest ReplicaSet, which has `current` replicas, while all sets have
/// `present` Pods.
pub(super) fn of_new(deployment: &Deployment, current: i32, present: i32) -> i32 {
    let wanted = wanted(deployment);
    if current >= wanted || !is_rolling(deployment) {
        return wanted;
    }
    let room = most(deployment).saturating_sub(present).max(0);
    current + room.min(wanted - current)
}

/// Returns the sizes of the old ReplicaSets, oldest first, for the next step of a rolling update.
pub(super) fn of_old(deployment: &Deployment, old: &[&ReplicaSet], new: &ReplicaSet) -> Vec<i32> {
    let mut sizes: Vec<i32> = old.iter().map(|it| size(it)).collect();
    let least = wanted(deployment) - limits(deployment).1;
    let all = total(old.iter().copied()) + size(new);
    let new_unavailable = (size(new) - new.status.available_replicas).max(0);
    let mut spare = all - least - new_unavailable;
    // Unavailable replicas are removed first, which costs no availability.
    for (size, set) in sizes.iter_mut().zip(old) {
        let broken = (*size - set.status.available_replicas).max(0);
        let removed = broken.min(spare.max(0));
        *size -= removed;
        spare -= removed;
    }
    let available = old
        .iter()
        .map(|it| it.status.available_replicas)
        .sum::<i32>()
        + new.status.available_replicas;
    let mut spare = spare.min(available - least);
    for size in &mut sizes {
        let removed = (*size).min(spare.max(0));
        *size -= removed;
        spare -= removed;
    }
    sizes
}

/// Returns the sizes after `spec.replicas` changed during a rolling update: each set gets its
/// share. `sets` are those with replicas; the rounding remainder goes to the largest.
pub(super) fn proportional(deployment: &Deployment, sets: &[&ReplicaSet]) -> Vec<i32> {
    let allowed = if wanted(deployment) > 0 {
        most(deployment)
    } else {
        0
    };
    let change = allowed - total(sets.iter().copied());
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|&index| {
        let created = sets[index]
            .metadata
            .creation_timestamp
            .map_or(0, kubist_apimachinery::Time::unix);
        // When growing, the newer of two equal sets comes first; when shrinking, the older.
        (
            -size(sets[index]),
            if change > 0 { -created } else { created },
        )
    });
    let mut sizes: Vec<i32> = sets.iter().map(|it| size(it)).collect();
    let mut left = change;
    for &index in &order {
        let share = share(deployment, sets[index], allowed);
        let share = if change > 0 {
            share.clamp(0, left.max(0))
        } else {
            share.clamp(left.min(0), 0)
        };
        sizes[index] += share;
        left -= share;
    }
    if let Some(&largest) = order.first() {
        sizes[largest] = (sizes[largest] + left).max(0);
    }
    sizes
}

/// Returns by how much one set should change for all sets together to have `allowed` replicas.
fn share(deployment: &Deployment, set: &ReplicaSet, allowed: i32) -> i32 {
    if allowed == 0 {
        return -size(set);
    }
    let before = number(&set.metadata.annotations, MAX_REPLICAS)
        .unwrap_or(deployment.status.replicas)
        .max(1);
    let (part, before) = (i64::from(size(set)) * i64::from(allowed), i64::from(before));
    let rounded = (2 * part + before) / (2 * before);
    i32::try_from(rounded).unwrap_or(i32::MAX) - size(set)
}

/// Reports whether the Deployment was scaled since this ReplicaSet was.
pub(super) fn was_scaled(deployment: &Deployment, set: &ReplicaSet) -> bool {
    number(&set.metadata.annotations, DESIRED_REPLICAS)
        .is_some_and(|desired: i32| desired != wanted(deployment))
}

/// Records the desired sizes of the Deployment on a ReplicaSet and reports whether they changed.
pub(super) fn annotate(deployment: &Deployment, set: &mut ReplicaSet) -> bool {
    let desired = wanted(deployment).to_string().into();
    let most = most(deployment).to_string().into();
    put(set, DESIRED_REPLICAS, desired) | put(set, MAX_REPLICAS, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::RollingUpdateDeployment;

    fn deployment(replicas: i32, surge: &str, unavailable: &str) -> Deployment {
        let mut deployment = Deployment::default();
        deployment.spec.replicas = Some(replicas);
        deployment.spec.strategy.type_ = "RollingUpdate".into();
        let value = |text: &str| {
            text.parse()
                .map_or_else(|_| text.into(), |it: i32| it.into())
        };
        deployment.spec.strategy.rolling_update = Some(Box::new(RollingUpdateDeployment {
            max_surge: Some(value(surge)),
            max_unavailable: Some(value(unavailable)),
        }));
        deployment
    }

    fn set(size: i32, available: i32) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.spec.replicas = Some(size);
        set.status.available_replicas = available;
        set
    }

    #[test]
    fn limits_round_in_favour_of_availability() {
        assert_eq!(limits(&deployment(10, "25%", "25%")), (3, 2));
        assert_eq!(limits(&deployment(1, "25%", "25%")), (1, 0));
        assert_eq!(limits(&deployment(3, "0", "10%")), (0, 1));
        assert_eq!(limits(&deployment(3, "1", "7")), (1, 3));
        let mut recreate = deployment(3, "1", "1");
        recreate.spec.strategy.type_ = "Recreate".into();
        assert_eq!(limits(&recreate), (0, 0));
        assert_eq!(limits(&Deployment::default()), (1, 0));
    }

    #[test]
    fn the_new_set_grows_into_the_room_that_surge_leaves() {
        let it = deployment(10, "3", "2");
        assert_eq!(of_new(&it, 0, 10), 3);
        assert_eq!(of_new(&it, 3, 13), 3);
        assert_eq!(of_new(&it, 3, 8), 8);
        assert_eq!(of_new(&it, 9, 9), 10);
        assert_eq!(of_new(&it, 12, 12), 10);
    }

    #[test]
    fn pods_that_a_set_has_yet_to_remove_leave_no_room() {
        let it = deployment(4, "1", "1");
        let (mut old, mut new) = (set(3, 3), set(1, 1));
        (old.status.replicas, new.status.replicas) = (4, 1);
        assert_eq!(of_new(&it, 1, present([&old, &new])), 1);
        old.status.replicas = 3;
        assert_eq!(of_new(&it, 1, present([&old, &new])), 2);
        new.spec.replicas = Some(2);
        assert_eq!(
            present([&old, &new]),
            5,
            "those that are still to be made count"
        );
    }

    #[test]
    fn old_sets_shrink_as_far_as_availability_allows_and_lose_broken_replicas_first() {
        let it = deployment(10, "3", "2");
        assert_eq!(of_old(&it, &[&set(10, 10)], &set(3, 0)), [8]);
        assert_eq!(
            of_old(&it, &[&set(8, 8)], &set(5, 0)),
            [8],
            "at the limit already"
        );
        assert_eq!(of_old(&it, &[&set(8, 8)], &set(5, 2)), [6]);
        assert_eq!(of_old(&it, &[&set(5, 5), &set(5, 2)], &set(3, 3)), [3, 2]);
        assert_eq!(of_old(&it, &[&set(3, 3)], &set(10, 10)), [0]);
    }

    #[test]
    fn a_rolling_update_ends_and_keeps_its_promises() {
        for (replicas, surge, unavailable) in [
            (10, "25%", "25%"),
            (1, "1", "0"),
            (3, "0", "1"),
            (5, "100%", "0"),
            (7, "0", "100%"),
        ] {
            let it = deployment(replicas, surge, unavailable);
            let (mut old, mut new) = (set(replicas, replicas), set(0, 0));
            let mut steps = 0;
            while size(&old) > 0 || size(&new) < replicas {
                let grown = of_new(&it, size(&new), size(&new) + size(&old));
                if grown == size(&new) {
                    old.spec.replicas = Some(of_old(&it, &[&old], &new)[0]);
                    old.status.available_replicas = old.status.available_replicas.min(size(&old));
                } else {
                    new.spec.replicas = Some(grown);
                }
                assert!(size(&old) + size(&new) <= most(&it));
                let available = old.status.available_replicas + new.status.available_replicas;
                assert!(available >= replicas - limits(&it).1);
                // One Pod at a time becomes available.
                let ready = new.status.available_replicas;
                new.status.available_replicas = (ready + 1).min(size(&new));
                steps += 1;
                assert!(steps < 100, "it moves");
            }
        }
    }

    #[test]
    fn scaling_in_the_middle_shares_among_the_sets() {
        let mut it = deployment(10, "2", "2");
        let annotated = |size: i32, most: &str| {
            let mut set = set(size, size);
            let key = MAX_REPLICAS.into();
            set.metadata.annotations.insert(key, most.into());
            set
        };
        let (old, new) = (annotated(8, "12"), annotated(4, "12"));
        it.spec.replicas = Some(20);
        assert_eq!(proportional(&it, &[&old, &new]), [15, 7]);
        it.spec.replicas = Some(5);
        assert_eq!(proportional(&it, &[&old, &new]), [5, 2]);
        it.spec.replicas = Some(0);
        assert_eq!(proportional(&it, &[&old, &new]), [0, 0]);
    }
}
