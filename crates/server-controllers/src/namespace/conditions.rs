//! The conditions of a terminating namespace. No I/O; the time is an argument.

use super::content::Remains;
use kubist_api::core::v1::{NamespaceCondition, NamespaceStatus};
use kubist_apimachinery::{Str, Time};
use kubist_client::FailedGroup;

/// Updates the conditions; reports whether anything other than times changed.
pub(super) fn update(
    status: &mut NamespaceStatus,
    failed: &[FailedGroup],
    remains: &Remains,
    now: Time,
) -> bool {
    let groups = failed.iter().map(|it| it.group_version.to_string());
    let failures = remains
        .failures
        .iter()
        .map(|(name, error)| format!("{name}: {error}"));
    let objects = remains.objects.iter();
    let objects = objects.map(|(name, count)| format!("{name} has {count} resource instances"));
    let finalizers = remains.finalizers.iter();
    let finalizers =
        finalizers.map(|(name, count)| format!("{name} in {count} resource instances"));
    let set = |type_, list: Vec<String>, bad: ReasonAndMessage, good: ReasonAndMessage| Condition {
        type_,
        holds: !list.is_empty(),
        reason: if list.is_empty() { good.0 } else { bad.0 },
        message: match list.as_slice() {
            [] => good.1.to_owned(),
            list => format!("{}: {}", bad.1, list.join(", ")),
        },
    };
    let conditions = [
        set(
            "NamespaceDeletionDiscoveryFailure",
            groups.collect(),
            ("DiscoveryFailed", "Discovery failed for some groups"),
            (
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
        ),
        set(
            "NamespaceDeletionContentFailure",
            failures.collect(),
            (
                "ContentDeletionFailed",
                "Failed to delete all resource types",
            ),
            (
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
        ),
        set(
            "NamespaceContentRemaining",
            objects.collect(),
            ("SomeResourcesRemain", "Some resources are remaining"),
            ("ContentRemoved", "All content successfully removed"),
        ),
        set(
            "NamespaceFinalizersRemaining",
            finalizers.collect(),
            (
                "SomeFinalizersRemain",
                "Some content in the namespace has finalizers remaining",
            ),
            (
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
        ),
    ];
    let mut changed = false;
    for it in conditions {
        changed |= it.apply(status, now);
    }
    changed
}

/// A reason and a message.
type ReasonAndMessage = (&'static str, &'static str);

struct Condition<'a> {
    type_: &'a str,
    holds: bool,
    reason: &'a str,
    message: String,
}

impl Condition<'_> {
    fn apply(self, status: &mut NamespaceStatus, now: Time) -> bool {
        let holds = Str::from(if self.holds { "True" } else { "False" });
        let known = status
            .conditions
            .iter_mut()
            .find(|it| it.type_ == *self.type_);
        let transition = match &known {
            Some(known) if known.status == holds => known.last_transition_time,
            _ => Some(now),
        };
        let condition = NamespaceCondition {
            type_: self.type_.into(),
            status: holds,
            last_transition_time: transition,
            reason: self.reason.into(),
            message: self.message.into(),
        };
        match known {
            Some(known) if *known == condition => return false,
            Some(known) => *known = condition,
            None => status.conditions.push(condition),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_content_is_reported_until_it_is_gone() {
        let mut status = NamespaceStatus::default();
        let mut remains = Remains::default();
        remains.objects.insert("pods".to_owned(), 2);
        remains.finalizers.insert("example.com/x".into(), 1);
        assert!(update(&mut status, &[], &remains, Time::from_unix(1)));
        assert!(!update(&mut status, &[], &remains, Time::from_unix(2)));
        let observed: Vec<_> = status
            .conditions
            .iter()
            .filter(|it| it.status == "True")
            .collect();
        assert_eq!(
            observed.iter().map(|it| &*it.message).collect::<Vec<_>>(),
            [
                "Some resources are remaining: pods has 2 resource instances",
                "Some content in the namespace has finalizers remaining: \
                 example.com/x in 1 resource instances",
            ]
        );
        assert!(update(
            &mut status,
            &[],
            &Remains::default(),
            Time::from_unix(3)
        ));
        assert!(status.conditions.iter().all(|it| it.status == "False"));
        assert_eq!(status.conditions.len(), 4);
    }
}
