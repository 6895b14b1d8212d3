//! A schema as upstream's messages show it: its internal form, with the names of Go.

use crate::convert::parse;
use crate::go_value::{float_json, json_text, raw};
use kubist_api::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool, JSONSchemaPropsOrStringArray,
    ValidationRule,
};
use kubist_apimachinery::{BadValue, RawJson, Str};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns a schema.
pub(super) fn internal_form(schema: &JSONSchemaProps) -> BadValue {
    raw(schema_text(schema))
}

/// Returns the schema or the schemas of items.
pub(super) fn internal_items(items: &JSONSchemaPropsOrArray) -> BadValue {
    raw(items_text(items))
}

/// Returns a CEL rule.
pub(super) fn internal_rule(rule: &ValidationRule) -> BadValue {
    raw(rule_text(rule))
}

fn schema_text(it: &JSONSchemaProps) -> String {
    let int = |it: Option<i64>| optional(it.as_ref(), ToString::to_string);
    let float = |it: Option<f64>| optional(it.as_ref(), |it| float_json(*it));
    let mut members = vec![
        ("ID", text(&it.id)),
        ("Schema", text(&it.schema)),
        ("Ref", optional(it.ref_path.as_ref(), text)),
        ("Description", text(&it.description)),
        ("Type", text(&it.type_)),
        ("Nullable", it.nullable.to_string()),
        ("Format", text(&it.format)),
        ("Title", text(&it.title)),
        ("Default", optional(it.default.as_ref(), json)),
        ("Maximum", float(it.maximum)),
        ("ExclusiveMaximum", it.exclusive_maximum.to_string()),
        ("Minimum", float(it.minimum)),
        ("ExclusiveMinimum", it.exclusive_minimum.to_string()),
        ("MaxLength", int(it.max_length)),
        ("MinLength", int(it.min_length)),
        ("Pattern", text(&it.pattern)),
        ("MaxItems", int(it.max_items)),
        ("MinItems", int(it.min_items)),
        ("UniqueItems", it.unique_items.to_string()),
        ("MultipleOf", float(it.multiple_of)),
        ("Enum", list(&it.enum_, json)),
        ("MaxProperties", int(it.max_properties)),
        ("MinProperties", int(it.min_properties)),
        ("Required", list(&it.required, text)),
    ];
    members.extend(structure(it));
    object(&members)
}

/// Returns the members about structure, from `Items` on.
fn structure(it: &JSONSchemaProps) -> Vec<(&'static str, String)> {
    let or_bool = |it: &Option<Box<JSONSchemaPropsOrBool>>| optional(it.as_deref(), bool_text);
    let docs = optional(it.external_docs.as_deref(), |it| {
        object(&[
            ("Description", text(&it.description)),
            ("URL", text(&it.url)),
        ])
    });
    let is_open = it.x_kubernetes_preserve_unknown_fields.as_ref();
    vec![
        ("Items", optional(it.items.as_deref(), items_text)),
        ("AllOf", list(&it.all_of, schema_text)),
        ("OneOf", list(&it.one_of, schema_text)),
        ("AnyOf", list(&it.any_of, schema_text)),
        ("Not", optional(it.not.as_deref(), schema_text)),
        ("Properties", map(&it.properties, |it| schema_text(it))),
        ("AdditionalProperties", or_bool(&it.additional_properties)),
        (
            "PatternProperties",
            map(&it.pattern_properties, |it| schema_text(it)),
        ),
        ("Dependencies", map(&it.dependencies, dependency_text)),
        ("AdditionalItems", or_bool(&it.additional_items)),
        ("Definitions", map(&it.definitions, |it| schema_text(it))),
        ("ExternalDocs", docs),
        ("Example", optional(it.example.as_ref(), json)),
        (
            "XPreserveUnknownFields",
            optional(is_open, ToString::to_string),
        ),
        (
            "XEmbeddedResource",
            it.x_kubernetes_embedded_resource.to_string(),
        ),
        ("XIntOrString", it.x_kubernetes_int_or_string.to_string()),
        ("XListMapKeys", list(&it.x_kubernetes_list_map_keys, text)),
        (
            "XListType",
            optional(it.x_kubernetes_list_type.as_ref(), text),
        ),
        (
            "XMapType",
            optional(it.x_kubernetes_map_type.as_ref(), text),
        ),
        (
            "XValidations",
            list(&it.x_kubernetes_validations, rule_text),
        ),
    ]
}

fn items_text(it: &JSONSchemaPropsOrArray) -> String {
    let schemas = if it.schema.is_none() && it.json_schemas.is_empty() {
        "[]".to_owned()
    } else {
        list(&it.json_schemas, schema_text)
    };
    object(&[
        ("Schema", optional(it.schema.as_deref(), schema_text)),
        ("JSONSchemas", schemas),
    ])
}

fn bool_text(it: &JSONSchemaPropsOrBool) -> String {
    object(&[
        ("Allows", it.allows.to_string()),
        ("Schema", optional(it.schema.as_deref(), schema_text)),
    ])
}

fn dependency_text(it: &JSONSchemaPropsOrStringArray) -> String {
    object(&[
        ("Schema", optional(it.schema.as_deref(), schema_text)),
        ("Property", list(&it.property, text)),
    ])
}

fn rule_text(it: &ValidationRule) -> String {
    object(&[
        ("Rule", text(&it.rule)),
        ("Message", text(&it.message)),
        ("MessageExpression", text(&it.message_expression)),
        ("Reason", optional(it.reason.as_ref(), text)),
        ("FieldPath", text(&it.field_path)),
        (
            "OptionalOldSelf",
            optional(it.optional_old_self.as_ref(), ToString::to_string),
        ),
    ])
}

fn json(raw: &RawJson) -> String {
    json_text(&parse(raw).unwrap_or_default())
}

fn text(text: &Str) -> String {
    Value::from(text.as_str()).to_string()
}

fn optional<T: ?Sized>(it: Option<&T>, write: impl FnOnce(&T) -> String) -> String {
    it.map_or_else(|| "null".to_owned(), write)
}

fn list<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return "null".to_owned();
    }
    let items: Vec<String> = items.iter().map(write).collect();
    format!("[{}]", items.join(","))
}

fn map<T>(members: &BTreeMap<Str, T>, write: impl Fn(&T) -> String) -> String {
    if members.is_empty() {
        return "null".to_owned();
    }
    let members = members.iter();
    let members: Vec<String> = members
        .map(|(name, it)| format!("{}:{}", text(name), write(it)))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn object(members: &[(&str, String)]) -> String {
    let members = members.iter();
    let members: Vec<String> = members
        .map(|(name, it)| format!("\"{name}\":{it}"))
        .collect();
    format!("{{{}}}", members.join(","))
}
