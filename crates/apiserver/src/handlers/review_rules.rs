//! Validation of access reviews, with upstream's error texts.

use kubist_api::authorization::v1::{
    FieldSelectorAttributes, LabelSelectorAttributes, NonResourceAttributes, ResourceAttributes,
    SubjectAccessReviewSpec,
};
use kubist_apimachinery::wire::to_json;
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, FieldSelector, ObjectMeta, Selector, Str, validate_name,
};
use serde_json::json;
use serde_json::value::RawValue;

/// Operators that must not have values.
const WITHOUT: &str = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
/// Operators that must have values.
const WITH: &str = "must be specified when `operator` is 'In' or 'NotIn'";

/// A review has either resource or non-resource attributes.
pub(super) fn about(
    resource: Option<&ResourceAttributes>,
    path: Option<&NonResourceAttributes>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match (resource, path) {
        (Some(_), Some(path)) => errors.push(FieldError::invalid(
            &FieldPath::new("spec.nonResourceAttributes"),
            shown(path),
            "cannot be specified in combination with resourceAttributes",
        )),
        (None, None) => errors.push(FieldError::invalid(
            &FieldPath::new("spec.resourceAttributes"),
            BadValue::null(),
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
    let Some(resource) = resource else {
        return errors;
    };
    let at = FieldPath::new("spec.resourceAttributes");
    if let Some(selector) = &resource.field_selector {
        check_fields(&mut errors, selector, &at.child("fieldSelector"));
    }
    if let Some(selector) = &resource.label_selector {
        check_labels(&mut errors, selector, &at.child("labelSelector"));
    }
    errors
}

/// A subject access review names a user or a group.
pub(super) fn of_somebody(spec: &SubjectAccessReviewSpec) -> Vec<FieldError> {
    let mut errors = about(
        spec.resource_attributes.as_deref(),
        spec.non_resource_attributes.as_deref(),
    );
    if spec.user.is_empty() && spec.groups.is_empty() {
        let path = FieldPath::new("spec.user");
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(&path, "", detail));
    }
    errors
}

/// A local review concerns resources in its namespace.
pub(super) fn in_namespace(
    spec: &SubjectAccessReviewSpec,
    meta: &ObjectMeta,
    namespace: &str,
) -> Vec<FieldError> {
    let mut errors = of_somebody(spec);
    errors.extend(without_metadata(meta, namespace));
    if let Some(resource) = &spec.resource_attributes
        && resource.namespace != *namespace
    {
        errors.push(FieldError::invalid(
            &FieldPath::new("spec.resourceAttributes.namespace"),
            &resource.namespace,
            "must match metadata.namespace",
        ));
    }
    if let Some(path) = &spec.non_resource_attributes {
        errors.push(FieldError::invalid(
            &FieldPath::new("spec.nonResourceAttributes"),
            shown(path),
            "disallowed on this kind of request",
        ));
    }
    errors
}

/// Reviews must not have metadata.
pub(super) fn without_metadata(meta: &ObjectMeta, namespace: &str) -> Vec<FieldError> {
    let allowed = ObjectMeta {
        namespace: namespace.into(),
        managed_fields: meta.managed_fields.clone(),
        ..ObjectMeta::default()
    };
    if *meta == allowed {
        return Vec::new();
    }
    let detail = if namespace.is_empty() {
        "must be empty"
    } else {
        "must be empty except for namespace"
    };
    // Text, to keep the order of the fields.
    let value: Option<Box<RawValue>> = serde_json::from_slice(&to_json(meta)).ok();
    let value = BadValue::json(&value);
    vec![FieldError::invalid(
        &FieldPath::new("metadata"),
        value,
        detail,
    )]
}

/// Returns the evaluation error: the parts of a selector that are ignored because they are invalid.
pub(super) fn evaluation_error(resource: Option<&ResourceAttributes>) -> Str {
    let mut errors = Vec::new();
    if let Some(selector) = resource.and_then(|it| it.field_selector.as_deref()) {
        let is_raw = selector.raw_selector.parse::<FieldSelector>().is_ok();
        let sound = selector.requirements.iter().filter(|it| {
            let operator = it.operator.as_str();
            matches!(operator, "In" | "NotIn") && it.values.len() == 1
        });
        let all = selector.requirements.len();
        errors.extend(ignored("fieldSelector", is_raw, sound.count(), all));
    }
    if let Some(selector) = resource.and_then(|it| it.label_selector.as_deref()) {
        let is_raw = selector.raw_selector.parse::<Selector>().is_ok();
        let sound = selector.requirements.iter().filter(|it| {
            let operator = it.operator.as_str();
            matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist")
        });
        let all = selector.requirements.len();
        errors.extend(ignored("labelSelector", is_raw, sound.count(), all));
    }
    errors.join(", ").into()
}

fn ignored(name: &str, is_raw: bool, sound: usize, all: usize) -> Option<String> {
    let partially = match (is_raw, sound) {
        (true, sound) if sound == all => return None,
        (true, 1..) => "partially ",
        _ => "",
    };
    Some(format!(
        "spec.resourceAttributes.{name} {partially}ignored due to parse error"
    ))
}

fn shown(path: &NonResourceAttributes) -> BadValue {
    BadValue::json(&json!({"Path": path.path, "Verb": path.verb}))
}

fn check_fields(errors: &mut Vec<FieldError>, selector: &FieldSelectorAttributes, at: &FieldPath) {
    let length = selector.requirements.len();
    check_form(errors, &selector.raw_selector, length, at);
    for (index, it) in selector.requirements.iter().enumerate() {
        let at = at.child("requirements").index(index);
        if it.key.is_empty() {
            errors.push(FieldError::required(&at.child("key"), "must be specified"));
        }
        check_values(errors, &it.operator, it.values.len(), &at);
    }
}

fn check_labels(errors: &mut Vec<FieldError>, selector: &LabelSelectorAttributes, at: &FieldPath) {
    let length = selector.requirements.len();
    check_form(errors, &selector.raw_selector, length, at);
    for (index, it) in selector.requirements.iter().enumerate() {
        let at = at.child("requirements").index(index);
        check_values(errors, &it.operator, it.values.len(), &at);
        for why in validate_name::qualified_name(&it.key) {
            errors.push(FieldError::invalid(&at.child("key"), &it.key, why));
        }
        for (index, value) in it.values.iter().enumerate() {
            for why in validate_name::label_value(value) {
                let at = at.child("values").index(index);
                errors.push(FieldError::invalid(&at, value, why));
            }
        }
    }
}

/// A selector is either raw or a list of requirements.
fn check_form(errors: &mut Vec<FieldError>, raw: &Str, requirements: usize, at: &FieldPath) {
    if !raw.is_empty() && requirements > 0 {
        let detail = "may not specified at the same time as requirements";
        errors.push(FieldError::invalid(&at.child("rawSelector"), raw, detail));
    }
    if raw.is_empty() && requirements == 0 {
        let detail = format!("when {at} is specified, requirements or rawSelector is required");
        errors.push(FieldError::required(&at.child("requirements"), detail));
    }
}

fn check_values(errors: &mut Vec<FieldError>, operator: &str, values: usize, at: &FieldPath) {
    let at = at.child("values");
    match operator {
        "In" | "NotIn" if values == 0 => errors.push(FieldError::required(&at, WITH)),
        "Exists" | "DoesNotExist" if values > 0 => {
            errors.push(FieldError::forbidden(&at, WITHOUT));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{DecodeContext, Wire};
    use serde_json::Value;

    fn spec(tree: &Value) -> SubjectAccessReviewSpec {
        let json = tree.to_string();
        SubjectAccessReviewSpec::from_json(json.as_bytes(), &mut DecodeContext::new())
            .expect("it is a spec")
    }

    fn texts(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn with(selector: &str, value: &Value) -> SubjectAccessReviewSpec {
        spec(&json!({
            "user": "b", "resourceAttributes": {"namespace": "w", selector: value},
        }))
    }

    #[test]
    fn all_errors_are_reported() {
        let path = "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/h\",\"Verb\":\"\"}:";
        let both = spec(&json!({
            "user": "b", "resourceAttributes": {"namespace": "o"},
            "nonResourceAttributes": {"path": "/h"},
        }));
        let named = ObjectMeta {
            name: "x".into(),
            namespace: "w".into(),
            ..ObjectMeta::default()
        };
        assert_eq!(
            texts(&in_namespace(&both, &named, "w")),
            [
                format!("{path} cannot be specified in combination with resourceAttributes"),
                "metadata: Invalid value: {\"name\":\"x\",\"namespace\":\"w\"}: must be empty except \
                 for namespace"
                    .to_owned(),
                "spec.resourceAttributes.namespace: Invalid value: \"o\": must match \
                 metadata.namespace"
                    .to_owned(),
                format!("{path} disallowed on this kind of request"),
            ]
        );
        assert_eq!(
            texts(&of_somebody(&spec(&json!({})))),
            [
                "spec.resourceAttributes: Invalid value: null: exactly one of \
                 nonResourceAttributes or resourceAttributes must be specified",
                "spec.user: Invalid value: \"\": at least one of user or group must be specified",
            ]
        );
    }

    #[test]
    fn selectors_are_texts_or_lists() {
        let at = "spec.resourceAttributes";
        for (selector, value, expected) in [
            (
                "fieldSelector",
                json!({}),
                format!(
                    "{at}.fieldSelector.requirements: Required value: when {at}.fieldSelector is \
                     specified, requirements or rawSelector is required"
                ),
            ),
            (
                "labelSelector",
                json!({"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]}),
                format!(
                    "{at}.labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at \
                     the same time as requirements"
                ),
            ),
            (
                "labelSelector",
                json!({"requirements": [{"key": "a", "operator": "In"}]}),
                format!(
                    "{at}.labelSelector.requirements[0].values: Required value: must be specified \
                     when `operator` is 'In' or 'NotIn'"
                ),
            ),
            (
                "fieldSelector",
                json!({"requirements": [{"operator": "NotIn", "values": ["x"]}]}),
                format!(
                    "{at}.fieldSelector.requirements[0].key: Required value: must be specified"
                ),
            ),
        ] {
            assert_eq!(texts(&of_somebody(&with(selector, &value))), [expected]);
        }
    }

    #[test]
    fn invalid_selectors_are_ignored_and_reported() {
        for (selector, value, is_ignored) in [
            ("labelSelector", json!({"rawSelector": "a=b"}), false),
            ("labelSelector", json!({"rawSelector": "a in ("}), true),
            (
                "labelSelector",
                json!({"requirements": [{"key": "a", "operator": "x"}]}),
                true,
            ),
            (
                "fieldSelector",
                json!({"requirements": [{"key": "a", "operator": "In", "values": ["x"]}]}),
                false,
            ),
            (
                "fieldSelector",
                json!({"requirements": [{"key": "a", "operator": "Exists"}]}),
                true,
            ),
        ] {
            let spec = with(selector, &value);
            let expected = if is_ignored {
                format!("spec.resourceAttributes.{selector} ignored due to parse error")
            } else {
                String::new()
            };
            let error = evaluation_error(spec.resource_attributes.as_deref());
            assert_eq!(error, expected, "{value}");
        }
    }

    #[test]
    fn a_review_has_no_name() {
        let mut meta = ObjectMeta {
            namespace: "w".into(),
            ..ObjectMeta::default()
        };
        assert!(without_metadata(&meta, "w").is_empty());
        meta.name = "x".into();
        assert_eq!(
            texts(&without_metadata(&meta, "w")),
            [
                "metadata: Invalid value: {\"name\":\"x\",\"namespace\":\"w\"}: must be empty \
                 except for namespace"
            ]
        );
    }
}
