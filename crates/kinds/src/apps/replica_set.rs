//! ReplicaSets.

use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::scale;
use crate::shared::rules;
use kubist_api::apps::v1::ReplicaSet;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{
    ForKind, Generation, KindStrategy, RequestContext, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct ReplicaSets;

impl KindStrategy for ReplicaSets {
    type Kind = ReplicaSet;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        complete_bookmark: |object| scale::set_replicas(object, 0),
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ReplicaSetsStatus))
    }
    fn apply_defaults(&self, object: &mut ReplicaSet) {
        default_pod_template(&mut object.spec.template);
        object.spec.replicas.get_or_insert(1);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut ReplicaSet) {
        disabled_fields::drop_from(&mut new.spec.template.spec, None);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut ReplicaSet, old: &ReplicaSet) {
        let old = &old.spec.template.spec;
        disabled_fields::drop_from(&mut new.spec.template.spec, Some(old));
    }
    fn warnings(&self, new: &ReplicaSet, old: Option<&ReplicaSet>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        pod_spec::warnings::of_named(meta, before, &new.spec.template, &path)
    }
    fn validate(&self, new: &ReplicaSet) -> Vec<FieldError> {
        validate(new, None)
    }
    fn validate_update(&self, new: &ReplicaSet, old: &ReplicaSet) -> Vec<FieldError> {
        let mut errors = validate(new, Some(old));
        pod_spec::template::selector_is_immutable(
            &mut errors,
            new.spec.selector.as_deref(),
            old.spec.selector.as_deref(),
        );
        errors
    }
}

/// The `status` subresource of [`ReplicaSets`].
#[derive(Debug)]
struct ReplicaSetsStatus;

impl KindStrategy for ReplicaSetsStatus {
    type Kind = ReplicaSet;

    fn validate_update(&self, new: &ReplicaSet, _: &ReplicaSet) -> Vec<FieldError> {
        let status = &new.status;
        pod_spec::template::replica_status(&pod_spec::template::ReplicaStatus {
            replicas: status.replicas,
            fully_labeled: status.fully_labeled_replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
            terminating: status.terminating_replicas,
            observed_generation: status.observed_generation,
        })
    }
}

fn validate(new: &ReplicaSet, old: Option<&ReplicaSet>) -> Vec<FieldError> {
    let (path, spec) = (FieldPath::new("spec"), &new.spec);
    let mut errors = Vec::new();
    let replicas = spec.replicas.unwrap_or_default();
    rules::non_negative(&mut errors, replicas.into(), &path.child("replicas"));
    let seconds = spec.min_ready_seconds.into();
    rules::non_negative(&mut errors, seconds, &path.child("minReadySeconds"));
    let (selector, at) = (spec.selector.as_deref(), path.child("selector"));
    rules::workload_selector(&mut errors, selector, &at, "deployment");
    if let Some(selector) = rules::as_selector(&mut errors, selector, &at) {
        let template = Template {
            new: &spec.template,
            old: old.map(|it| &it.spec.template),
        };
        let path = path.child("template");
        pod_spec::template::check(&mut errors, template, &selector, "ReplicaSet", &path);
    }
    errors
}
