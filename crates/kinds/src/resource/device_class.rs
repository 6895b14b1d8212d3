//! DeviceClasses.

use crate::resource;
use crate::shared::{self, metadata_checks, rules};
use kubist_api::resource::v1::DeviceClass;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, MetadataUpdate, NameRule, StrategyFacts};

#[derive(Debug)]
pub(crate) struct DeviceClasses;

impl KindStrategy for DeviceClasses {
    type Kind = DeviceClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::Custom(rules::whole_name),
        metadata_on_update: MetadataUpdate::Whole,
        generation: Generation::Spec,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &DeviceClass) -> Vec<FieldError> {
        let (spec, path) = (&new.spec, FieldPath::new("spec"));
        let mut errors = Vec::new();
        resource::devices::check_selectors(&mut errors, &spec.selectors, &path.child("selectors"));
        let configs = spec.config.iter().map(|it| it.opaque.as_deref());
        resource::devices::check_configs(&mut errors, configs, &path.child("config"));
        if let Some(name) = spec.extended_resource_name.as_deref()
            && !shared::resources::is_extended(name)
        {
            let path = path.child("extendedResourceName");
            let detail = "must be a valid extended resource name";
            errors.push(FieldError::invalid(&path, name, detail));
        }
        errors
    }
    fn validate_update(&self, new: &DeviceClass, old: &DeviceClass) -> Vec<FieldError> {
        let mut errors = metadata_checks::change(self, new, old);
        errors.extend(self.validate(new));
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_of_the_metadata_is_validated_before_the_spec() {
        let mut old = DeviceClass::default();
        old.metadata.name = "c".into();
        let mut new = old.clone();
        new.spec.selectors.push(Default::default());
        new.metadata.finalizers.push("plain".into());
        let errors = DeviceClasses.validate_update(&new, &old);
        let fields: Vec<&str> = errors.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(fields, ["metadata.finalizers[0]", "spec.selectors[0].cel"]);
    }

    #[test]
    fn a_selector_selects_by_something() {
        let mut class = DeviceClass::default();
        class.spec.selectors.push(Default::default());
        let errors = DeviceClasses.validate(&class);
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["spec.selectors[0].cel: Required value"]);
    }
}
