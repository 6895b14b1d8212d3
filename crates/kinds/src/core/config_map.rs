//! ConfigMaps.

use crate::shared::rules;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_registry::{KindStrategy, validate_metadata};

#[derive(Debug)]
pub(crate) struct ConfigMaps;

/// The maximum total size of all values, in bytes. Secrets have the same limit.
pub(crate) const SIZE_MAX: usize = 1024 * 1024;
/// The error detail for a change of an immutable object.
pub(crate) const FROZEN: &str = "field is immutable when `immutable` is set";

impl KindStrategy for ConfigMaps {
    type Kind = ConfigMap;

    fn validate(&self, new: &ConfigMap) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut size = 0;
        for (key, value) in &new.data {
            let path = FieldPath::new("data").key(key);
            rules::text(&mut errors, key, &path, validate_name::config_map_key);
            if new.binary_data.contains_key(key) {
                let detail = "duplicate of key present in binaryData";
                errors.push(FieldError::invalid(&path, key, detail));
            }
            size += value.len();
        }
        for (key, value) in &new.binary_data {
            let path = FieldPath::new("binaryData").key(key);
            rules::text(&mut errors, key, &path, validate_name::config_map_key);
            size += value.len();
        }
        if size > SIZE_MAX {
            // Upstream's path is an empty name, which is reproduced here.
            errors.push(FieldError::too_long(&FieldPath::ROOT.key(""), SIZE_MAX));
        }
        errors
    }
    fn validate_update(&self, new: &ConfigMap, old: &ConfigMap) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if old.immutable == Some(true) {
            let changed = [
                ("immutable", new.immutable != Some(true)),
                ("data", new.data != old.data),
                ("binaryData", new.binary_data != old.binary_data),
            ];
            let changed = changed.into_iter().filter(|(_, changed)| *changed);
            errors.extend(
                changed.map(|(name, _)| FieldError::forbidden(&FieldPath::new(name), FROZEN)),
            );
        }
        // Upstream validates the metadata a second time.
        errors.extend(validate_metadata(
            &new.metadata,
            true,
            Self::FACTS.name_rule,
            Self::FACTS.metadata_rules,
        ));
        errors.extend(self.validate(new));
        errors
    }
}
