//! ReplicationControllers.

use crate::{Dependents, Generation, KindStrategy, StatusKeeps};
use kubist_api::core::v1::ReplicationController;
use kubist_apimachinery::{FieldError, FieldPath, Selector};

use super::pod_defaults::{default_pod_template, labels_from_template};
use super::pod_template_rules::{self, Workload};
use super::rules;

#[derive(Debug)]
pub(super) struct ReplicationControllers;

impl KindStrategy for ReplicationControllers {
    type Kind = ReplicationController;

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
    fn validate(&self, new: &ReplicationController) -> Vec<FieldError> {
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
        match &spec.template {
            None => errors.push(FieldError::required(&path, "")),
            Some(template) => {
                let selector = Selector::from_labels(&spec.selector);
                let workload = Workload {
                    replicas,
                    ..Workload::ALWAYS
                };
                pod_template_rules::check(&mut errors, template, &selector, &workload, &path);
            }
        }
        errors
    }
    fn validate_status_update(
        &self,
        new: &ReplicationController,
        _: &ReplicationController,
    ) -> Vec<FieldError> {
        let status = &new.status;
        pod_template_rules::replica_status(&pod_template_rules::ReplicaStatus {
            replicas: status.replicas,
            fully_labeled: status.fully_labeled_replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
            observed_generation: status.observed_generation,
        })
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn default_dependents(&self) -> Dependents {
        Dependents::Orphan
    }
    fn selectable_fields(&self) -> &'static [&'static str] {
        &["status.replicas"]
    }
}
