//! PodTemplates.

use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::template::{Template, check_template};
use crate::pod_spec::{self, disabled_fields};
use kubist_api::core::v1::PodTemplate;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, RequestContext, StrategyFacts};

#[derive(Debug)]
pub(crate) struct PodTemplates;

impl KindStrategy for PodTemplates {
    type Kind = PodTemplate;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut PodTemplate) {
        default_pod_template(&mut object.template);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut PodTemplate) {
        disabled_fields::drop_from(&mut new.template.spec, None);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut PodTemplate, old: &PodTemplate) {
        disabled_fields::drop_from(&mut new.template.spec, Some(&old.template.spec));
    }
    fn warnings(&self, new: &PodTemplate, old: Option<&PodTemplate>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        pod_spec::warnings::of_changed(meta, before, &new.template, &FieldPath::new("template"))
    }
    fn validate(&self, new: &PodTemplate) -> Vec<FieldError> {
        validate(new, None)
    }
    fn validate_update(&self, new: &PodTemplate, old: &PodTemplate) -> Vec<FieldError> {
        validate(new, Some(old))
    }
}

fn validate(new: &PodTemplate, old: Option<&PodTemplate>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let template = Template {
        new: &new.template,
        old: old.map(|it| &it.template),
    };
    check_template(&mut errors, template, &FieldPath::new("template"));
    errors
}
