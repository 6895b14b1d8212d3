//! The defaults that upstream adds on read to stored objects that lack them.
//!
//! Upstream applies all defaults to every object that it reads. Stored objects already have nearly
//! all of them. Two exceptions exist: the status of a claim is cleared after defaulting, and a
//! Job's template labels are generated after the Job copied the existing ones.

use kubist_api::batch::v1::Job;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_apimachinery::AnyObject;
use kubist_registry::Stored;
use std::any::Any;

/// Returns the object with the missing defaults, or `None` if it lacks none.
pub(crate) fn complete(stored: &Stored) -> Option<Box<dyn AnyObject>> {
    let facts = stored.kind().facts();
    match (facts.group, facts.kind) {
        ("", "PersistentVolumeClaim") => change(stored, |claim: &mut PersistentVolumeClaim| {
            let lacks = claim.status.phase.is_empty();
            if lacks {
                claim.status.phase = "Pending".into();
            }
            lacks
        }),
        ("batch", "Job") if has_no_labels(stored) => change(stored, |job: &mut Job| {
            job.metadata.labels = job.spec.template.metadata.labels.clone();
            !job.metadata.labels.is_empty()
        }),
        _ => None,
    }
}

fn has_no_labels(stored: &Stored) -> bool {
    let labels = stored.with_labels(|_, labels| labels.is_empty());
    labels.unwrap_or(false)
}

/// Returns the changed object if `change` reports a change. An object that cannot be decoded
/// reports its error when its fields are read.
fn change<K: Any>(
    stored: &Stored,
    change: impl FnOnce(&mut K) -> bool,
) -> Option<Box<dyn AnyObject>> {
    let mut object = stored.to_object().ok()?;
    let any: &mut dyn Any = &mut *object;
    let changed = change(any.downcast_mut()?);
    changed.then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use kubist_api::find_kind;
    use kubist_apimachinery::wire::Wire as _;
    use kubist_registry::StoredKind;

    fn shown(group: &str, version: &str, kind: &str, raw: Vec<u8>) -> serde_json::Value {
        let kind = find_kind(group, version, kind).expect("it is built in");
        let kind = StoredKind::plain(kind);
        let stored = Stored::from_raw(kind, 7, Bytes::from(raw));
        let completed = complete(&stored).map(|it| Stored::from_object(kind, 7, it));
        let stored = completed.unwrap_or(stored);
        let json = stored.json().expect("it can be read");
        serde_json::from_slice(&json).expect("it is JSON")
    }

    #[test]
    fn a_claim_without_a_phase_is_pending_and_one_that_has_a_phase_keeps_it() {
        for (phase, expected) in [("", "Pending"), ("Bound", "Bound")] {
            let mut claim = PersistentVolumeClaim::default();
            claim.metadata.name = "data".into();
            claim.status.phase = phase.into();
            let json = shown("", "v1", "PersistentVolumeClaim", claim.to_protobuf());
            assert_eq!(json["status"]["phase"], expected);
            assert_eq!(json["metadata"]["resourceVersion"], "7");
        }
    }

    #[test]
    fn a_job_without_labels_has_those_of_its_template() {
        for (own, expected) in [(None, "template"), (Some("own"), "own")] {
            let mut job = Job::default();
            let template = &mut job.spec.template.metadata.labels;
            template.insert("of".into(), "template".into());
            let labels = &mut job.metadata.labels;
            labels.extend(own.map(|it| ("of".into(), it.into())));
            let json = shown("batch", "v1", "Job", job.to_protobuf());
            assert_eq!(json["metadata"]["labels"]["of"], expected);
        }
    }
}
