//! StorageClasses.

use crate::KindStrategy;
use kubist_api::storage::v1::StorageClass;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

use super::{fill, rules};

#[derive(Debug)]
pub(super) struct StorageClasses;

impl KindStrategy for StorageClasses {
    type Kind = StorageClass;

    fn apply_defaults(&self, object: &mut StorageClass) {
        fill::option(&mut object.reclaim_policy, "Delete");
        fill::option(&mut object.volume_binding_mode, "Immediate");
    }
    fn validate(&self, new: &StorageClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("provisioner");
        if rules::required(&mut errors, &new.provisioner, &path) {
            let lower = new.provisioner.to_lowercase();
            rules::text(&mut errors, &lower, &path, validate_name::qualified_name);
        }
        for key in new.parameters.keys().filter(|key| key.is_empty()) {
            let path = FieldPath::new("parameters");
            errors.push(FieldError::invalid(&path, key, "field must not be empty."));
        }
        let policies = ["Delete", "Retain"];
        if let Some(policy) = new.reclaim_policy.as_ref().filter(|it| !it.is_empty()) {
            rules::one_of(
                &mut errors,
                policy,
                &policies,
                &FieldPath::new("reclaimPolicy"),
            );
        }
        let path = FieldPath::new("volumeBindingMode");
        match &new.volume_binding_mode {
            None => errors.push(FieldError::required(&path, "")),
            Some(mode) => {
                let modes = ["Immediate", "WaitForFirstConsumer"];
                rules::one_of(&mut errors, mode, &modes, &path);
            }
        }
        errors
    }
    fn validate_update(&self, new: &StorageClass, old: &StorageClass) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let mut frozen = |name: &str, changed: bool| {
            if changed {
                let detail = format!("updates to {name} are forbidden.");
                errors.push(FieldError::forbidden(&FieldPath::new(name), detail));
            }
        };
        frozen("parameters", new.parameters != old.parameters);
        frozen("provisioner", new.provisioner != old.provisioner);
        frozen("reclaimPolicy", new.reclaim_policy != old.reclaim_policy);
        if new.volume_binding_mode != old.volume_binding_mode {
            let path = FieldPath::new("volumeBindingMode");
            let mode = new.volume_binding_mode.as_ref();
            let shown = mode.map_or_else(BadValue::null, BadValue::from);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
}
