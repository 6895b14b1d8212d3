//! Checks of what policies and bindings match: resources, parameters.

use super::webhook::check_rule;
use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{
    MatchResources, NamedRuleWithOperations, ParamKind, ParamRef, RuleWithOperations,
};
use kubist_apimachinery::{FieldError, FieldPath, validate_label_selector, validate_name};
use kubist_registry::NameRule;

/// The operations of mutating policies, which see no deletions.
const MUTATING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// Checks the constraints of a policy.
pub(super) fn check_constraints(
    errors: &mut Errors,
    constraints: Option<&MatchResources>,
    path: &FieldPath,
) {
    let Some(constraints) = constraints else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    check_resources(errors, constraints, path);
    if constraints.resource_rules.is_empty() {
        errors.push(FieldError::required(&path.child("resourceRules"), ""));
    }
}

/// Checks which resources are matched.
pub(super) fn check_resources(errors: &mut Errors, of: &MatchResources, path: &FieldPath) {
    let at = path.child("matchPolicy");
    match of.match_policy.as_deref() {
        None => errors.push(FieldError::required(&at, "")),
        Some(policy) => rules::one_of(errors, policy, &["Equivalent", "Exact"], &at),
    }
    for (name, selector) in [
        ("namespaceSelector", &of.namespace_selector),
        ("objectSelector", &of.object_selector),
    ] {
        let at = path.child(name);
        match selector {
            None => errors.push(FieldError::required(&at, "")),
            Some(selector) => errors.extend(validate_label_selector(selector, &at, false)),
        }
    }
    for (name, all) in [
        ("resourceRules", &of.resource_rules),
        ("excludeResourceRules", &of.exclude_resource_rules),
    ] {
        for (index, rule) in all.iter().enumerate() {
            check_named(errors, rule, &path.child(name).index(index));
        }
    }
}

/// Checks that no rule of a mutating policy names an operation that it does not see.
pub(super) fn check_mutating(errors: &mut Errors, of: Option<&MatchResources>, path: &FieldPath) {
    let rules = of.into_iter().flat_map(|it| &it.resource_rules);
    // As upstream, without the index of the rule.
    let at = path.child("resourceRules").child("operations");
    for operation in rules.flat_map(|it| &it.operations) {
        rules::one_of(errors, operation, &MUTATING, &at);
    }
}

fn check_named(errors: &mut Errors, rule: &NamedRuleWithOperations, path: &FieldPath) {
    let at = path.child("resourceNames");
    let twice = rules::repeats(&rule.resource_names);
    for ((index, name), twice) in rule.resource_names.iter().enumerate().zip(twice) {
        let at = at.index(index);
        let problems = NameRule::PathSegment.check(name, false);
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(&at, name, it)),
        );
        if twice {
            errors.push(FieldError::duplicate(&at, name));
        }
    }
    let rule = RuleWithOperations {
        operations: rule.operations.clone(),
        api_groups: rule.api_groups.clone(),
        api_versions: rule.api_versions.clone(),
        resources: rule.resources.clone(),
        scope: rule.scope.clone(),
    };
    check_rule(errors, &rule, path);
}

/// Checks the kind of the parameters of a policy.
pub(super) fn check_param_kind(errors: &mut Errors, of: &ParamKind, path: &FieldPath) {
    let at = path.child("apiVersion");
    let version = of.api_version.as_str();
    match version.split('/').collect::<Vec<_>>()[..] {
        [""] => errors.push(FieldError::required(&at, "")),
        ["", ""] => errors.push(FieldError::invalid(
            &at,
            version,
            "version must be specified",
        )),
        [only] => joined(errors, only, &at, validate_name::dns1035_label),
        [group, name] => {
            if !group.is_empty() {
                joined(errors, group, &at, validate_name::dns1123_subdomain);
            }
            if name.is_empty() {
                errors.push(FieldError::invalid(
                    &at,
                    version,
                    "version must be specified",
                ));
            } else {
                joined(errors, name, &at, validate_name::dns1035_label);
            }
        }
        _ => {
            let detail = format!("unexpected GroupVersion string: {version}");
            errors.push(FieldError::invalid(&at, version, detail));
        }
    }
    let at = path.child("kind");
    if rules::required(errors, &of.kind, &at) {
        let problems = validate_name::dns1035_label(&of.kind.to_lowercase());
        if !problems.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                problems.join(",")
            );
            errors.push(FieldError::invalid(&at, &of.kind, detail));
        }
    }
}

fn joined(errors: &mut Errors, value: &str, path: &FieldPath, rule: fn(&str) -> Vec<String>) {
    let problems = rule(value);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(path, value, problems.join(",")));
    }
}

/// Checks the parameters of a binding.
pub(super) fn check_param_ref(errors: &mut Errors, of: Option<&ParamRef>, path: &FieldPath) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let Some(of) = of else {
        return;
    };
    let (by_name, by_selector) = (!of.name.is_empty(), of.selector.as_deref());
    if by_name {
        let at = path.child("name");
        let problems = NameRule::PathSegment.check(&of.name, false);
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(&at, &of.name, it)),
        );
        if by_selector.is_some() {
            errors.push(FieldError::forbidden(&at, EXCLUSIVE));
        }
    }
    if let Some(selector) = by_selector {
        let at = path.child("selector");
        errors.extend(validate_label_selector(selector, &at, false));
        if by_name {
            errors.push(FieldError::forbidden(&at, EXCLUSIVE));
        }
    }
    if !by_name && by_selector.is_none() {
        errors.push(FieldError::required(
            path,
            "one of name or selector must be specified",
        ));
    }
    let at = path.child("parameterNotFoundAction");
    match of.parameter_not_found_action.as_deref() {
        None | Some("") => errors.push(FieldError::required(&at, "")),
        Some(action) => rules::one_of(errors, action, &["Deny", "Allow"], &at),
    }
}
