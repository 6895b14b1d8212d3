//! Schemas in `allOf`, `anyOf`, `oneOf` and `not`: they may restrict values, but not describe
//! structure.

use super::{check_pattern, items};
use crate::place::{Place, Problems};
use kubist_api::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrBool};
use kubist_apimachinery::FieldError;

/// Which alternatives of types are those of an int-or-string, and so allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skips {
    any_of: bool,
    any_of_in_first_all_of: bool,
}

/// Finds the two forms in which an int-or-string may list its types.
pub(super) fn int_or_string_patterns(schema: &JSONSchemaProps) -> Skips {
    let first = schema.all_of.first();
    Skips {
        any_of: lists_both_types(&schema.any_of),
        any_of_in_first_all_of: first.is_some_and(|it| lists_both_types(&it.any_of)),
    }
}

fn lists_both_types(any_of: &[JSONSchemaProps]) -> bool {
    let is_only = |schema: &JSONSchemaProps, kind: &str| {
        let mut rest = schema.clone();
        if !adds_properties(rest.additional_properties.as_deref()) {
            rest.additional_properties = None;
        }
        if items(schema).is_none() {
            rest.items = None;
        }
        rest.type_ = "".into();
        schema.type_ == kind && rest == JSONSchemaProps::default()
    };
    matches!(any_of, [first, second] if is_only(first, "integer") && is_only(second, "string"))
}

/// Reports whether additional properties are not just false, which means nothing here.
fn adds_properties(additional: Option<&JSONSchemaPropsOrBool>) -> bool {
    additional.is_some_and(|it| it.allows || it.schema.is_some())
}

/// Checks the junctors and the pattern of a schema.
pub(super) fn check_values(
    problems: &mut Problems,
    schema: &JSONSchemaProps,
    skips: Skips,
    at: &Place<'_>,
) {
    for (name, junctor) in [
        ("anyOf", &schema.any_of),
        ("allOf", &schema.all_of),
        ("oneOf", &schema.one_of),
    ] {
        if name == "anyOf" && skips.any_of {
            continue;
        }
        let at = Place::Child(at, name);
        for (index, nested) in junctor.iter().enumerate() {
            let skips = Skips {
                any_of: name == "allOf" && index == 0 && skips.any_of_in_first_all_of,
                ..Skips::default()
            };
            check(problems, nested, skips, &Place::Index(&at, index));
        }
    }
    if let Some(not) = schema.not.as_deref() {
        check(problems, not, Skips::default(), &Place::Child(at, "not"));
    }
    check_pattern(problems, schema, at);
}

fn check(problems: &mut Problems, schema: &JSONSchemaProps, skips: Skips, at: &Place<'_>) {
    check_values(problems, schema, skips, at);
    let properties = Place::Child(at, "properties");
    if let Some(items) = items(schema) {
        check(
            problems,
            items,
            Skips::default(),
            &Place::Child(at, "items"),
        );
    }
    for (name, property) in &schema.properties {
        let at = Place::Key(&properties, name);
        check(problems, property, Skips::default(), &at);
    }
    for (is_set, name, detail) in structural_keywords(schema) {
        if is_set {
            problems.forbid(at, name, detail);
        }
    }
    if schema.properties.contains_key("metadata") {
        let detail = "must not be specified in a nested context";
        let at = Place::Key(&properties, "metadata");
        problems.add(&at, |path| FieldError::forbidden(path, detail));
    }
}

/// Returns, for each keyword that describes structure: whether it is set, its name, and the text of
/// the error.
fn structural_keywords(schema: &JSONSchemaProps) -> [(bool, &'static str, &'static str); 13] {
    const EMPTY: &str = "must be empty to be structural";
    const UNDEFINED: &str = "must be undefined to be structural";
    const FALSE: &str = "must be false to be structural";
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    let additional = adds_properties(schema.additional_properties.as_deref());
    [
        (!schema.type_.is_empty(), "type", EMPTY),
        (additional, "additionalProperties", UNDEFINED),
        (schema.default.is_some(), "default", UNDEFINED),
        (!schema.title.is_empty(), "title", EMPTY),
        (!schema.description.is_empty(), "description", EMPTY),
        (schema.nullable, "nullable", FALSE),
        (is_open, "x-kubernetes-preserve-unknown-fields", FALSE),
        (
            schema.x_kubernetes_embedded_resource,
            "x-kubernetes-embedded-resource",
            FALSE,
        ),
        (
            schema.x_kubernetes_int_or_string,
            "x-kubernetes-int-or-string",
            FALSE,
        ),
        (
            !schema.x_kubernetes_list_map_keys.is_empty(),
            "x-kubernetes-list-map-keys",
            EMPTY,
        ),
        (
            schema.x_kubernetes_list_type.is_some(),
            "x-kubernetes-list-type",
            UNDEFINED,
        ),
        (
            schema.x_kubernetes_map_type.is_some(),
            "x-kubernetes-map-type",
            UNDEFINED,
        ),
        (
            !schema.x_kubernetes_validations.is_empty(),
            "x-kubernetes-validations",
            EMPTY,
        ),
    ]
}
