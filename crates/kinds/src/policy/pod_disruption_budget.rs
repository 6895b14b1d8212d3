//! PodDisruptionBudgets.

use crate::shared::{self, rules};
use kubist_api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, IntOrString, LabelSelector, validate_label_selector,
};
use kubist_registry::{
    ForKind, Generation, KindStrategy, MetadataRules, StatusKeeps, Strategy, StrategyFacts,
};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Debug)]
pub(crate) struct PodDisruptionBudgets;

/// The spec as error messages show it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownSpec<'a> {
    min_available: Option<&'a IntOrString>,
    selector: Option<Box<RawValue>>,
    max_unavailable: Option<&'a IntOrString>,
    unhealthy_pod_eviction_policy: Option<&'a str>,
}

impl KindStrategy for PodDisruptionBudgets {
    type Kind = PodDisruptionBudget;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Common,
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(PodDisruptionBudgetsStatus))
    }
    fn validate(&self, new: &PodDisruptionBudget) -> Vec<FieldError> {
        let (path, spec) = (FieldPath::new("spec"), &new.spec);
        let mut errors = Vec::new();
        if spec.min_available.is_some() && spec.max_unavailable.is_some() {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            errors.push(FieldError::invalid(&path, shown(spec), detail));
        }
        for (name, value) in [
            ("minAvailable", &spec.min_available),
            ("maxUnavailable", &spec.max_unavailable),
        ] {
            if let Some(value) = value {
                rules::count_or_percent(&mut errors, value, &path.child(name));
                rules::at_most_all(&mut errors, value, &path.child(name));
            }
        }
        if let Some(selector) = &spec.selector {
            errors.extend(validate_label_selector(
                selector,
                &path.child("selector"),
                false,
            ));
        }
        if let Some(policy) = &spec.unhealthy_pod_eviction_policy {
            let path = path.child("unhealthyPodEvictionPolicy");
            rules::one_of(
                &mut errors,
                policy,
                &["AlwaysAllow", "IfHealthyBudget"],
                &path,
            );
        }
        errors
    }
}

/// The `status` subresource of [`PodDisruptionBudgets`].
#[derive(Debug)]
struct PodDisruptionBudgetsStatus;

impl KindStrategy for PodDisruptionBudgetsStatus {
    type Kind = PodDisruptionBudget;

    fn validate_update(
        &self,
        new: &PodDisruptionBudget,
        _: &PodDisruptionBudget,
    ) -> Vec<FieldError> {
        let (path, status) = (FieldPath::new("status"), &new.status);
        let mut errors = Vec::new();
        let at = path.child("conditions");
        shared::conditions::check(&mut errors, &status.conditions, &at);
        for (name, count) in [
            ("disruptionsAllowed", status.disruptions_allowed),
            ("currentHealthy", status.current_healthy),
            ("desiredHealthy", status.desired_healthy),
            ("expectedPods", status.expected_pods),
        ] {
            rules::non_negative(&mut errors, count.into(), &path.child(name));
        }
        errors
    }
}

fn shown(spec: &PodDisruptionBudgetSpec) -> BadValue {
    let as_json = |it: &LabelSelector| rules::as_json(it);
    BadValue::json(&ShownSpec {
        min_available: spec.min_available.as_ref(),
        selector: spec.selector.as_deref().and_then(as_json),
        max_unavailable: spec.max_unavailable.as_ref(),
        unhealthy_pod_eviction_policy: spec.unhealthy_pod_eviction_policy.as_deref(),
    })
}
