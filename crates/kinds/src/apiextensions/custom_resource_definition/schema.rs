//! Validation of a definition's structural schema: the root is an object, every field has a type,
//! and only supported keywords are used. Value validations and CEL rules are not checked, and
//! nothing enforces them.

use crate::shared::rules::Errors;
use kubist_api::apiextensions::v1::{CustomResourceValidation, JSONSchemaProps};
use kubist_apimachinery::{FieldError, FieldPath, Str};

/// The types that a value may have.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// The error for the root type if status is a subresource.
const ONLY_OBJECT: &str = "only \"object\" is allowed as the type at the root of the schema if the \
                           status subresource is enabled";

/// The types of the fields that every object has.
const OF_OBJECTS: [(&str, &str, &str); 3] = [
    ("kind", "string", "must be string"),
    ("apiVersion", "string", "must be string"),
    ("metadata", "object", "must be object"),
];
/// The maximum total size, in bytes, of the error paths that are reported for one schema. A path
/// can be as long as all property names in it, and each property can have a path.
const REPORTED_BYTES_MAX: usize = 1 << 20;

/// The level of a schema in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The location of a schema. The path is built only when an error is reported.
#[derive(Clone, Copy, Debug)]
enum At<'a> {
    Root(&'a FieldPath),
    /// In a field of the parent, optionally under a key of that field.
    Below(&'a Self, &'static str, Option<&'a str>),
}

impl At<'_> {
    fn path(self) -> FieldPath {
        match self {
            Self::Root(path) => path.clone(),
            Self::Below(above, field, None) => above.path().child(field),
            Self::Below(above, field, Some(key)) => above.path().child(field).key(key),
        }
    }
}

/// The errors found, up to the size limit.
#[derive(Debug)]
struct Found {
    errors: Errors,
    left: usize,
}

impl Found {
    fn new() -> Self {
        Self {
            errors: Vec::new(),
            left: REPORTED_BYTES_MAX,
        }
    }

    fn push(&mut self, at: At<'_>, field: &str, error: impl FnOnce(&FieldPath) -> FieldError) {
        if self.left == 0 {
            return;
        }
        let path = at.path().child(field);
        self.left = self.left.saturating_sub(path.to_string().len());
        self.errors.push(error(&path));
    }

    fn forbid(&mut self, at: At<'_>, field: &str, detail: &'static str) {
        self.push(at, field, |path| FieldError::forbidden(path, detail));
    }

    /// Reports whether a type is set. A missing type is an error.
    fn has_type(&mut self, at: At<'_>, kind: &str, detail: &'static str) -> bool {
        if kind.is_empty() {
            self.push(at, "type", |path| FieldError::required(path, detail));
        }
        !kind.is_empty()
    }

    fn wrong_type(&mut self, at: At<'_>, kind: &str, detail: &'static str) {
        self.push(at, "type", |path| FieldError::invalid(path, kind, detail));
    }

    fn one_of(&mut self, at: At<'_>, field: &str, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            self.push(at, field, |path| {
                FieldError::not_supported_text(path, value, supported)
            });
        }
    }
}

/// Checks the schema of one version or of all versions. `has_status` reports whether status is a
/// subresource.
pub(crate) fn check(
    errors: &mut Errors,
    validation: Option<&CustomResourceValidation>,
    has_status: bool,
    path: &FieldPath,
) {
    let Some(schema) = validation.and_then(|it| it.open_api_v3_schema.as_deref()) else {
        return;
    };
    let kind = schema.type_.as_str();
    if has_status && !kind.is_empty() && kind != "object" {
        let path = path.child("openAPIV3Schema.type");
        errors.push(FieldError::invalid(&path, kind, ONLY_OBJECT));
    }
    if schema.nullable {
        let path = path.child("openAPIV3Schema.nullable");
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(&path, detail));
    }
    let path = path.child("openAPIV3Schema");
    let at = At::Root(&path);
    let mut found = Found::new();
    check_structure(&mut found, schema, Level::Root, at);
    found.errors.sort_by_cached_key(ToString::to_string);
    errors.append(&mut found.errors);
    let mut found = Found::new();
    check_words(&mut found, schema, at);
    errors.append(&mut found.errors);
}

/// Checks that every field has a type, unless it may have any value.
fn check_structure(found: &mut Found, schema: &JSONSchemaProps, level: Level, at: At<'_>) {
    let kind = schema.type_.as_str();
    let items = schema.items.as_deref();
    match items.and_then(|it| it.schema.as_deref()) {
        Some(item) => check_structure(found, item, Level::Item, At::Below(&at, "items", None)),
        None if kind == "array" && items.is_none() => {
            found.push(at, "items", |path| {
                FieldError::required(path, "must be specified")
            });
        }
        None => {}
    }
    for (name, property) in &schema.properties {
        let at = At::Below(&at, "properties", Some(name));
        check_structure(found, property, Level::Field, at);
    }
    if let Some(additional) = &schema.additional_properties {
        if level == Level::Root {
            found.forbid(at, "additionalProperties", "must not be used at the root");
        }
        if let Some(schema) = &additional.schema {
            let at = At::Below(&at, "additionalProperties", None);
            check_structure(found, schema, Level::Field, at);
        }
    }
    let is_open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    if schema.x_kubernetes_embedded_resource && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        if found.has_type(at, kind, detail) {
            found.wrong_type(at, kind, detail);
        }
    } else if !is_open && !schema.x_kubernetes_int_or_string {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        found.has_type(at, kind, detail);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        found.wrong_type(at, kind, "must be object at the root");
    }
    if level == Level::Root || schema.x_kubernetes_embedded_resource {
        for (name, kind, detail) in OF_OBJECTS {
            let property = schema.properties.get(name);
            if let Some(property) = property.filter(|it| it.type_ != kind) {
                let at = At::Below(&at, "properties", Some(name));
                found.wrong_type(at, &property.type_, detail);
            }
        }
    }
}

/// Checks for keywords that are not supported, or only with certain values.
fn check_words(found: &mut Found, schema: &JSONSchemaProps, at: At<'_>) {
    let kind = schema.type_.as_str();
    if !kind.is_empty() {
        found.one_of(at, "type", kind, &TYPES);
    }
    for (is_used, name, detail) in unknown(schema) {
        if is_used {
            found.forbid(at, name, detail);
        }
    }
    for (name, property) in &schema.properties {
        check_words(found, property, At::Below(&at, "properties", Some(name)));
    }
    let items = schema.items.as_deref();
    if let Some(item) = items.and_then(|it| it.schema.as_deref()) {
        check_words(found, item, At::Below(&at, "items", None));
    }
    if schema.x_kubernetes_preserve_unknown_fields == Some(false) {
        found.push(at, "x-kubernetes-preserve-unknown-fields", |path| {
            FieldError::invalid(path, false, "must be true or undefined")
        });
    }
    let (map, list) = (
        &schema.x_kubernetes_map_type,
        &schema.x_kubernetes_list_type,
    );
    check_extension(found, kind, map.as_ref(), &OF_MAPS, at);
    check_extension(found, kind, list.as_ref(), &OF_LISTS, at);
}

/// Returns, for each unsupported keyword: whether it is used, its name, and the error text.
fn unknown(schema: &JSONSchemaProps) -> [(bool, &'static str, &'static str); 9] {
    let items = schema.items.as_deref();
    [
        (!schema.id.is_empty(), "id", "id is not supported"),
        (
            schema.additional_items.is_some(),
            "additionalItems",
            "additionalItems is not supported",
        ),
        (
            !schema.pattern_properties.is_empty(),
            "patternProperties",
            "patternProperties is not supported",
        ),
        (
            !schema.definitions.is_empty(),
            "definitions",
            "definitions is not supported",
        ),
        (
            !schema.dependencies.is_empty(),
            "dependencies",
            "dependencies is not supported",
        ),
        (schema.ref_path.is_some(), "$ref", "$ref is not supported"),
        (
            schema.type_ == "null",
            "type",
            "type cannot be set to null, use nullable as an alternative",
        ),
        (
            items.is_some_and(|it| !it.json_schemas.is_empty()),
            "items",
            "items must be a schema object and not an array",
        ),
        (
            schema.unique_items,
            "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
    ]
}

/// An extension that applies to one type.
struct Extension {
    name: &'static str,
    kind: &'static str,
    detail: &'static str,
    values: &'static [&'static str],
}

const OF_MAPS: Extension = Extension {
    name: "x-kubernetes-map-type",
    kind: "object",
    detail: "must be object if x-kubernetes-map-type is specified",
    values: &["atomic", "granular"],
};
const OF_LISTS: Extension = Extension {
    name: "x-kubernetes-list-type",
    kind: "array",
    detail: "must be array if x-kubernetes-list-type is specified",
    values: &["atomic", "set", "map"],
};

fn check_extension(
    found: &mut Found,
    kind: &str,
    value: Option<&Str>,
    extension: &Extension,
    at: At<'_>,
) {
    let Some(value) = value else {
        return;
    };
    if kind != extension.kind && found.has_type(at, kind, extension.detail) {
        found.wrong_type(at, kind, extension.detail);
    }
    found.one_of(at, extension.name, value, extension.values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{DecodeContext, Wire};

    fn problems(json: &str, has_status: bool) -> Vec<String> {
        let schema = JSONSchemaProps::from_json(json.as_bytes(), &mut DecodeContext::new());
        let validation = CustomResourceValidation {
            open_api_v3_schema: Some(Box::new(schema.expect("it is a schema"))),
        };
        let mut errors = Vec::new();
        check(
            &mut errors,
            Some(&validation),
            has_status,
            &FieldPath::new("s"),
        );
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_schema_is_an_object_and_says_the_type_of_everything() {
        for fine in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},
                "b":{"x-kubernetes-int-or-string":true},
                "c":{"x-kubernetes-preserve-unknown-fields":true}}}"#,
        ] {
            assert_eq!(problems(fine, true), [""; 0], "{fine}");
        }
        assert_eq!(
            problems("{}", true),
            ["s.openAPIV3Schema.type: Required value: must not be empty at the root"]
        );
        let of_fields = r#"{"type":"object","properties":{"b":{},"a":{"type":"array"},
            "c":{"type":"array","items":{}}}}"#;
        let path = "s.openAPIV3Schema.properties";
        assert_eq!(
            problems(of_fields, false),
            [
                format!("{path}[a].items: Required value: must be specified"),
                format!(
                    "{path}[b].type: Required value: must not be empty for specified object fields"
                ),
                format!(
                    "{path}[c].items.type: Required value: must not be empty for specified array \
                     items"
                ),
            ]
        );
    }

    #[test]
    fn a_root_that_is_no_object_is_reported_by_each_rule() {
        assert_eq!(
            problems(r#"{"type":"odd","nullable":true}"#, true),
            [
                "s.openAPIV3Schema.type: Invalid value: \"odd\": only \"object\" is allowed as the \
                 type at the root of the schema if the status subresource is enabled",
                "s.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root",
                "s.openAPIV3Schema.type: Invalid value: \"odd\": must be object at the root",
                "s.openAPIV3Schema.type: Unsupported value: \"odd\": supported values: \"array\", \
                 \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
            ]
        );
    }

    #[test]
    fn what_no_schema_may_use_is_forbidden() {
        let odd = r##"{"type":"object","id":"a","$ref":"#/a","uniqueItems":true,
            "x-kubernetes-preserve-unknown-fields":false,"x-kubernetes-list-type":"odd"}"##;
        let found = problems(odd, false);
        let fields: Vec<&str> = found
            .iter()
            .filter_map(|it| it.split(':').next()?.strip_prefix("s.openAPIV3Schema."))
            .collect();
        let expected = [
            "id",
            "$ref",
            "uniqueItems",
            "x-kubernetes-preserve-unknown-fields",
            "type",
            "x-kubernetes-list-type",
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn long_names_of_many_properties_are_reported_within_a_limit() {
        let inner: Vec<String> = (0..5_000).map(|it| format!("\"p{it}\":{{}}")).collect();
        let name = "n".repeat(1 << 19);
        let schema = format!(
            r#"{{"type":"object","properties":{{"{name}":{{"type":"object","properties":{{{}}}}}}}}}"#,
            inner.join(",")
        );
        assert!((1..4).contains(&problems(&schema, false).len()));
    }
}
