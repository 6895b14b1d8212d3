//! Upstream's preparation of a new Pod before validation.

use crate::core::pod::quality_of_service;
use crate::pod_spec::disabled_fields;
use crate::pod_spec::profiles::{APP_ARMOR, app_armor_of};
use kubist_api::core::v1::{
    AppArmorProfile, Pod, PodAffinityTerm, PodCondition, PodSpec, PodStatus, SecurityContext,
};
use kubist_apimachinery::{LabelSelector, LabelSelectorRequirement, Str};
use kubist_registry::RequestContext;
use std::collections::BTreeMap;

type Labels = BTreeMap<Str, Str>;

/// Prepares a new Pod.
pub(crate) fn prepare(cx: &RequestContext, pod: &mut Pod) {
    // Upstream accepts a given class unchecked.
    let qos_class = match std::mem::take(&mut pod.status.qos_class) {
        class if class.is_empty() => quality_of_service::class(&pod.spec).into(),
        class => class,
    };
    pod.status = PodStatus {
        phase: "Pending".into(),
        qos_class,
        ..PodStatus::default()
    };
    disabled_fields::drop_from(&mut pod.spec, None);
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(PodCondition {
            type_: "PodScheduled".into(),
            status: "False".into(),
            last_transition_time: Some(cx.now()),
            reason: "SchedulingGated".into(),
            message: "Scheduling is blocked due to non-empty scheduling gates".into(),
            ..PodCondition::default()
        });
    }
    select_by_own_labels(&mut pod.spec, &pod.metadata.labels);
    copy_annotated_profiles(cx, &mut pod.spec, &pod.metadata.annotations);
}

/// Turns `matchLabelKeys` and `mismatchLabelKeys` into selector requirements with the Pod's own
/// label values.
fn select_by_own_labels(spec: &mut PodSpec, labels: &Labels) {
    let apply = |term: &mut PodAffinityTerm| {
        if let Some(selector) = &mut term.label_selector {
            require(selector, &term.match_label_keys, "In", labels);
            require(selector, &term.mismatch_label_keys, "NotIn", labels);
        }
    };
    if let Some(affinity) = &mut spec.affinity {
        if let Some(pods) = &mut affinity.pod_affinity {
            let preferred = &mut pods.preferred_during_scheduling_ignored_during_execution;
            let preferred = preferred.iter_mut().map(|it| &mut it.pod_affinity_term);
            let required = &mut pods.required_during_scheduling_ignored_during_execution;
            preferred.chain(required).for_each(apply);
        }
        if let Some(pods) = &mut affinity.pod_anti_affinity {
            let preferred = &mut pods.preferred_during_scheduling_ignored_during_execution;
            let preferred = preferred.iter_mut().map(|it| &mut it.pod_affinity_term);
            let required = &mut pods.required_during_scheduling_ignored_during_execution;
            preferred.chain(required).for_each(apply);
        }
    }
    for constraint in &mut spec.topology_spread_constraints {
        if let Some(selector) = &mut constraint.label_selector {
            require(selector, &constraint.match_label_keys, "In", labels);
        }
    }
}

fn require(selector: &mut LabelSelector, keys: &[Str], operator: &str, labels: &Labels) {
    for key in keys {
        if let Some(value) = labels.get(key) {
            selector.match_expressions.push(LabelSelectorRequirement {
                key: key.clone(),
                operator: operator.into(),
                values: vec![value.clone()],
            });
        }
    }
}

/// Copies AppArmor profiles from annotations into container fields, unless the container has a
/// profile or the Pod has the same one.
fn copy_annotated_profiles(
    cx: &RequestContext,
    spec: &mut PodSpec,
    annotations: &BTreeMap<Str, Str>,
) {
    if spec.os.as_ref().is_some_and(|it| it.name == "windows") {
        return;
    }
    let context = spec.security_context.as_deref();
    let of_pod = context.and_then(|it| it.app_armor_profile.clone());
    let take = |name: &Str, context: &mut Option<Box<SecurityContext>>| {
        if context
            .as_deref()
            .is_some_and(|it| it.app_armor_profile.is_some())
        {
            return;
        }
        let key = format!("{APP_ARMOR}{name}");
        let Some(annotation) = annotations.get(key.as_str()) else {
            return;
        };
        let profile: Option<AppArmorProfile> = app_armor_of(annotation);
        if profile.is_none() || profile.as_ref() != of_pod.as_deref() {
            cx.warn(format!(
                "metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" \
                 field instead"
            ));
        }
        if profile.is_some() && profile.as_ref() != of_pod.as_deref() {
            context.get_or_insert_default().app_armor_profile = profile.map(Box::new);
        }
    };
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        take(&container.name, &mut container.security_context);
    }
    for container in &mut spec.ephemeral_containers {
        take(&container.name, &mut container.security_context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{Container, TopologySpreadConstraint};

    #[test]
    fn keys_of_labels_become_requirements() {
        let mut pod = Pod::default();
        pod.metadata.labels.insert("hash".into(), "x".into());
        pod.spec.topology_spread_constraints = vec![TopologySpreadConstraint {
            label_selector: Some(Box::default()),
            match_label_keys: vec!["hash".into(), "absent".into()],
            ..TopologySpreadConstraint::default()
        }];
        prepare(&RequestContext::default(), &mut pod);
        let constraint = &pod.spec.topology_spread_constraints[0];
        let selector = constraint.label_selector.as_ref().unwrap();
        assert_eq!(
            selector.match_expressions,
            [LabelSelectorRequirement {
                key: "hash".into(),
                operator: "In".into(),
                values: vec!["x".into()],
            }]
        );
    }

    #[test]
    fn profiles_of_annotations_become_fields() {
        let mut pod = Pod::default();
        for (name, profile) in [("a", "localhost/p"), ("b", "nonsense")] {
            pod.metadata
                .annotations
                .insert(format!("{APP_ARMOR}{name}").into(), profile.into());
            pod.spec.containers.push(Container {
                name: name.into(),
                ..Container::default()
            });
        }
        prepare(&RequestContext::default(), &mut pod);
        let profile = |index: usize| {
            let context = pod.spec.containers[index].security_context.as_ref();
            context.and_then(|it| it.app_armor_profile.as_deref())
        };
        assert_eq!(profile(0).unwrap().localhost_profile.as_deref(), Some("p"));
        assert_eq!(profile(1), None);
    }
}
