//! Pods.

mod action;
pub(crate) mod binding;
pub(crate) mod claim_status;
pub(crate) mod container_status;
mod disruption;
pub(crate) mod eviction;
pub(crate) mod preparation;
pub(crate) mod quality_of_service;
pub(crate) mod resize;
pub(crate) mod status;
pub(crate) mod subresources;
pub(crate) mod update;
pub(crate) mod validation;

use crate::pod_spec::defaults::default_pod;
use crate::pod_spec::{self, disabled_fields};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{
    ForKind, Generation, KindStrategy, RequestContext, StatusKeeps, Strategy, StrategyFacts,
    validate_metadata,
};
use std::borrow::Cow;

#[derive(Debug)]
pub(crate) struct Pods;

impl KindStrategy for Pods {
    type Kind = Pod;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        // Preparation builds a new status and reads the old one for that.
        keeps_status_on_create: true,
        status_keeps: StatusKeeps::Owners,
        returns_deleted: true,
        selectable_fields: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            // Upstream accepts this field selector, but its value is empty for every Pod.
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        match name {
            "status" => Some(&ForKind(PodsStatus)),
            "ephemeralcontainers" => Some(&ForKind(PodsSubresource("ephemeralcontainers"))),
            "resize" => Some(&ForKind(PodsSubresource("resize"))),
            _ => None,
        }
    }
    fn apply_defaults(&self, object: &mut Pod) {
        default_pod(object);
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut Pod) {
        preparation::prepare(cx, new);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Pod, old: &Pod) {
        disabled_fields::drop_from(&mut new.spec, Some(&old.spec));
    }
    fn warnings(&self, new: &Pod, old: Option<&Pod>) -> Vec<String> {
        pod_spec::warnings::of_pod(new, old)
    }
    fn validate(&self, new: &Pod) -> Vec<FieldError> {
        let path = FieldPath::new("spec");
        let mut errors = Vec::new();
        validation::check(&mut errors, new, None);
        if !new.spec.ephemeral_containers.is_empty() {
            errors.push(FieldError::forbidden(
                &path.child("ephemeralContainers"),
                "cannot be set on create",
            ));
        }
        if !new.spec.node_name.is_empty() && !new.spec.scheduling_gates.is_empty() {
            errors.push(FieldError::forbidden(
                &path.child("nodeName"),
                "cannot be set until all schedulingGates have been cleared",
            ));
        }
        pod_spec::profiles::annotations_agree(&mut errors, &new.spec, &new.metadata, &path);
        errors
    }
    fn validate_update(&self, new: &Pod, old: &Pod) -> Vec<FieldError> {
        // Upstream validates the metadata a second time.
        let mut errors = validate_metadata(
            &new.metadata,
            true,
            Self::FACTS.name_rule,
            Self::FACTS.metadata_rules,
        );
        errors.extend(update::check(new, old));
        errors
    }
    fn grace_seconds(&self, object: &Pod, requested: Option<i64>) -> Option<i64> {
        let of_spec = object.spec.termination_grace_period_seconds;
        let seconds = requested.or(of_spec).unwrap_or_default();
        let runs_nowhere = object.spec.node_name.is_empty();
        let ended = matches!(object.status.phase.as_str(), "Failed" | "Succeeded");
        Some(match seconds {
            _ if runs_nowhere || ended => 0,
            ..0 => 1,
            _ => seconds,
        })
    }
    fn field<'a>(&self, object: &'a Pod, field: &str) -> Cow<'a, str> {
        let (spec, status) = (&object.spec, &object.status);
        Cow::Borrowed(match field {
            "spec.nodeName" => &spec.node_name,
            "spec.restartPolicy" => &spec.restart_policy,
            "spec.schedulerName" => &spec.scheduler_name,
            "spec.serviceAccountName" => &spec.service_account_name,
            "status.phase" => &status.phase,
            "status.podIP" => match status.pod_ips.first() {
                Some(address) => &address.ip,
                None => &status.pod_ip,
            },
            "status.nominatedNodeName" => &status.nominated_node_name,
            "spec.hostNetwork" => return Cow::Owned(spec.host_network.to_string()),
            _ => "",
        })
    }
}

/// The status strategy of [`Pods`].
#[derive(Debug)]
struct PodsStatus;

impl KindStrategy for PodsStatus {
    type Kind = Pod;

    fn prepare_for_update(&self, _: &RequestContext, new: &mut Pod, old: &Pod) {
        status::prepare(new, old);
    }
    fn validate_update(&self, new: &Pod, old: &Pod) -> Vec<FieldError> {
        status::check(new, old)
    }
}

/// The strategy of a subresource that changes the spec, by the subresource name.
#[derive(Debug)]
struct PodsSubresource(&'static str);

impl KindStrategy for PodsSubresource {
    type Kind = Pod;

    fn prepare_for_update(&self, _: &RequestContext, new: &mut Pod, old: &Pod) {
        subresources::restrict(self.0, new, old);
    }
    fn validate_update(&self, new: &Pod, old: &Pod) -> Vec<FieldError> {
        subresources::check(self.0, new, old)
    }
}
