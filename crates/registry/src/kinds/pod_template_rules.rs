//! What the template of a workload must satisfy, beyond what Pods must.

use kubist_api::core::v1::PodTemplateSpec;
use kubist_apimachinery::{FieldError, FieldPath, LabelSelector, Selector, validate_labels};

use super::pod_spec_rules;
use super::rules::{self, Errors};

/// What a kind of workload allows.
pub(super) struct Workload {
    /// How many Pods are wanted.
    pub(super) replicas: i32,
    /// Whether Pods must always be restarted.
    pub(super) checks_restart_policy: bool,
}

impl Workload {
    /// Pods that are always restarted, any number of them.
    pub(super) const ALWAYS: Self = Self {
        replicas: 1,
        checks_restart_policy: true,
    };
}

/// Checks the template of a workload that selects its Pods with `selector`.
pub(super) fn check(
    errors: &mut Errors,
    template: &PodTemplateSpec,
    selector: &Selector,
    workload: &Workload,
    path: &FieldPath,
) {
    rules::template_matches(errors, selector, template, path);
    check_template(errors, template, path);
    if workload.replicas > 1 {
        single_writer_disks(errors, template, path);
    }
    if !workload.checks_restart_policy {
        return;
    }
    let policy = &template.spec.restart_policy;
    let path = path.child("spec");
    rules::one_of(errors, policy, &["Always"], &path.child("restartPolicy"));
    if template.spec.active_deadline_seconds.is_some() {
        let path = path.child("activeDeadlineSeconds");
        errors.push(FieldError::forbidden(
            &path,
            "activeDeadlineSeconds in ReplicaSet is not Supported",
        ));
    }
}

/// Checks a template by itself.
pub(super) fn check_template(errors: &mut Errors, template: &PodTemplateSpec, path: &FieldPath) {
    // Upstream's paths leave the metadata out.
    errors.extend(validate_labels(
        &template.metadata.labels,
        &path.child("labels"),
    ));
    errors.extend(super::annotation_rules::check(
        &template.metadata.annotations,
        &path.child("annotations"),
    ));
    let path = path.child("spec");
    pod_spec_rules::check(errors, &template.spec, &path);
    if !template.spec.ephemeral_containers.is_empty() {
        errors.push(FieldError::forbidden(
            &path.child("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        ));
    }
}

/// Disks that only one Pod can write are only for one replica, unless they are only read.
fn single_writer_disks(errors: &mut Errors, template: &PodTemplateSpec, path: &FieldPath) {
    const DETAIL: &str = "can only be mounted in read-only mode if replicas > 1";
    let path = path.child("spec").child("volumes");
    for (index, volume) in template.spec.volumes.iter().enumerate() {
        let path = path.index(index);
        if let Some(disk) = &volume.gce_persistent_disk
            && !disk.read_only
        {
            let path = path.child("gcePersistentDisk").child("readOnly");
            errors.push(FieldError::invalid(&path, false, DETAIL));
        }
        if volume.aws_elastic_block_store.is_some() {
            let path = path.child("awsElasticBlockStore");
            errors.push(FieldError::forbidden(
                &path,
                "ReplicationController with replicas > 1 cannot use it",
            ));
        }
    }
}

/// The selector of a workload must stay.
pub(super) fn selector_is_immutable(
    errors: &mut Errors,
    new: Option<&LabelSelector>,
    old: Option<&LabelSelector>,
) {
    let path = FieldPath::new("spec").child("selector");
    rules::immutable_value(errors, new, old, &path, |selector| {
        selector.map_or_else(kubist_apimachinery::BadValue::null, |it| rules::shown(it))
    });
}

/// The counters of ReplicaSets and ReplicationControllers.
pub(super) struct ReplicaStatus {
    pub(super) replicas: i32,
    pub(super) fully_labeled: i32,
    pub(super) ready: i32,
    pub(super) available: i32,
    pub(super) observed_generation: i64,
}

/// Counters are not negative, and none is above the number of replicas.
pub(super) fn replica_status(status: &ReplicaStatus) -> Vec<FieldError> {
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
