//! The conditions of a migration.

use kubist_api::storagemigration::v1beta1::StorageVersionMigration;
use kubist_apimachinery::{Condition, Time};

pub(super) const RUNNING: &str = "Running";
pub(super) const SUCCEEDED: &str = "Succeeded";
pub(super) const FAILED: &str = "Failed";
const TRUE: &str = "True";
const FALSE: &str = "False";

/// Reports whether a condition is true.
pub(super) fn holds(migration: &StorageVersionMigration, condition: &str) -> bool {
    let mut all = migration.status.conditions.iter();
    all.any(|it| it.type_ == *condition && it.status == *TRUE)
}

/// Reports whether nothing more will be done.
pub(super) fn is_over(migration: &StorageVersionMigration) -> bool {
    holds(migration, SUCCEEDED) || holds(migration, FAILED)
}

/// Adds a condition that holds, unless there is one of its type.
pub(super) fn set(
    migration: &mut StorageVersionMigration,
    now: Time,
    condition: &str,
    reason: &str,
    message: &str,
) {
    let conditions = &mut migration.status.conditions;
    if conditions.iter().any(|it| it.type_ == *condition) {
        return;
    }
    conditions.push(Condition {
        type_: condition.into(),
        status: TRUE.into(),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
        ..Condition::default()
    });
}

/// Says more of a migration that runs. Returns whether that is new: numbers in it, such as those of
/// attempts or ports, are not.
pub(super) fn tell(migration: &mut StorageVersionMigration, message: &str) -> bool {
    let words = |text: &str| text.replace(|it: char| it.is_ascii_digit(), "");
    let conditions = &mut migration.status.conditions;
    let running = conditions.iter_mut().find(|it| it.type_ == *RUNNING);
    let Some(running) = running.filter(|it| words(&it.message) != words(message)) else {
        return false;
    };
    running.message = message.into();
    true
}

/// Says that it no longer runs.
pub(super) fn end(migration: &mut StorageVersionMigration, now: Time) {
    let generation = migration.metadata.generation;
    let conditions = &mut migration.status.conditions;
    let Some(running) = conditions.iter_mut().find(|it| it.type_ == *RUNNING) else {
        return;
    };
    *running = Condition {
        type_: RUNNING.into(),
        status: FALSE.into(),
        observed_generation: generation,
        last_transition_time: Some(now),
        reason: "MigrationCompleted".into(),
        message: "Migration completed".into(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_set_once_and_running_ends() {
        let mut migration = StorageVersionMigration::default();
        let now = Time::from_unix(1);
        set(&mut migration, now, RUNNING, "MigrationRunning", "");
        set(&mut migration, now, RUNNING, "Other", "");
        assert_eq!(migration.status.conditions.len(), 1);
        assert!(tell(&mut migration, "it failed at 12"));
        assert!(!tell(&mut migration, "it failed at 3"));
        assert!(tell(&mut migration, "it ended at 3"));
        assert!(holds(&migration, RUNNING) && !is_over(&migration));
        set(
            &mut migration,
            now,
            FAILED,
            "StorageVersionMigrationFailed",
            "why",
        );
        end(&mut migration, Time::from_unix(2));
        assert!(!holds(&migration, RUNNING) && is_over(&migration));
    }
}
