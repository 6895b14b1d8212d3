//! ReplicationControllers.

use crate::pod_spec::defaults::{default_pod_template, labels_from_template};
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::shared::rules;
use kubist_api::core::v1::{PodTemplateSpec, ReplicationController};
use kubist_apimachinery::{FieldError, FieldPath, Selector};
use kubist_registry::{
    Dependents, ForKind, Generation, KindStrategy, NameRule, RequestContext, StatusKeeps, Strategy,
    StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct ReplicationControllers;

impl KindStrategy for ReplicationControllers {
    type Kind = ReplicationController;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::Custom(rules::whole_name),
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        default_dependents: Dependents::Orphan,
        selectable_fields: &["status.replicas"],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ReplicationControllersStatus))
    }
    fn apply_defaults(&self, object: &mut ReplicationController) {
        object.spec.replicas.get_or_insert(1);
        if let Some(template) = &mut object.spec.template {
            default_pod_template(template);
            if object.spec.selector.is_empty() {
                object.spec.selector.clone_from(&template.metadata.labels);
            }
            labels_from_template(&mut object.metadata.labels, template);
        }
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut ReplicationController) {
        drop_disabled(new, None);
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut ReplicationController,
        old: &ReplicationController,
    ) {
        drop_disabled(new, Some(old));
    }
    fn warnings(
        &self,
        new: &ReplicationController,
        old: Option<&ReplicationController>,
    ) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        // On update, upstream inspects the old template.
        let template = old.unwrap_or(new).spec.template.as_deref();
        let empty = PodTemplateSpec::default();
        pod_spec::warnings::of_named(meta, before, template.unwrap_or(&empty), &path)
    }
    fn validate(&self, new: &ReplicationController) -> Vec<FieldError> {
        validate(new, None)
    }
    fn validate_update(
        &self,
        new: &ReplicationController,
        old: &ReplicationController,
    ) -> Vec<FieldError> {
        validate(new, Some(old))
    }
}

/// The status strategy of [`ReplicationControllers`].
#[derive(Debug)]
struct ReplicationControllersStatus;

impl KindStrategy for ReplicationControllersStatus {
    type Kind = ReplicationController;

    fn validate_update(
        &self,
        new: &ReplicationController,
        _: &ReplicationController,
    ) -> Vec<FieldError> {
        let status = &new.status;
        pod_spec::template::replica_status(&pod_spec::template::ReplicaStatus {
            replicas: status.replicas,
            fully_labeled: status.fully_labeled_replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
            terminating: None,
            observed_generation: status.observed_generation,
        })
    }
}

fn template(object: &ReplicationController) -> Option<&PodTemplateSpec> {
    object.spec.template.as_deref()
}

fn drop_disabled(new: &mut ReplicationController, old: Option<&ReplicationController>) {
    if let Some(new) = &mut new.spec.template {
        let old = old.and_then(template).map(|it| &it.spec);
        disabled_fields::drop_from(&mut new.spec, old);
    }
}

fn validate(new: &ReplicationController, old: Option<&ReplicationController>) -> Vec<FieldError> {
    let (path, spec) = (FieldPath::new("spec"), &new.spec);
    let mut errors = Vec::new();
    let seconds = spec.min_ready_seconds.into();
    rules::non_negative(&mut errors, seconds, &path.child("minReadySeconds"));
    if spec.selector.is_empty() {
        errors.push(FieldError::required(&path.child("selector"), ""));
    }
    let replicas = spec.replicas.unwrap_or_default();
    rules::non_negative(&mut errors, replicas.into(), &path.child("replicas"));
    let path = path.child("template");
    let Some(new) = template(new) else {
        errors.push(FieldError::required(&path, ""));
        return errors;
    };
    let selector = Selector::from_labels(&spec.selector);
    let template = Template {
        new,
        old: old.and_then(template),
    };
    let kind = "ReplicationController";
    pod_spec::template::check(&mut errors, template, &selector, kind, &path);
    errors
}
