//! RuntimeClasses.

use crate::pod_spec::tolerations;
use crate::shared::{self, metadata_checks, node_label_warnings, rules};
use kubist_api::node::v1::RuntimeClass;
use kubist_apimachinery::{FieldError, FieldPath, validate_labels, validate_name};
use kubist_registry::{KindStrategy, MetadataRules, MetadataUpdate, StrategyFacts};

#[derive(Debug)]
pub(crate) struct RuntimeClasses;

impl KindStrategy for RuntimeClasses {
    type Kind = RuntimeClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Lenient,
        metadata_on_update: MetadataUpdate::Whole,
        allow_create_on_update: true,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &RuntimeClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("handler");
        if rules::required(&mut errors, &new.handler, &path) {
            let rule = validate_name::dns1123_label;
            rules::text(&mut errors, &new.handler, &path, rule);
        }
        if let Some(overhead) = &new.overhead {
            // This is upstream's path.
            let path = FieldPath::new("overhead").child("limits");
            for (name, amount) in &overhead.pod_fixed {
                let path = path.key(name);
                shared::resources::check_container_name(&mut errors, name, &path);
                shared::resources::check_amount(&mut errors, name, amount, &path);
            }
        }
        if let Some(scheduling) = &new.scheduling {
            let path = FieldPath::new("scheduling");
            errors.extend(validate_labels(
                &scheduling.node_selector,
                &path.child("nodeSelector"),
            ));
            let path = path.child("tolerations");
            tolerations::check(&mut errors, &scheduling.tolerations, false, &path);
        }
        errors
    }
    fn validate_update(&self, new: &RuntimeClass, old: &RuntimeClass) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let path = FieldPath::new("handler");
        rules::immutable_value(&mut errors, &new.handler, &old.handler, &path, Into::into);
        errors
    }
    fn warnings(&self, new: &RuntimeClass, _: Option<&RuntimeClass>) -> Vec<String> {
        let path = FieldPath::new("scheduling").child("nodeSelector");
        let scheduling = new.scheduling.iter();
        let labels = scheduling.flat_map(|it| it.node_selector.keys());
        labels
            .filter_map(|label| {
                let better = node_label_warnings::deprecated(label)?;
                Some(format!("{path}: {better}"))
            })
            .collect()
    }
}
