//! StatefulSets.

use crate::apps::deployment;
use crate::pod_spec::defaults::default_pod_template;
use crate::pod_spec::subject::PodSubject;
use crate::pod_spec::template::Template;
use crate::pod_spec::{self, disabled_fields};
use crate::shared::rules::{self, Errors};
use crate::shared::{fill, metadata_checks};
use crate::volume::claim_spec::{self, Tolerated};
use crate::volume::defaults::default_claim;
use crate::{scale, volume};
use kubist_api::apps::v1::{StatefulSet, StatefulSetSpec};
use kubist_api::core::v1::{PersistentVolumeClaimVolumeSource, PodTemplateSpec, Volume};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Selector, Str, validate_name};
use kubist_registry::{
    ForKind, Generation, KindStrategy, MetadataUpdate, NameRule, RequestContext, StatusKeeps,
    Strategy, StrategyFacts,
};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct StatefulSets;

impl KindStrategy for StatefulSets {
    type Kind = StatefulSet;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::DnsLabel,
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        complete_bookmark: |object| scale::set_replicas(object, 0),
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(StatefulSetsStatus))
    }
    fn apply_defaults(&self, object: &mut StatefulSet) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.template);
        for claim in &mut spec.volume_claim_templates {
            default_claim(claim);
        }
        fill::text(&mut spec.pod_management_policy, "OrderedReady");
        let strategy = &mut spec.update_strategy;
        if strategy.type_.is_empty() {
            strategy.type_ = "RollingUpdate".into();
            strategy.rolling_update.get_or_insert_default();
        }
        // For every strategy: upstream's internal type has a number here that is always set.
        if let Some(rolling) = &mut strategy.rolling_update {
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
    fn prepare_for_create(&self, _: &RequestContext, new: &mut StatefulSet) {
        drop_disabled(&mut new.spec, None);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut StatefulSet, old: &StatefulSet) {
        drop_disabled(&mut new.spec, Some(&old.spec));
    }
    fn warnings(&self, new: &StatefulSet, old: Option<&StatefulSet>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        let mut found = pod_spec::warnings::of_changed(meta, before, &new.spec.template, &path);
        let claims = FieldPath::new("spec").child("volumeClaimTemplates");
        for (index, claim) in new.spec.volume_claim_templates.iter().enumerate() {
            let path = claims.index(index);
            // These are upstream's paths.
            let path = if old.is_some() {
                path.child("Spec")
            } else {
                path
            };
            volume::warnings::of_claim(&mut found, &claim.spec, &path);
        }
        if new.spec.revision_history_limit.is_some_and(|it| it < 0) {
            found.push(
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a \
                 value >= 0 is recommended"
                    .to_owned(),
            );
        }
        found
    }
    fn validate(&self, new: &StatefulSet) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        check_claims(&mut errors, &new.spec, &path.child("volumeClaimTemplates"));
        check_spec(&mut errors, &new.spec, Stored::Nothing, &path);
        errors
    }
    fn validate_update(&self, new: &StatefulSet, old: &StatefulSet) -> Vec<FieldError> {
        let path = FieldPath::new("spec");
        let mut errors = Vec::new();
        check_spec(&mut errors, &old.spec, Stored::Valid(&old.spec), &path);
        let stored = if errors.is_empty() {
            Stored::Valid(&old.spec)
        } else {
            Stored::Invalid(&old.spec)
        };
        errors.clear();
        check_spec(&mut errors, &new.spec, stored, &path);
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
}

/// The `status` subresource of [`StatefulSets`].
#[derive(Debug)]
struct StatefulSetsStatus;

impl KindStrategy for StatefulSetsStatus {
    type Kind = StatefulSet;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Own,
        ..StrategyFacts::PLAIN
    };

    fn validate_update(&self, new: &StatefulSet, old: &StatefulSet) -> Vec<FieldError> {
        let (path, status) = (FieldPath::new("status"), &new.status);
        let mut errors = Vec::new();
        let counts = [
            ("readyReplicas", status.ready_replicas),
            ("currentReplicas", status.current_replicas),
            ("updatedReplicas", status.updated_replicas),
            ("availableReplicas", status.available_replicas),
        ];
        for (name, count) in std::iter::once(("replicas", status.replicas)).chain(counts) {
            rules::non_negative(&mut errors, count.into(), &path.child(name));
        }
        let at = path.child("observedGeneration");
        rules::non_negative(&mut errors, status.observed_generation, &at);
        let collisions = path.child("collisionCount");
        let (now, before) = (status.collision_count, old.status.collision_count);
        rules::optional_non_negative(&mut errors, now, &collisions);
        for (name, count) in counts.into_iter().filter(|it| it.1 > status.replicas) {
            let detail = "cannot be greater than status.replicas";
            errors.push(FieldError::invalid(&path.child(name), count, detail));
        }
        if status.available_replicas > status.ready_replicas {
            let detail = "cannot be greater than status.readyReplicas";
            let (path, count) = (path.child("availableReplicas"), status.available_replicas);
            errors.push(FieldError::invalid(&path, count, detail));
        }
        rules::not_decremented(&mut errors, now, before, &collisions);
        errors.extend(metadata_checks::change(self, new, old));
        errors
    }
}

const ONLY_THESE_CHANGE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
     'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
     'minReadySeconds' are forbidden";

/// The update strategy as error messages show it.
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

/// Checks claims. They cannot change, so stored claims are not checked again.
fn check_claims(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    for (index, claim) in spec.volume_claim_templates.iter().enumerate() {
        let path = path.index(index).child("spec");
        claim_spec::check(errors, &claim.spec, Tolerated::default(), &path);
    }
}

/// The validity of the stored object.
#[derive(Clone, Copy, Debug)]
enum Stored<'a> {
    /// There is no stored object.
    Nothing,
    /// The stored spec is valid.
    Valid(&'a StatefulSetSpec),
    /// The stored spec is invalid, so its template may stay invalid.
    Invalid(&'a StatefulSetSpec),
}

/// Clears disabled fields that were not in use, such as `maxUnavailable`, whose feature gate is off
/// by default upstream.
fn drop_disabled(spec: &mut StatefulSetSpec, old: Option<&StatefulSetSpec>) {
    disabled_fields::drop_from(&mut spec.template.spec, old.map(|it| &it.template.spec));
    let before = old.and_then(|it| it.update_strategy.rolling_update.as_deref());
    if before.is_none_or(|it| it.max_unavailable.is_none())
        && let Some(rolling) = &mut spec.update_strategy.rolling_update
    {
        rolling.max_unavailable = None;
    }
}

fn check_spec(errors: &mut Errors, spec: &StatefulSetSpec, stored: Stored<'_>, path: &FieldPath) {
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
        let path = path.child("ordinals.start");
        rules::non_negative(errors, ordinals.start.into(), &path);
    }
    // The name cannot change, so newer rules do not apply to stored objects.
    if !spec.service_name.is_empty() && matches!(stored, Stored::Nothing) {
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
    let at = path.child("template");
    let parsed = selector.map_or_else(|| Ok(Selector::nothing()), Selector::try_from);
    if let Ok(selector) = parsed {
        check_template(errors, spec, &selector, stored, &at);
    } else {
        let shown = selector.map_or_else(BadValue::null, |it| rules::shown(it));
        errors.push(FieldError::invalid(&path.child("selector"), shown, ""));
    }
    pod_spec::template::check_runs_permanently(errors, &spec.template, "StatefulSet", &at);
}

/// Checks the template as the controller completes it.
fn check_template(
    errors: &mut Errors,
    spec: &StatefulSetSpec,
    selector: &Selector,
    stored: Stored<'_>,
    path: &FieldPath,
) {
    let template = completed(spec);
    rules::template_matches(errors, selector, &template, path);
    let old = match stored {
        Stored::Nothing => None,
        Stored::Valid(old) | Stored::Invalid(old) => Some(&old.template),
    };
    if !matches!(stored, Stored::Invalid(_)) {
        let new = &template;
        pod_spec::template::check_template(errors, Template { new, old }, path);
    }
    // Checks it again, as upstream does.
    let subject = PodSubject::of_template(&template, old);
    pod_spec::template::check_metadata(errors, &template, &subject, path);
}

/// Returns the template as the controller completes it: Pods have generated names, and each claim
/// becomes a volume that containers can mount. It replaces a volume of the same name.
fn completed(spec: &StatefulSetSpec) -> PodTemplateSpec {
    let mut template = spec.template.clone();
    template.spec.hostname = Str::default();
    template.spec.subdomain = Str::default();
    let names = spec.volume_claim_templates.iter();
    let names: BTreeSet<_> = names.map(|it| &it.metadata.name).collect();
    let others = std::mem::take(&mut template.spec.volumes);
    let claims = names.iter().map(|&name| Volume {
        name: name.clone(),
        persistent_volume_claim: Some(Box::new(PersistentVolumeClaimVolumeSource {
            claim_name: name.clone(),
            ..Default::default()
        })),
        ..Default::default()
    });
    let others = others.into_iter().filter(|it| !names.contains(&it.name));
    template.spec.volumes = claims.chain(others).collect();
    template
}

fn check_pod_management(errors: &mut Errors, spec: &StatefulSetSpec, path: &FieldPath) {
    match spec.pod_management_policy.as_str() {
        "" => errors.push(FieldError::required(path, "")),
        "OrderedReady" | "Parallel" => {}
        other => {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            errors.push(FieldError::invalid(path, BadValue::json(other), detail));
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
                if deployment::amount(unavailable) == 0 {
                    let shown = BadValue::json(unavailable);
                    errors.push(FieldError::invalid(&path, shown, "cannot be 0"));
                }
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
        rules::one_of(errors, value, &["Retain", "Delete"], &path.child(name));
    }
}
