//! PodTemplates.

use crate::{Generation, KindStrategy};
use kubist_api::core::v1::PodTemplate;
use kubist_apimachinery::{FieldError, FieldPath};

use super::pod_defaults::default_pod_template;
use super::pod_template_rules::check_template;

#[derive(Debug)]
pub(super) struct PodTemplates;

impl KindStrategy for PodTemplates {
    type Kind = PodTemplate;

    fn apply_defaults(&self, object: &mut PodTemplate) {
        default_pod_template(&mut object.template);
    }
    fn validate(&self, new: &PodTemplate) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_template(&mut errors, &new.template, &FieldPath::new("template"));
        errors
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}
