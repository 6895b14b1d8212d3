//! Small checks that many kinds share, with upstream's error texts.

use kubist_api::core::v1::PodTemplateSpec;
use kubist_apimachinery::wire::{Message, to_json};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, IntOrString, LabelSelector, Selector, Str,
    validate_label_selector, validate_name,
};
use kubist_registry::NameRule;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The errors found so far.
pub(crate) type Errors = Vec<FieldError>;

/// Reports for each item whether it equals an earlier one.
pub(crate) fn repeats<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<bool> {
    let mut seen = BTreeSet::new();
    items.into_iter().map(|it| !seen.insert(it)).collect()
}

const NON_NEGATIVE: &str = "must be greater than or equal to 0";
pub(crate) const IMMUTABLE: &str = "field is immutable";

/// Checks that a number is not negative.
pub(crate) fn non_negative(errors: &mut Errors, value: i64, path: &FieldPath) {
    if value < 0 {
        errors.push(FieldError::invalid(path, value, NON_NEGATIVE));
    }
}

/// Checks that an optional number is not negative.
pub(crate) fn optional_non_negative(
    errors: &mut Errors,
    value: Option<impl Into<i64>>,
    path: &FieldPath,
) {
    if let Some(value) = value {
        non_negative(errors, value.into(), path);
    }
}

/// Checks that a collision counter does not decrease.
pub(crate) fn not_decremented(
    errors: &mut Errors,
    now: Option<i32>,
    before: Option<i32>,
    path: &FieldPath,
) {
    if before.is_some_and(|before| now.is_none_or(|now| now < before)) {
        let now = now.unwrap_or_default();
        errors.push(FieldError::invalid(path, now, "cannot be decremented"));
    }
}

/// Checks a string with a rule of [`validate_name`].
pub(crate) fn text(
    errors: &mut Errors,
    value: &str,
    path: &FieldPath,
    rule: fn(&str) -> Vec<String>,
) {
    errors.extend(
        rule(value)
            .into_iter()
            .map(|it| FieldError::invalid(path, value, it)),
    );
}

/// Like [`text`], for values that have a type of their own upstream, which messages show as JSON.
pub(crate) fn typed(
    errors: &mut Errors,
    value: &str,
    path: &FieldPath,
    rule: fn(&str) -> Vec<String>,
) {
    let wrong = |it| FieldError::invalid(path, BadValue::json(value), it);
    errors.extend(rule(value).into_iter().map(wrong));
}

/// Checks that a port is from 1 to 65535.
pub(crate) fn port_number(errors: &mut Errors, value: i32, path: &FieldPath) {
    let problems = validate_name::port_number(value.into());
    errors.extend(
        problems
            .into_iter()
            .map(|it| FieldError::invalid(path, value, it)),
    );
}

/// Checks that the port at which the API server calls a service is from 1 to 65535. The default is
/// 443.
pub(crate) fn port_of_service(errors: &mut Errors, port: Option<i32>, path: &FieldPath) {
    let port = port.unwrap_or(443);
    for problem in validate_name::port_number(port.into()) {
        let detail = format!("port is not valid: {problem}");
        errors.push(FieldError::invalid(path, port, detail));
    }
}

/// Checks that a port is a number from 1 to 65535 or a port name.
pub(crate) fn port(errors: &mut Errors, port: &IntOrString, path: &FieldPath) {
    match port {
        IntOrString::Int(number) => port_number(errors, *number, path),
        IntOrString::String(name) => text(errors, name, path, validate_name::port_name),
    }
}

/// Checks that a value is one of `supported`.
pub(crate) fn one_of(errors: &mut Errors, value: &str, supported: &[&str], path: &FieldPath) {
    if !supported.contains(&value) {
        errors.push(FieldError::not_supported(path, value, supported));
    }
}

/// Like [`one_of`], for values that are plain strings upstream.
pub(crate) fn one_of_texts(errors: &mut Errors, value: &str, supported: &[&str], path: &FieldPath) {
    if !supported.contains(&value) {
        errors.push(FieldError::not_supported_text(path, value, supported));
    }
}

/// Checks that a value is set and one of `supported`.
pub(crate) fn word(errors: &mut Errors, value: &str, supported: &[&str], path: &FieldPath) {
    if required(errors, value, path) {
        one_of(errors, value, supported, path);
    }
}

/// Checks that a value is set, and reports whether it is.
pub(crate) fn required(errors: &mut Errors, value: &str, path: &FieldPath) -> bool {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    !value.is_empty()
}

/// Checks that a value is a domain, a slash, and a path.
pub(crate) fn domain_prefixed_path(errors: &mut Errors, value: &str, path: &FieldPath) {
    errors.extend(validate_name::domain_prefixed_path(value, path));
}

/// Returns the problems of a name in the words of upstream's declarative validation, which counts
/// bytes and does not check the prefix of a generated name.
pub(crate) fn whole_name(name: &str, prefix: bool) -> Vec<String> {
    if prefix {
        return Vec::new();
    }
    let problems = validate_name::dns1123_subdomain(name).into_iter();
    problems
        .map(|problem| problem.replace("no more than 253 characters", "no more than 253 bytes"))
        .collect()
}

/// Returns why a string cannot be a path segment.
pub(crate) fn path_segment(text: &str) -> Vec<String> {
    NameRule::PathSegment.check(text, false)
}

/// Checks the name of a CSI driver: a domain, in any letter case.
pub(crate) fn csi_driver_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    const LENGTH_MAX: usize = 63;
    if !required(errors, name, path) {
        return;
    }
    if name.len() > LENGTH_MAX {
        errors.push(FieldError::too_long(path, LENGTH_MAX));
    }
    let problems = validate_name::dns1123_subdomain(&name.to_lowercase());
    let wrong = |it| FieldError::invalid(path, name, it);
    errors.extend(problems.into_iter().map(wrong));
}

/// Checks that a scalar does not change.
pub(crate) fn immutable_value<T: PartialEq>(
    errors: &mut Errors,
    new: T,
    old: T,
    path: &FieldPath,
    shown: impl Fn(T) -> BadValue,
) {
    if new != old {
        errors.push(FieldError::invalid(path, shown(new), IMMUTABLE));
    }
}

/// Checks a text. All its problems are joined into one error.
pub(crate) fn joined(
    errors: &mut Errors,
    text: &str,
    path: &FieldPath,
    rule: fn(&str) -> Vec<String>,
) {
    let problems = rule(text);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(path, text, problems.join(",")));
    }
}

/// Formats a message as JSON for [`FieldError`]s, with its fields in order.
pub(crate) fn shown(message: &dyn Message) -> BadValue {
    BadValue::json(&as_json(message))
}

/// Returns a message as JSON, with its fields in order.
pub(crate) fn as_json(message: &dyn Message) -> Option<Box<RawValue>> {
    serde_json::from_slice(&to_json(message)).ok()
}

/// Formats strings for [`FieldError`]s. An empty list is `null`, as upstream.
pub(crate) fn list(texts: &[Str]) -> BadValue {
    if texts.is_empty() {
        BadValue::null()
    } else {
        BadValue::json(texts)
    }
}

/// Checks that a count is a non-negative number or a percentage.
pub(crate) fn count_or_percent(errors: &mut Errors, value: &IntOrString, path: &FieldPath) {
    match value {
        IntOrString::Int(number) => non_negative(errors, (*number).into(), path),
        IntOrString::String(percent) => typed(errors, percent, path, validate_name::percent),
    }
}

/// Checks that a percentage is at most 100.
pub(crate) fn at_most_all(errors: &mut Errors, value: &IntOrString, path: &FieldPath) {
    if let IntOrString::String(text) = value
        && percent_of(value).is_some_and(|percent| percent > 100)
    {
        errors.push(FieldError::invalid(
            path,
            text,
            "must not be greater than 100%",
        ));
    }
}

/// Returns the number before `%` if the value is a percentage.
pub(crate) fn percent_of(value: &IntOrString) -> Option<i64> {
    match value {
        IntOrString::String(text) if validate_name::percent(text).is_empty() => {
            text.trim_end_matches('%').parse().ok()
        }
        IntOrString::String(_) | IntOrString::Int(_) => None,
    }
}

/// Checks a workload's selector: it must be set, valid and not empty. Returns `None` if it cannot
/// be compared with the template's labels.
pub(crate) fn workload_selector(
    errors: &mut Errors,
    selector: Option<&LabelSelector>,
    path: &FieldPath,
    kind: &str,
) {
    let Some(selector) = selector else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    errors.extend(validate_label_selector(selector, path, false));
    if is_empty(selector) {
        let detail = format!("empty selector is invalid for {kind}");
        errors.push(FieldError::invalid(path, shown(selector), detail));
    }
}

/// Reports whether a selector has no requirements.
pub(crate) fn is_empty(selector: &LabelSelector) -> bool {
    selector.match_labels.is_empty() && selector.match_expressions.is_empty()
}

/// Converts a selector. An absent selector matches nothing.
pub(crate) fn as_selector(
    errors: &mut Errors,
    selector: Option<&LabelSelector>,
    path: &FieldPath,
) -> Option<Selector> {
    let Some(spec) = selector else {
        return Some(Selector::nothing());
    };
    let selector = Selector::try_from(spec).ok();
    if selector.is_none() {
        let detail = "invalid label selector";
        errors.push(FieldError::invalid(path, shown(spec), detail));
    }
    selector
}

/// Checks that the labels of a template match the selector.
pub(crate) fn template_matches(
    errors: &mut Errors,
    selector: &Selector,
    template: &PodTemplateSpec,
    template_path: &FieldPath,
) {
    let labels = &template.metadata.labels;
    if selector.is_everything() || selector.matches_labels(labels) {
        return;
    }
    let shown = if labels.is_empty() {
        BadValue::null()
    } else {
        BadValue::json(labels)
    };
    let path = template_path.child("metadata").child("labels");
    let detail = "`selector` does not match template `labels`";
    errors.push(FieldError::invalid(&path, shown, detail));
}
