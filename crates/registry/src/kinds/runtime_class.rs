//! RuntimeClasses.

use crate::KindStrategy;
use kubist_api::node::v1::RuntimeClass;
use kubist_apimachinery::{FieldError, FieldPath, validate_labels, validate_name};

use super::{rules, toleration_rules};

#[derive(Debug)]
pub(super) struct RuntimeClasses;

impl KindStrategy for RuntimeClasses {
    type Kind = RuntimeClass;

    fn validate(&self, new: &RuntimeClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("handler");
        rules::text(
            &mut errors,
            &new.handler,
            &path,
            validate_name::dns1123_label,
        );
        if let Some(overhead) = &new.overhead {
            let path = FieldPath::new("overhead").child("podFixed");
            super::resource_rules::check_list(&mut errors, &overhead.pod_fixed, &path);
        }
        if let Some(scheduling) = &new.scheduling {
            let path = FieldPath::new("scheduling");
            errors.extend(validate_labels(
                &scheduling.node_selector,
                &path.child("nodeSelector"),
            ));
            let path = path.child("tolerations");
            toleration_rules::check(&mut errors, &scheduling.tolerations, false, &path);
        }
        errors
    }
    fn validate_update(&self, new: &RuntimeClass, old: &RuntimeClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("handler");
        rules::immutable_value(&mut errors, &new.handler, &old.handler, &path, Into::into);
        errors
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}
