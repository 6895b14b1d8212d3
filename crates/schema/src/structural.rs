//! The conditions of a structural schema, with upstream's errors.
//!
//! They are checked on the schema of the definition, which has all keywords; it must convert.

mod completeness;
mod nested;

use crate::convert::ConvertError;
use crate::pattern;
use crate::place::{Place, Problems};
use crate::props::is_too_deep;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::{FieldError, FieldPath};

/// The level of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns why a schema is not structural, in the order of the texts. Keywords that no schema may
/// have are not looked at: [`Schema::convert`](crate::Schema::convert) refuses them.
pub fn check_structural(schema: &JSONSchemaProps, path: &FieldPath) -> Vec<FieldError> {
    if is_too_deep(schema) {
        let detail = ConvertError::TooDeep.to_string();
        return vec![FieldError::invalid(path, "", detail)];
    }
    let mut problems = Problems::default();
    let at = Place::Root(path);
    check(&mut problems, schema, Level::Root, &at);
    completeness::check(&mut problems, schema, &at);
    let mut errors = problems.into_list();
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

/// Returns the schema of the items.
fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    schema.items.as_deref()?.schema.as_deref()
}

fn check(problems: &mut Problems, schema: &JSONSchemaProps, level: Level, at: &Place<'_>) {
    let kind = schema.type_.as_str();
    if kind == "array" && items(schema).is_none() {
        problems.require(at, "items", "must be specified");
    }
    if let Some(items) = items(schema) {
        check(problems, items, Level::Item, &Place::Child(at, "items"));
    }
    let properties = Place::Child(at, "properties");
    for (name, property) in &schema.properties {
        check(
            problems,
            property,
            Level::Field,
            &Place::Key(&properties, name),
        );
    }
    if let Some(additional) = schema.additional_properties.as_deref() {
        if level == Level::Root {
            problems.forbid(at, "additionalProperties", "must not be used at the root");
        }
        if let Some(schema) = additional.schema.as_deref() {
            let at = Place::Child(at, "additionalProperties");
            check(problems, schema, Level::Field, &at);
        }
    }
    check_extensions(problems, schema, at);
    let skips = nested::int_or_string_patterns(schema);
    nested::check_values(problems, schema, skips, at);
    check_type(problems, schema, level, at);
    check_metadata(problems, schema, level, at);
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    if schema.x_kubernetes_embedded_resource && !is_open && schema.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        problems.require(at, "properties", detail);
    }
}

fn check_extensions(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    if !schema.x_kubernetes_int_or_string {
        return;
    }
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    for (is_set, name) in [
        (is_open, "x-kubernetes-preserve-unknown-fields"),
        (
            schema.x_kubernetes_embedded_resource,
            "x-kubernetes-embedded-resource",
        ),
    ] {
        if is_set {
            problems.add_child(at, name, |path| {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                FieldError::invalid(path, true, detail)
            });
        }
    }
}

fn check_type(problems: &mut Problems, schema: &JSONSchemaProps, level: Level, at: &Place<'_>) {
    let kind = schema.type_.as_str();
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    let wrong = |problems: &mut Problems, detail: &'static str| {
        problems.add_child(at, "type", |path| FieldError::invalid(path, kind, detail));
    };
    if schema.x_kubernetes_embedded_resource && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        if kind.is_empty() {
            problems.require(at, "type", detail);
        } else {
            wrong(problems, detail);
        }
    } else if kind.is_empty() && !schema.x_kubernetes_int_or_string && !is_open {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        problems.require(at, "type", detail);
    }
    if schema.x_kubernetes_embedded_resource && schema.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        problems.forbid(at, "additionalProperties", detail);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        wrong(problems, "must be object at the root");
    }
}

/// Checks the schemas of the fields that every object has.
fn check_metadata(problems: &mut Problems, schema: &JSONSchemaProps, level: Level, at: &Place<'_>) {
    let is_resource = level == Level::Root || schema.x_kubernetes_embedded_resource;
    let properties = Place::Child(at, "properties");
    for (name, kind, detail) in [
        ("kind", "string", "must be string"),
        ("apiVersion", "string", "must be string"),
        ("metadata", "object", "must be object"),
    ] {
        let Some(property) = schema.properties.get(name).filter(|_| is_resource) else {
            continue;
        };
        if property.type_ != kind {
            let at = Place::Key(&properties, name);
            problems.add_child(&at, "type", |path| {
                FieldError::invalid(path, &property.type_, detail)
            });
        }
    }
    if level == Level::Root
        && let Some(metadata) = schema.properties.get("metadata")
        && !restricts_names_only(metadata)
    {
        problems.add(&Place::Key(&properties, "metadata"), |path| {
            let detail = "must not specify anything other than name and generateName, but \
                          metadata is implicitly specified";
            FieldError::forbidden(path, detail)
        });
    }
}

fn restricts_names_only(metadata: &JSONSchemaProps) -> bool {
    let mut rest = metadata.clone();
    let is_name = |name: &str| matches!(name, "name" | "generateName");
    if rest.properties.keys().all(|it| is_name(it)) {
        rest.properties.clear();
    }
    if items(metadata).is_none() {
        // An empty list of schemas says nothing.
        rest.items = None;
    }
    rest.type_ = "".into();
    rest.default = None;
    rest == JSONSchemaProps::default()
}

/// Checks that an expression compiles.
fn check_pattern(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    let text = &schema.pattern;
    if text.is_empty() {
        return;
    }
    if let Err(error) = pattern::compile(text) {
        problems.add_child(at, "pattern", |path| {
            let detail = format!("must be a valid regular expression, but isn't: {error}");
            FieldError::invalid(path, text, detail)
        });
    }
}
