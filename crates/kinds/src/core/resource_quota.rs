//! ResourceQuotas.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, fill, go_struct};
use kubist_api::core::v1::{ResourceQuota, ResourceQuotaSpec, ScopeSelector};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, Str};
use kubist_registry::{ForKind, KindStrategy, StatusKeeps, Strategy, StrategyFacts};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct ResourceQuotas;

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

impl KindStrategy for ResourceQuotas {
    type Kind = ResourceQuota;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Nothing,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ResourceQuotasStatus))
    }
    fn apply_defaults(&self, object: &mut ResourceQuota) {
        fill::round(&mut object.spec.hard);
        fill::round(&mut object.status.hard);
        fill::round(&mut object.status.used);
    }
    fn validate(&self, new: &ResourceQuota) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        check_amounts(&mut errors, &new.spec.hard, &path.child("hard"));
        check_scopes(&mut errors, &new.spec, &path.child("scopes"));
        if let Some(selector) = &new.spec.scope_selector {
            let path = path.child("scopeSelector").child("matchExpressions");
            check_selector(&mut errors, &new.spec, selector, &path);
        }
        errors
    }
    fn validate_update(&self, new: &ResourceQuota, old: &ResourceQuota) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        // Order and duplicates do not matter.
        let scopes = |it: &ResourceQuota| it.spec.scopes.iter().cloned().collect::<BTreeSet<_>>();
        if scopes(new) != scopes(old) {
            let path = FieldPath::new("spec").child("scopes");
            let shown = rules::list(&new.spec.scopes);
            errors.push(FieldError::invalid(&path, shown, rules::IMMUTABLE));
        }
        errors
    }
}

/// The status strategy of [`ResourceQuotas`].
#[derive(Debug)]
struct ResourceQuotasStatus;

impl KindStrategy for ResourceQuotasStatus {
    type Kind = ResourceQuota;

    fn validate_update(&self, new: &ResourceQuota, _: &ResourceQuota) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("status");
        check_amounts(&mut errors, &new.status.hard, &path.child("hard"));
        check_amounts(&mut errors, &new.status.used, &path.child("used"));
        errors
    }
}

/// The standard resources that a quota can limit.
const STANDARD: [&str; 19] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];
const OF_PODS: [&str; 7] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "pods",
    "requests.cpu",
    "requests.memory",
];

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
}

/// Checks that limited and used resources can be subject to a quota.
fn check_amounts(errors: &mut Errors, amounts: &BTreeMap<Str, Quantity>, path: &FieldPath) {
    for (name, amount) in amounts {
        let path = path.key(name);
        shared::resources::check_any_name(errors, name, &path);
        if !name.contains('/') && !is_standard(name) {
            let detail = "must be a standard resource for quota";
            errors.push(FieldError::invalid(&path, BadValue::json(name), detail));
        }
        shared::resources::check_amount(errors, name, amount, &path);
    }
}

/// Reports whether a scope applies to a resource.
fn fits(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        _ if SCOPES.contains(&scope) => OF_PODS.contains(&resource),
        _ => true,
    }
}

/// Returns the problems of one scope and its conflicts with other scopes.
fn scope_problems(spec: &ResourceQuotaSpec, scope: &str) -> Vec<&'static str> {
    let limited = spec.hard.keys().filter(|name| is_standard(name));
    limited
        .filter(|name| !fits(scope, name))
        .map(|_| "unsupported scope applied to resource")
        .collect()
}

fn conflicts(scopes: &[&Str]) -> usize {
    let has = |name: &str| scopes.iter().any(|it| **it == *name);
    let pairs = [
        ("BestEffort", "NotBestEffort"),
        ("Terminating", "NotTerminating"),
    ];
    pairs
        .iter()
        .filter(|(one, other)| has(one) && has(other))
        .count()
}

fn check_scopes(errors: &mut Errors, spec: &ResourceQuotaSpec, path: &FieldPath) {
    let shown = OnceCell::new();
    let shown = || shown.get_or_init(|| BadValue::json(&spec.scopes)).clone();
    for scope in &spec.scopes {
        if !SCOPES.contains(&scope.as_str()) {
            errors.push(FieldError::invalid(path, shown(), "unsupported scope"));
        }
        for problem in scope_problems(spec, scope) {
            errors.push(FieldError::invalid(path, shown(), problem));
        }
    }
    let scopes: Vec<&Str> = spec.scopes.iter().collect();
    for _ in 0..conflicts(&scopes) {
        errors.push(FieldError::invalid(path, shown(), "conflicting scopes"));
    }
}

fn check_selector(
    errors: &mut Errors,
    spec: &ResourceQuotaSpec,
    selector: &ScopeSelector,
    path: &FieldPath,
) {
    for requirement in &selector.match_expressions {
        let scope = &requirement.scope_name;
        if !SCOPES.contains(&scope.as_str()) {
            let path = path.child("scopeName");
            let shown = BadValue::json(scope);
            errors.push(FieldError::invalid(&path, shown, "unsupported scope"));
        }
        for problem in scope_problems(spec, scope) {
            errors.push(FieldError::invalid(
                path,
                go_struct::shown(selector),
                problem,
            ));
        }
        let by_name = matches!(scope.as_str(), "PriorityClass" | "VolumeAttributesClass");
        let operator = &requirement.operator;
        let at = path.child("operator");
        if SCOPES.contains(&scope.as_str()) && !by_name && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or \
                          ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.push(FieldError::invalid(&at, BadValue::json(operator), detail));
        }
        let values = path.child("values");
        match operator.as_str() {
            "In" | "NotIn" if requirement.values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for \
                              scope selector";
                errors.push(FieldError::required(&values, detail));
            }
            "Exists" | "DoesNotExist" if !requirement.values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for \
                              scope selector";
                let shown = BadValue::json(&requirement.values);
                errors.push(FieldError::invalid(&values, shown, detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(&at, BadValue::json(operator), detail));
            }
        }
    }
    let expressions = selector.match_expressions.iter();
    let scopes: Vec<&Str> = expressions.map(|it| &it.scope_name).collect();
    for _ in 0..conflicts(&scopes) {
        let shown = BadValue::json(&spec.scopes);
        errors.push(FieldError::invalid(path, shown, "conflicting scopes"));
    }
}
