//! VolumeAttributesClasses.

use crate::shared::metadata_checks;
use crate::storage::storage_class::{check_parameters, check_provisioner};
use kubist_api::storage::v1::VolumeAttributesClass;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{KindStrategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct VolumeAttributesClasses;

impl KindStrategy for VolumeAttributesClasses {
    type Kind = VolumeAttributesClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &VolumeAttributesClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_provisioner(&mut errors, &new.driver_name, "driverName");
        check_parameters(&mut errors, &new.parameters, false);
        errors
    }
    fn validate_update(
        &self,
        new: &VolumeAttributesClass,
        old: &VolumeAttributesClass,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (name, changed) in [
            ("driverName", new.driver_name != old.driver_name),
            ("parameters", new.parameters != old.parameters),
        ] {
            if changed {
                let detail = format!("updates to {name} are forbidden.");
                errors.push(FieldError::forbidden(&FieldPath::new(name), detail));
            }
        }
        errors.extend(metadata_checks::whole(self, new));
        errors.extend(self.validate(new));
        errors
    }
}
