//! `Condition`: one observation of an object's state, and functions for lists of them.
//!
//! [`set_condition`] changes the transition time only when the status changes, so a controller may
//! call it in every round. Conditions of Pods and Nodes have their own types.

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, TIME};
use crate::{Str, Time, message, schema};

/// An observation of an object's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The type, such as `Ready` or `example.com/Ready`. Unique in a list.
    pub type_: Str,
    /// `True`, `False` or `Unknown`.
    pub status: Str,
    /// The observed generation of the object; 0 if not set.
    pub observed_generation: i64,
    /// The time of the last change of `status`.
    pub last_transition_time: Option<Time>,
    /// The reason, as one word.
    pub reason: Str,
    /// The explanation for people.
    pub message: Str,
}

/// The status of a condition that holds.
pub const CONDITION_TRUE: &str = "True";
/// The status of a condition that does not hold.
pub const CONDITION_FALSE: &str = "False";
/// The status of a condition that is unknown.
pub const CONDITION_UNKNOWN: &str = "Unknown";

schema!(pub CONDITION = "Condition", "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
    JsonForm::Object, None, [
    Field::new("type", 1, FieldType::Str, F::REQUIRED),
    Field::new("status", 2, FieldType::Str, F::REQUIRED),
    Field::new("observedGeneration", 3, FieldType::I64, F::OMIT_EMPTY),
    Field::new("lastTransitionTime", 4, FieldType::Message(&TIME), F::REQUIRED),
    Field::new("reason", 5, FieldType::Str, F::REQUIRED),
    Field::new("message", 6, FieldType::Str, F::REQUIRED),
]);

message!(Condition, CONDITION, [
    0 type_, 1 status, 2 observed_generation, 3 last_transition_time, 4 reason, 5 message,
]);

/// Returns the condition of a type.
pub fn find_condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions
        .iter()
        .find(|condition| condition.type_ == *type_)
}

/// Reports whether the condition of a type exists and is `True`.
pub fn is_condition_true(conditions: &[Condition], type_: &str) -> bool {
    find_condition(conditions, type_).is_some_and(|it| it.status == CONDITION_TRUE)
}

/// Reports whether the condition of a type exists and is `False`.
pub fn is_condition_false(conditions: &[Condition], type_: &str) -> bool {
    find_condition(conditions, type_).is_some_and(|it| it.status == CONDITION_FALSE)
}

/// Adds `condition`, or updates the one of its type; returns whether anything changed.
///
/// The transition time is that of `condition` if it has one, else `now`, and is set only if the
/// status differs.
pub fn set_condition(conditions: &mut Vec<Condition>, condition: Condition, now: Time) -> bool {
    let transition = condition.last_transition_time.or(Some(now));
    let Some(existing) = conditions.iter_mut().find(|it| it.type_ == condition.type_) else {
        conditions.push(Condition {
            last_transition_time: transition,
            ..condition
        });
        return true;
    };
    let last_transition_time = if existing.status == condition.status {
        existing.last_transition_time
    } else {
        transition
    };
    let updated = Condition {
        last_transition_time,
        ..condition
    };
    let changed = *existing != updated;
    *existing = updated;
    changed
}

/// Removes the condition of a type; returns whether there was one.
pub fn remove_condition(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != *type_);
    conditions.len() != before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{DecodeContext, Wire};

    fn ready(status: &str, reason: &str) -> Condition {
        Condition {
            type_: "Ready".into(),
            status: status.into(),
            reason: reason.into(),
            ..Condition::default()
        }
    }

    #[test]
    fn the_time_changes_only_with_the_status() {
        let mut conditions = Vec::new();
        let at = |seconds| Time::from_unix(seconds);
        assert!(set_condition(
            &mut conditions,
            ready("False", "Starting"),
            at(1)
        ));
        assert!(!set_condition(
            &mut conditions,
            ready("False", "Starting"),
            at(2)
        ));
        assert_eq!(conditions[0].last_transition_time, Some(at(1)));
        assert!(set_condition(
            &mut conditions,
            ready("False", "Waiting"),
            at(3)
        ));
        assert_eq!(conditions[0].last_transition_time, Some(at(1)));
        assert!(set_condition(
            &mut conditions,
            ready("True", "Started"),
            at(4)
        ));
        assert_eq!(conditions[0].last_transition_time, Some(at(4)));
        let given = Condition {
            last_transition_time: Some(at(9)),
            ..ready("False", "Down")
        };
        assert!(set_condition(&mut conditions, given, at(10)));
        assert_eq!(conditions[0].last_transition_time, Some(at(9)));
        assert_eq!(conditions.len(), 1);
    }

    #[test]
    fn conditions_are_found_and_removed_by_type() {
        let mut conditions = vec![ready("True", "Started")];
        assert!(is_condition_true(&conditions, "Ready"));
        assert!(!is_condition_false(&conditions, "Ready"));
        assert!(!is_condition_true(&conditions, "Other"));
        assert!(find_condition(&conditions, "Other").is_none());
        assert!(!remove_condition(&mut conditions, "Other"));
        assert!(remove_condition(&mut conditions, "Ready"));
        assert!(conditions.is_empty());
    }

    #[test]
    fn it_goes_over_the_wire_and_back() {
        let condition = Condition {
            last_transition_time: Some(Time::from_unix(0)),
            ..ready("True", "R")
        };
        let json = concat!(
            r#"{"type":"Ready","status":"True","lastTransitionTime":"1970-01-01T00:00:00Z","#,
            r#""reason":"R","message":""}"#
        );
        assert_eq!(String::from_utf8(condition.to_json()).as_deref(), Ok(json));
        let cx = &mut DecodeContext::new();
        assert_eq!(
            Condition::from_json(json.as_bytes(), cx),
            Ok(condition.clone())
        );
        assert_eq!(
            Condition::from_protobuf(&condition.to_protobuf(), cx),
            Ok(condition)
        );
        let empty = Condition::default();
        let json = r#"{"type":"","status":"","lastTransitionTime":null,"reason":"","message":""}"#;
        assert_eq!(String::from_utf8(empty.to_json()).as_deref(), Ok(json));
    }
}
