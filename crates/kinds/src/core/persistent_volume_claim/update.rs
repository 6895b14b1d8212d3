//! Validation of PersistentVolumeClaim updates.

use crate::shared::rules::{self, Errors};
use crate::shared::{go_struct, text_diff};
use crate::volume::claim_spec::BETA_CLASS;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, Str};
use std::collections::BTreeMap;

const ONLY_THESE: &str = "spec is immutable after creation except resources.requests and \
                          volumeAttributesClassName for bound claims";
const STORAGE: &str = "storage";

/// Checks a change of the spec.
pub(crate) fn check(errors: &mut Errors, new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) {
    let (mut rest, mut before) = (new.spec.clone(), old.spec.clone());
    // Binding is a separate change.
    if before.volume_name.is_empty() {
        before.volume_name.clone_from(&rest.volume_name);
    }
    if moves_class(new, old) {
        rest.storage_class_name = None;
    } else {
        annotated_class_stays(errors, new, old);
        if names_class(new, old) {
            rest.storage_class_name = None;
        }
    }
    if new.status.phase == "Bound" {
        if !rest.resources.requests.is_empty() {
            let requested = storage(&before.resources.requests);
            rest.resources.requests.insert(STORAGE.into(), requested);
        }
        let class = &before.volume_attributes_class_name;
        rest.volume_attributes_class_name.clone_from(class);
    }
    let path = FieldPath::new("spec");
    if rest != before {
        let diff = text_diff::json_diff(&go_struct::text(&before), &go_struct::text(&rest));
        let detail = format!("{ONLY_THESE}\n{diff}");
        errors.push(FieldError::forbidden(&path, detail));
    }
    let requested = |claim: &PersistentVolumeClaim| storage(&claim.spec.resources.requests);
    if requested(new) < requested(old) && requested(new) <= storage(&old.status.capacity) {
        let path = path.child("resources").child("requests").child(STORAGE);
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden(&path, detail));
    }
    let modes = (&new.spec.volume_mode, &old.spec.volume_mode);
    let at = FieldPath::new("volumeMode");
    rules::immutable_value(errors, modes.0, modes.1, &at, |mode| {
        mode.as_ref().map_or_else(BadValue::null, BadValue::json)
    });
    attributes_stay(errors, new, old, &path.child("volumeAttributesClassName"));
}

/// Returns the amount of storage, or zero if none is given.
fn storage(amounts: &BTreeMap<Str, Quantity>) -> Quantity {
    amounts.get(STORAGE).cloned().unwrap_or_default()
}

fn annotated_class(claim: &PersistentVolumeClaim) -> Option<&Str> {
    claim.metadata.annotations.get(BETA_CLASS)
}

/// Reports whether the class moves from the annotation into the spec.
fn moves_class(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> bool {
    let Some(class) = annotated_class(old) else {
        return false;
    };
    old.spec.storage_class_name.is_none()
        && new.spec.storage_class_name.as_ref() == Some(class)
        && annotated_class(new).is_none_or(|it| it == class)
}

/// Reports whether a claim without a class now names one, and the annotation does not contradict
/// it.
fn names_class(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> bool {
    let Some(class) = &new.spec.storage_class_name else {
        return false;
    };
    old.spec.storage_class_name.is_none() && annotated_class(old).is_none_or(|it| it == class)
}

fn annotated_class_stays(
    errors: &mut Errors,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
) {
    let class = |claim| annotated_class(claim).map_or("", Str::as_str);
    let path = FieldPath::new("metadata").child("annotations");
    rules::immutable_value(
        errors,
        class(new),
        class(old),
        &path.child(BETA_CLASS),
        BadValue::from,
    );
}

/// Checks that volume attributes, once set, are changed but not removed.
fn attributes_stay(
    errors: &mut Errors,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
    path: &FieldPath,
) {
    let (now, before) = (
        new.spec.volume_attributes_class_name.as_deref(),
        old.spec.volume_attributes_class_name.as_deref(),
    );
    if now == before || old.status.current_volume_attributes_class_name.is_none() {
        return;
    }
    let to = match now {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    let detail = format!(
        "update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
    );
    errors.push(FieldError::forbidden(path, detail));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound() -> PersistentVolumeClaim {
        let mut claim = PersistentVolumeClaim::default();
        claim.status.phase = "Bound".into();
        ask(&mut claim, 2000);
        claim
            .status
            .capacity
            .insert(STORAGE.into(), Quantity::from_milli(1000));
        claim
    }

    fn ask(claim: &mut PersistentVolumeClaim, milli: i64) {
        let amount = Quantity::from_milli(milli);
        claim.spec.resources.requests.insert(STORAGE.into(), amount);
    }

    fn problems(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> Vec<String> {
        let mut errors = Vec::new();
        check(&mut errors, new, old);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bound_claim_asks_for_another_size_and_for_nothing_else() {
        let old = bound();
        let mut new = old.clone();
        ask(&mut new, 3000);
        assert!(problems(&new, &old).is_empty());
        ask(&mut new, 1000);
        assert_eq!(
            problems(&new, &old),
            [
                "spec.resources.requests.storage: Forbidden: field can not be less than \
              status.capacity"
            ]
        );
        ask(&mut new, 2000);
        let other = Quantity::from_milli(1000);
        new.spec
            .resources
            .requests
            .insert("example.com/other".into(), other);
        assert!(problems(&new, &old)[0].starts_with("spec: Forbidden: spec is immutable"));
    }

    #[test]
    fn the_class_moves_out_of_the_annotation() {
        let mut old = bound();
        old.metadata
            .annotations
            .insert(BETA_CLASS.into(), "fast".into());
        let mut new = old.clone();
        new.spec.storage_class_name = Some("fast".into());
        assert!(problems(&new, &old).is_empty());
        new.metadata.annotations.clear();
        assert!(problems(&new, &old).is_empty());
        new.spec.storage_class_name = None;
        assert_eq!(
            problems(&new, &old),
            [
                "metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: \"\": \
              field is immutable"
            ]
        );
        new.spec.storage_class_name = Some("slow".into());
        assert_eq!(problems(&new, &old).len(), 2);
    }

    #[test]
    fn attributes_that_a_volume_has_got_are_not_taken_back() {
        let mut old = bound();
        old.spec.volume_attributes_class_name = Some("gold".into());
        let mut new = old.clone();
        new.spec.volume_attributes_class_name = None;
        assert!(problems(&new, &old).is_empty());
        old.status.current_volume_attributes_class_name = Some("gold".into());
        assert_eq!(
            problems(&new, &old),
            [
                "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when \
              status.currentVolumeAttributesClassName is not nil"
            ]
        );
        new.spec.volume_attributes_class_name = Some("silver".into());
        assert!(problems(&new, &old).is_empty());
    }
}
