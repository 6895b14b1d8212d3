//! What the status of a Pod says about its life, by upstream's rules. No I/O.

use crate::clock::until;
use kubist_api::core::v1::{Pod, PodCondition};
use kubist_apimachinery::wire::ScalarField;
use kubist_apimachinery::{Object as _, Time};
use kubist_cache::{Encoded, FieldLookup as _};

/// Reports whether a Pod has finished, successfully or not.
pub(crate) fn is_over(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Succeeded" | "Failed")
}

/// Does the same without decoding.
pub(crate) fn is_finished(pod: &Encoded<Pod>) -> bool {
    static PHASE: std::sync::LazyLock<Option<ScalarField>> = std::sync::LazyLock::new(|| {
        ScalarField::new(Encoded::<Pod>::schema(), "status.phase").ok()
    });
    PHASE
        .as_ref()
        .is_some_and(|path| matches!(&*pod.field(path), "Succeeded" | "Failed"))
}

/// Reports whether a Pod runs or will, and is not being deleted.
pub(crate) fn is_active(pod: &Pod) -> bool {
    !is_over(pod) && !pod.is_terminating()
}

/// Reports whether a Pod is being deleted and has not finished.
pub(crate) fn is_ending(pod: &Pod) -> bool {
    !is_over(pod) && pod.is_terminating()
}

/// Returns a condition of a Pod.
pub(crate) fn condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    let mut conditions = pod.status.conditions.iter();
    conditions.find(|it| it.type_ == *type_)
}

/// Returns since when the Pod is ready, if it is.
pub(crate) fn ready_since(pod: &Pod) -> Option<Time> {
    let ready = condition(pod, "Ready").filter(|it| it.status == "True")?;
    Some(ready.last_transition_time.unwrap_or_default())
}

/// Reports whether the Pod has been ready for so many seconds.
pub(crate) fn is_available(pod: &Pod, seconds: i32, now: Time) -> bool {
    ready_since(pod).is_some_and(|since| seconds <= 0 || until(since, seconds, now).is_none())
}

/// Counts in the numbers of API objects.
pub(crate) fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_read_without_decoding() {
        for (phase, finished) in [("Running", false), ("Succeeded", true), ("Failed", true)] {
            let mut pod = Pod::default();
            pod.status.phase = phase.into();
            assert_eq!(is_finished(&Encoded::new(&pod).expect("a Pod")), finished);
            assert_eq!(is_over(&pod), finished);
        }
    }

    #[test]
    fn a_pod_is_available_after_it_was_ready_for_long_enough() {
        let mut pod = Pod::default();
        let now = Time::from_unix(100);
        assert!(!is_available(&pod, 0, now));
        pod.status.conditions.push(PodCondition {
            type_: "Ready".into(),
            status: "True".into(),
            last_transition_time: Some(Time::from_unix(95)),
            ..PodCondition::default()
        });
        let seen = [0, 5, 6].map(|seconds| is_available(&pod, seconds, now));
        assert_eq!(seen, [true, true, false]);
    }
}
