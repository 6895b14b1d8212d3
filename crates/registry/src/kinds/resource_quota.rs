//! ResourceQuotas.

use crate::{KindStrategy, StatusKeeps};
use kubist_api::core::v1::ResourceQuota;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};

use super::{resource_rules, rules};

#[derive(Debug)]
pub(super) struct ResourceQuotas;

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

impl KindStrategy for ResourceQuotas {
    type Kind = ResourceQuota;

    fn validate(&self, new: &ResourceQuota) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        resource_rules::check_list(&mut errors, &new.spec.hard, &path.child("hard"));
        if new
            .spec
            .scopes
            .iter()
            .any(|scope| !SCOPES.contains(&scope.as_str()))
        {
            let shown = BadValue::json(&new.spec.scopes);
            errors.push(FieldError::invalid(
                &path.child("scopes"),
                shown,
                "unsupported scope",
            ));
        }
        errors
    }
    fn validate_update(&self, new: &ResourceQuota, old: &ResourceQuota) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec").child("scopes");
        let scopes = (&new.spec.scopes, &old.spec.scopes);
        rules::immutable_value(&mut errors, scopes.0, scopes.1, &path, |it| {
            BadValue::json(it)
        });
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}
