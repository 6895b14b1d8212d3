//! DeviceTaintRules: taints of devices that an administrator sets.

use super::device_names::check_pool;
use crate::shared::conditions;
use crate::shared::rules::{self, Errors};
use kubist_api::resource::v1beta2::{DeviceTaint, DeviceTaintRule};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_registry::{
    ForKind, Generation, KindStrategy, RequestContext, StatusKeeps, Strategy, StrategyFacts,
};

/// The maximum number of conditions of a rule.
const CONDITIONS_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct DeviceTaintRules;

impl KindStrategy for DeviceTaintRules {
    type Kind = DeviceTaintRule;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Most,
        generation: Generation::Spec,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(DeviceTaintRulesStatus))
    }

    fn prepare_for_create(&self, cx: &RequestContext, new: &mut DeviceTaintRule) {
        new.spec.taint.time_added.get_or_insert_with(|| cx.now());
    }

    /// A taint counts from its present effect on, unless the client says otherwise.
    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut DeviceTaintRule,
        old: &DeviceTaintRule,
    ) {
        let (taint, before) = (&mut new.spec.taint, &old.spec.taint);
        if taint.time_added.is_none()
            || (taint.effect != before.effect && taint.time_added == before.time_added)
        {
            taint.time_added = Some(cx.now());
        }
    }

    fn validate(&self, new: &DeviceTaintRule) -> Vec<FieldError> {
        problems(new, None)
    }

    fn validate_update(&self, new: &DeviceTaintRule, old: &DeviceTaintRule) -> Vec<FieldError> {
        problems(new, Some(old))
    }
}

/// The `status` subresource of [`DeviceTaintRules`].
#[derive(Debug)]
struct DeviceTaintRulesStatus;

impl KindStrategy for DeviceTaintRulesStatus {
    type Kind = DeviceTaintRule;

    fn validate_update(&self, new: &DeviceTaintRule, _: &DeviceTaintRule) -> Vec<FieldError> {
        let (mut errors, all) = (Errors::new(), &new.status.conditions);
        let path = FieldPath::new("status").child("conditions");
        conditions::check(&mut errors, all, &path);
        super::devices::at_most(&mut errors, all.len(), CONDITIONS_MAX, &path);
        errors
    }
}

fn problems(new: &DeviceTaintRule, old: Option<&DeviceTaintRule>) -> Vec<FieldError> {
    let (mut errors, path) = (Errors::new(), FieldPath::new("spec"));
    if let Some(selector) = &new.spec.device_selector {
        let path = path.child("deviceSelector");
        if let Some(driver) = &selector.driver {
            rules::csi_driver_name(&mut errors, driver, &path.child("driver"));
        }
        if let Some(pool) = &selector.pool {
            check_pool(&mut errors, pool, &path.child("pool"));
        }
        if let Some(device) = &selector.device {
            let at = path.child("device");
            rules::text(&mut errors, device, &at, validate_name::dns1123_label);
        }
    }
    let before = old.map(|it| &it.spec.taint);
    check_taint(&mut errors, &new.spec.taint, before, &path.child("taint"));
    errors
}

fn check_taint(
    errors: &mut Errors,
    taint: &DeviceTaint,
    before: Option<&DeviceTaint>,
    path: &FieldPath,
) {
    let at = path.child("key");
    rules::text(errors, &taint.key, &at, validate_name::qualified_name);
    if !taint.value.is_empty() {
        let at = path.child("value");
        rules::text(errors, &taint.value, &at, validate_name::label_value);
    }
    // What a newer server stored may stay.
    if before.is_some_and(|it| it.effect == taint.effect) {
        return;
    }
    let at = path.child("effect");
    if rules::required(errors, &taint.effect, &at) {
        let effects = ["NoExecute", "NoSchedule", "None"];
        rules::one_of(errors, &taint.effect, &effects, &at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rule(taint: &Value, status: &Value) -> DeviceTaintRule {
        let rule = json!({"metadata": {"name": "r"}, "spec": {"taint": taint}, "status": status});
        serde_json::from_value(rule).expect("it is a rule")
    }

    fn said(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_taint_has_a_key_and_an_effect() {
        let right = rule(&json!({"key": "a", "effect": "NoSchedule"}), &json!({}));
        assert_eq!(DeviceTaintRules.validate(&right), []);
        let wrong = rule(&json!({"key": "a", "effect": "Maybe"}), &json!({}));
        let errors = DeviceTaintRules.validate(&wrong);
        assert_eq!(
            said(&errors),
            [
                "spec.taint.effect: Unsupported value: \"Maybe\": supported values: \"NoExecute\", \
              \"NoSchedule\", \"None\""
            ]
        );
        assert_eq!(DeviceTaintRules.validate_update(&wrong, &wrong), []);
        let none = DeviceTaintRules.validate(&rule(&json!({"key": "a"}), &json!({})));
        assert_eq!(said(&none), ["spec.taint.effect: Required value"]);
    }

    #[test]
    fn conditions_are_checked_and_few() {
        let condition = |name: usize| {
            json!({
                "type": format!("t{name}"), "status": "True", "reason": "Said",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            })
        };
        let taint = json!({"key": "a", "effect": "None"});
        let many: Vec<Value> = (0..9).map(condition).collect();
        let new = rule(&taint, &json!({"conditions": many}));
        let errors = DeviceTaintRulesStatus.validate_update(&new, &new);
        assert_eq!(
            said(&errors),
            ["status.conditions: Too many: 9: must have at most 8 items"]
        );
    }
}
