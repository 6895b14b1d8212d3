//! StatefulSets.

use crate::{Generation, KindStrategy, StatusKeeps};
use kubist_api::apps::v1::{StatefulSet, StatefulSetSpec};
use kubist_api::core::v1::{PersistentVolumeClaimVolumeSource, PodTemplateSpec, Volume};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};
use serde::Serialize;

use super::fill;
use super::pod_defaults::default_pod_template;
use super::pod_template_rules::{self, Workload};
use super::rules::{self, Errors};
use super::volume_defaults::default_claim_spec;

#[derive(Debug)]
pub(super) struct StatefulSets;

impl KindStrategy for StatefulSets {
    type Kind = StatefulSet;

    fn apply_defaults(&self, object: &mut StatefulSet) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.template);
        for claim in &mut spec.volume_claim_templates {
            default_claim_spec(&mut claim.spec);
            fill::text(&mut claim.status.phase, "Pending");
        }
        fill::text(&mut spec.pod_management_policy, "OrderedReady");
        fill::text(&mut spec.update_strategy.type_, "RollingUpdate");
        if spec.update_strategy.type_ == "RollingUpdate" {
            let rolling = spec.update_strategy.rolling_update.get_or_insert_default();
            rolling.partition.get_or_insert(0);
        }
        let retention = spec
            .persistent_volume_claim_retention_policy
            .get_or_insert_default();
        fill::text(&mut retention.when_deleted, "Retain");
        fill::text(&mut retention.when_scaled, "Retain");
        spec.replicas.get_or_insert(1);
        spec.revision_history_limit.get_or_insert(10);
    }
    fn validate(&self, new: &StatefulSet) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_spec(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &StatefulSet, old: &StatefulSet) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let mut before = old.spec.clone();
        before.replicas = new.spec.replicas;
        before.ordinals.clone_from(&new.spec.ordinals);
        before.template = new.spec.template.clone();
        before.update_strategy = new.spec.update_strategy.clone();
        before.min_ready_seconds = new.spec.min_ready_seconds;
        before.revision_history_limit = new.spec.revision_history_limit;
        before
            .persistent_volume_claim_retention_policy
            .clone_from(&new.spec.persistent_volume_claim_retention_policy);
        if before != new.spec {
            errors.push(FieldError::forbidden(
                &FieldPath::new("spec"),
                ONLY_THESE_CHANGE,
            ));
        }
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}

const ONLY_THESE_CHANGE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
     'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
     'minReadySeconds' are forbidden";

/// The update strategy as messages show it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownStrategy<'a> {
    r#type: &'a str,
    rolling_update: Option<ShownRollingUpdate<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownRollingUpdate<'a> {
    partition: i32,
    max_unavailable: Option<&'a kubist_apimachinery::IntOrString>,
}

fn check_spec(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    check_pod_management(errors, spec, &path.child("podManagementPolicy"));
    check_update_strategy(errors, spec, &path.child("updateStrategy"));
    check_retention(
        errors,
        spec,
        &path.child("persistentVolumeClaimRetentionPolicy"),
    );
    let replicas = spec.replicas.unwrap_or_default();
    rules::non_negative(errors, replicas.into(), &path.child("replicas"));
    rules::non_negative(
        errors,
        spec.min_ready_seconds.into(),
        &path.child("minReadySeconds"),
    );
    if let Some(ordinals) = &spec.ordinals {
        let path = path.child("ordinals").child("start");
        rules::non_negative(errors, ordinals.start.into(), &path);
    }
    let limit = spec.revision_history_limit;
    rules::optional_non_negative(errors, limit, &path.child("revisionHistoryLimit"));
    if !spec.service_name.is_empty() {
        let path = path.child("serviceName");
        rules::text(
            errors,
            &spec.service_name,
            &path,
            validate_name::dns1123_label,
        );
    }
    let (selector, at) = (spec.selector.as_deref(), path.child("selector"));
    rules::workload_selector(errors, selector, &at, "statefulset");
    if let Some(selector) = rules::as_selector(errors, selector, &at) {
        let workload = Workload {
            replicas: 1,
            ..Workload::ALWAYS
        };
        let path = path.child("template");
        let template = with_claims(spec);
        pod_template_rules::check(errors, &template, &selector, &workload, &path);
    }
}

/// The template as the controller completes it: each claim is a volume that containers may mount.
fn with_claims(spec: &StatefulSetSpec) -> PodTemplateSpec {
    let mut template = spec.template.clone();
    for claim in &spec.volume_claim_templates {
        let name = &claim.metadata.name;
        let volumes = &mut template.spec.volumes;
        let fits = validate_name::dns1123_label(name).is_empty();
        if fits && volumes.iter().all(|it| it.name != *name) {
            let source = PersistentVolumeClaimVolumeSource {
                claim_name: name.clone(),
                ..Default::default()
            };
            volumes.push(Volume {
                name: name.clone(),
                persistent_volume_claim: Some(Box::new(source)),
                ..Default::default()
            });
        }
    }
    template
}

fn check_pod_management(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    match spec.pod_management_policy.as_str() {
        "" => errors.push(FieldError::required(path, "")),
        "OrderedReady" | "Parallel" => {}
        other => {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            errors.push(FieldError::invalid(path, other, detail));
        }
    }
}

fn check_update_strategy(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    let strategy = &spec.update_strategy;
    let rolling = strategy.rolling_update.as_deref();
    match strategy.type_.as_str() {
        "" => errors.push(FieldError::required(path, "")),
        "OnDelete" => {
            if rolling.is_some() {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                let shown = BadValue::json(&rolling.map(|it| ShownRollingUpdate {
                    partition: it.partition.unwrap_or_default(),
                    max_unavailable: it.max_unavailable.as_ref(),
                }));
                errors.push(FieldError::invalid(
                    &path.child("rollingUpdate"),
                    shown,
                    detail,
                ));
            }
        }
        "RollingUpdate" => {
            let path = path.child("rollingUpdate");
            if let Some(partition) = rolling.and_then(|it| it.partition) {
                rules::non_negative(errors, partition.into(), &path.child("partition"));
            }
            if let Some(unavailable) = rolling.and_then(|it| it.max_unavailable.as_ref()) {
                let path = path.child("maxUnavailable");
                rules::count_or_percent(errors, unavailable, &path);
                rules::at_most_all(errors, unavailable, &path);
            }
        }
        other => {
            let shown = ShownStrategy {
                r#type: other,
                rolling_update: rolling.map(|it| ShownRollingUpdate {
                    partition: it.partition.unwrap_or_default(),
                    max_unavailable: it.max_unavailable.as_ref(),
                }),
            };
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.push(FieldError::invalid(path, BadValue::json(&shown), detail));
        }
    }
}

fn check_retention(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    let Some(policy) = &spec.persistent_volume_claim_retention_policy else {
        return;
    };
    for (name, value) in [
        ("whenDeleted", &policy.when_deleted),
        ("whenScaled", &policy.when_scaled),
    ] {
        rules::one_of(errors, value, &["Delete", "Retain"], &path.child(name));
    }
}
