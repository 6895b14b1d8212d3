//! Validation of workload templates, in addition to the rules for Pods.

use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use crate::{pod_spec, shared};
use kubist_api::core::v1::PodTemplateSpec;
use kubist_apimachinery::{FieldError, FieldPath, LabelSelector, Selector, validate_labels};

/// Checks the template of a workload that selects its Pods with `selector` and runs them
/// permanently. `kind` is upstream's name for the workload.
pub(crate) fn check(
    errors: &mut Errors,
    template: Template<'_>,
    selector: &Selector,
    kind: &str,
    path: &FieldPath,
) {
    rules::template_matches(errors, selector, template.new, path);
    check_template(errors, template, path);
    check_runs_permanently(errors, template.new, kind, path);
}

/// A template, and the stored one on update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    pub(crate) new: &'a PodTemplateSpec,
    pub(crate) old: Option<&'a PodTemplateSpec>,
}

/// Checks that Pods of permanent workloads are always restarted and have no deadline.
pub(crate) fn check_runs_permanently(
    errors: &mut Errors,
    template: &PodTemplateSpec,
    kind: &str,
    path: &FieldPath,
) {
    let path = path.child("spec");
    let policy = &template.spec.restart_policy;
    rules::one_of(errors, policy, &["Always"], &path.child("restartPolicy"));
    if template.spec.active_deadline_seconds.is_some() {
        let path = path.child("activeDeadlineSeconds");
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(FieldError::forbidden(&path, detail));
    }
}

/// Checks a template by itself.
pub(crate) fn check_template(errors: &mut Errors, template: Template<'_>, path: &FieldPath) {
    let Template { new, old } = template;
    let subject = PodSubject::of_template(new, old);
    check_metadata(errors, new, &subject, path);
    let path = path.child("spec");
    pod_spec::validation::check(errors, &new.spec, &subject, &path);
    pod_spec::profiles::annotations_agree(errors, &new.spec, &new.metadata, &path);
    if !new.spec.ephemeral_containers.is_empty() {
        errors.push(FieldError::forbidden(
            &path.child("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        ));
    }
}

/// Checks labels and annotations. Upstream's paths omit the metadata.
pub(crate) fn check_metadata(
    errors: &mut Errors,
    template: &PodTemplateSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let metadata = &template.metadata;
    errors.extend(validate_labels(&metadata.labels, &path.child("labels")));
    let path = path.child("annotations");
    errors.extend(shared::annotations::check(&metadata.annotations, &path));
    pod_spec::annotations::check(errors, &template.spec, subject, &path);
}

/// Checks that the selector of a workload is unchanged.
pub(crate) fn selector_is_immutable(
    errors: &mut Errors,
    new: Option<&LabelSelector>,
    old: Option<&LabelSelector>,
) {
    let path = FieldPath::new("spec").child("selector");
    rules::immutable_value(errors, new, old, &path, |selector| {
        selector.map_or_else(kubist_apimachinery::BadValue::null, |it| rules::shown(it))
    });
}

/// The replica counters of ReplicaSets and ReplicationControllers.
pub(crate) struct ReplicaStatus {
    pub(crate) replicas: i32,
    pub(crate) fully_labeled: i32,
    pub(crate) ready: i32,
    pub(crate) available: i32,
    pub(crate) terminating: Option<i32>,
    pub(crate) observed_generation: i64,
}

/// Checks that counters are not negative and do not exceed the number of replicas.
pub(crate) fn replica_status(status: &ReplicaStatus) -> Vec<FieldError> {
    let path = FieldPath::new("status");
    let mut errors = Vec::new();
    for (name, value) in [
        ("replicas", status.replicas.into()),
        ("fullyLabeledReplicas", status.fully_labeled.into()),
        ("readyReplicas", status.ready.into()),
        ("availableReplicas", status.available.into()),
        ("observedGeneration", status.observed_generation),
    ] {
        rules::non_negative(&mut errors, value, &path.child(name));
    }
    let at = path.child("terminatingReplicas");
    rules::optional_non_negative(&mut errors, status.terminating, &at);
    for (name, value) in [
        ("fullyLabeledReplicas", status.fully_labeled),
        ("readyReplicas", status.ready),
        ("availableReplicas", status.available),
    ] {
        if value > status.replicas {
            let detail = "cannot be greater than status.replicas";
            errors.push(FieldError::invalid(&path.child(name), value, detail));
        }
    }
    if status.available > status.ready {
        let detail = "cannot be greater than readyReplicas";
        let path = path.child("availableReplicas");
        errors.push(FieldError::invalid(&path, status.available, detail));
    }
    errors
}
