//! Validation of a Job's Pod failure policy and success policy.

use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::batch::v1::{
    JobSpec, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule, SuccessPolicyRule,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;

/// The maximum number of rules in each policy.
const RULES_MAX: usize = 20;
/// The maximum number of exit codes in a rule.
const EXIT_CODES_MAX: usize = 255;
/// The maximum number of Pod conditions in a rule.
const CONDITIONS_MAX: usize = 20;

/// Checks both policies.
pub(crate) fn check(errors: &mut Errors, spec: &JobSpec, path: &FieldPath) {
    if let Some(policy) = &spec.pod_failure_policy {
        let path = path.child("podFailurePolicy").child("rules");
        too_many(errors, policy.rules.len(), RULES_MAX, &path);
        for (index, rule) in policy.rules.iter().enumerate() {
            check_failure(errors, spec, rule, &path.index(index));
        }
    }
    let Some(policy) = &spec.success_policy else {
        return;
    };
    let at = path.child("successPolicy");
    if spec.completion_mode.as_deref() != Some("Indexed") {
        let detail = "requires indexed completion mode";
        let shown = go_struct::shown(&**policy);
        errors.push(FieldError::invalid(&at, shown, detail));
        return;
    }
    let at = at.child("rules");
    if policy.rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(&at, detail));
    }
    too_many(errors, policy.rules.len(), RULES_MAX, &at);
    for (index, rule) in policy.rules.iter().enumerate() {
        check_success(errors, spec, rule, &at.index(index));
    }
}

fn too_many(errors: &mut Errors, count: usize, max: usize, path: &FieldPath) {
    if count > max {
        errors.push(FieldError::too_many(path, Some(count), max));
    }
}

/// Checks that a value is set and supported.
fn word(errors: &mut Errors, word: &str, supported: &[&str], path: &FieldPath) {
    if word.is_empty() {
        let quoted: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let detail = format!("valid values: [{}]", quoted.join(" "));
        errors.push(FieldError::required(path, detail));
    } else {
        rules::one_of(errors, word, supported, path);
    }
}

fn check_failure(
    errors: &mut Errors,
    spec: &JobSpec,
    rule: &PodFailurePolicyRule,
    path: &FieldPath,
) {
    let at = path.child("action");
    if rule.action == "FailIndex" {
        if spec.backoff_limit_per_index.is_none() {
            let detail = "requires the backoffLimitPerIndex to be set";
            errors.push(FieldError::invalid(&at, &rule.action, detail));
        }
    } else {
        let supported = ["Count", "FailIndex", "FailJob", "Ignore"];
        word(errors, &rule.action, &supported, &at);
    }
    if let Some(codes) = &rule.on_exit_codes {
        check_exit_codes(errors, spec, codes, &path.child("onExitCodes"));
    }
    let conditions = path.child("onPodConditions");
    too_many(
        errors,
        rule.on_pod_conditions.len(),
        CONDITIONS_MAX,
        &conditions,
    );
    for (index, pattern) in rule.on_pod_conditions.iter().enumerate() {
        let path = conditions.index(index);
        let at = path.child("type");
        rules::text(errors, &pattern.type_, &at, validate_name::qualified_name);
        let supported = ["False", "True", "Unknown"];
        word(errors, &pattern.status, &supported, &path.child("status"));
    }
    let detail = match (&rule.on_exit_codes, rule.on_pod_conditions.is_empty()) {
        (Some(_), false) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (None, true) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    errors.push(FieldError::invalid(path, BadValue::omitted(), detail));
}

fn check_exit_codes(
    errors: &mut Errors,
    spec: &JobSpec,
    codes: &PodFailurePolicyOnExitCodesRequirement,
    path: &FieldPath,
) {
    word(
        errors,
        &codes.operator,
        &["In", "NotIn"],
        &path.child("operator"),
    );
    let containers = spec.template.spec.containers.iter();
    let mut names = containers.chain(&spec.template.spec.init_containers);
    if let Some(name) = &codes.container_name
        && !names.any(|it| it.name == *name)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.push(FieldError::invalid(
            &path.child("containerName"),
            name,
            detail,
        ));
    }
    let at = path.child("values");
    if codes.values.is_empty() {
        let detail = "at least one value is required";
        errors.push(FieldError::invalid(&at, BadValue::null(), detail));
    }
    too_many(errors, codes.values.len(), EXIT_CODES_MAX, &at);
    let mut seen = BTreeSet::new();
    for (index, code) in codes.values.iter().enumerate() {
        let path = at.index(index);
        if codes.operator == "In" && *code == 0 {
            let detail = "must not be 0 for the In operator";
            errors.push(FieldError::invalid(&path, *code, detail));
        }
        if !seen.insert(code) {
            errors.push(FieldError::duplicate(&path, *code));
        }
    }
    if !codes.values.is_sorted() {
        let shown = BadValue::json(&codes.values);
        errors.push(FieldError::invalid(&at, shown, "must be ordered"));
    }
}

fn check_success(errors: &mut Errors, spec: &JobSpec, rule: &SuccessPolicyRule, path: &FieldPath) {
    if rule.succeeded_count.is_none() && rule.succeeded_indexes.is_none() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(path, detail));
    }
    // Without completions, the Job was refused already.
    let completions = spec.completions.unwrap_or_default();
    let mut total = None;
    if let Some(indexes) = &rule.succeeded_indexes {
        match count_indexes(indexes, completions) {
            Ok(count) => total = Some(count),
            Err(why) => {
                total = Some(0);
                let path = path.child("succeededIndexes");
                let detail = format!("error parsing succeededIndexes: {why}");
                errors.push(FieldError::invalid(&path, indexes, detail));
            }
        }
    }
    let Some(count) = rule.succeeded_count else {
        return;
    };
    let path = path.child("succeededCount");
    rules::non_negative(errors, count.into(), &path);
    if count > completions {
        let detail = format!(
            "must be less than or equal to {completions} (the number of specified completions)"
        );
        errors.push(FieldError::invalid(&path, count, detail));
    }
    if let Some(total) = total.filter(|&total| count > total) {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified \
             succeededIndexes field)"
        );
        errors.push(FieldError::invalid(&path, count, detail));
    }
}

/// Counts the indexes in a list such as `1,3-5`: ascending numbers and ranges, all below
/// `completions`.
fn count_indexes(indexes: &Str, completions: i32) -> Result<i32, String> {
    let mut total: i32 = 0;
    let mut last: Option<i32> = None;
    if indexes.is_empty() {
        return Ok(0);
    }
    for part in indexes.split(',') {
        let bounds: Vec<&str> = part.split('-').collect();
        if bounds.len() > 2 {
            return Err(format!(
                "the fragment {part:?} violates the requirement that an index interval can have \
                 at most two parts separated by '-'"
            ));
        }
        let mut numbers = Vec::with_capacity(bounds.len());
        for bound in bounds {
            let Ok(number) = bound.parse::<i32>() else {
                return Err(format!(
                    "cannot convert string to integer for index: {bound:?}"
                ));
            };
            if number >= completions {
                return Err(format!("too large index: {bound:?}"));
            }
            numbers.push(number);
        }
        let first = numbers.first().copied().unwrap_or_default();
        let end = numbers.last().copied().unwrap_or_default();
        if last.is_some_and(|last| last >= first) || numbers.len() == 2 && first >= end {
            return Err(format!(
                "non-increasing order, previous: {last:?}, current: {first}"
            ));
        }
        total = total.saturating_add(end - first + 1);
        last = Some(end);
    }
    Ok(total)
}
