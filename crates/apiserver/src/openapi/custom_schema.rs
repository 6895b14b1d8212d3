//! Schemas of custom resource definitions: completed for v3, reduced for v2.
//!
//! v2 has no null and no alternatives, and kubectl treats fields that it does not know as unknown.
//! So v2 omits the details of values that may be null or have unknown fields.

use super::descriptions;
use super::schemas::object_fields;
use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

const ANY_FIELDS: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// Completes a schema for v3: the fields of embedded objects, and the types of int-or-string.
pub(super) fn complete(schema: &mut Schema) {
    if is(schema, INT_OR_STRING) && !schema.contains_key("anyOf") && !has_inner_types(schema) {
        let types = json!([{"type": "integer"}, {"type": "string"}]);
        schema.insert("anyOf".to_owned(), types);
    }
    each_below(schema, &mut complete);
    if is(schema, EMBEDDED) {
        embed(schema);
    }
}

/// Returns the v2 schema of a definition's objects; `None` if their fields cannot be described.
pub(super) fn old(mut schema: Schema) -> Option<Schema> {
    if schema.is_empty() || is(&schema, ANY_FIELDS) {
        return None;
    }
    reduce(&mut schema);
    Some(schema)
}

fn reduce(schema: &mut Schema) {
    for key in ["allOf", "oneOf", "anyOf", "not"] {
        schema.remove(key);
    }
    let (any_fields, nullable) = (is(schema, ANY_FIELDS), is(schema, "nullable"));
    schema.remove("nullable");
    if any_fields || nullable {
        schema.remove("items");
        schema.remove("properties");
    }
    let untyped = match schema.get("type").and_then(Value::as_str) {
        Some("array") => !schema.contains_key("items"),
        Some("object") => any_fields,
        _ => false,
    };
    if nullable || untyped {
        schema.remove("type");
    }
    drop_nullable_from_required(schema);
    each_below(schema, &mut reduce);
    if is(schema, EMBEDDED) && !any_fields {
        embed(schema);
    }
}

/// A nullable field is not required: v2 cannot express the difference.
fn drop_nullable_from_required(schema: &mut Schema) {
    let may_be_null = |value: &Value| value["nullable"] == true;
    let required = match schema.remove("required") {
        Some(Value::Array(names))
            if !schema.get("additionalProperties").is_some_and(may_be_null) =>
        {
            names
        }
        _ => return,
    };
    let properties = schema.get("properties");
    let stays = |name: &Value| {
        let property = name.as_str().and_then(|name| properties?.get(name));
        !property.is_some_and(may_be_null)
    };
    let required: Vec<Value> = required.into_iter().filter(stays).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
}

/// The fields of every embedded object.
fn embed(schema: &mut Schema) {
    let mut general = json!({"properties": object_fields()});
    descriptions::add_common(&mut general);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    for (field, property) in general["properties"].as_object().into_iter().flatten() {
        properties[field] = property.clone();
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        for field in ["kind", "apiVersion"] {
            if !required.iter().any(|it| it == field) {
                required.push(field.into());
            }
        }
    }
}

/// Applies a function to the direct subschemas.
fn each_below(schema: &mut Schema, act: &mut dyn FnMut(&mut Schema)) {
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(below)) = schema.get_mut(key) {
            act(below);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for below in properties.values_mut().filter_map(Value::as_object_mut) {
            act(below);
        }
    }
}

fn is(schema: &Schema, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

/// Reports whether the type alternatives are a level deeper, which upstream accepts as well.
fn has_inner_types(schema: &Schema) -> bool {
    let all = schema.get("allOf").and_then(Value::as_array);
    all.is_some_and(|all| all.iter().any(|it| it.get("anyOf").is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let text = json!({"type": "string"});
        let properties = json!({
            "nul": {"type": "object", "nullable": true, "properties": {"a": text}},
            "n": {"type": "number", "nullable": true},
            "s": {"type": "string", "maxLength": 5, "enum": ["a"]},
            "either": {"x-kubernetes-int-or-string": true},
            "said": {"anyOf": [{"type": "integer"}], "x-kubernetes-int-or-string": true},
            "any": {
                "type": "object", "properties": {"a": text},
                "x-kubernetes-preserve-unknown-fields": true,
            },
            "list": {"type": "array", "items": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
            "map": {"type": "object", "required": ["x"], "additionalProperties": {
                "type": "string", "nullable": true,
            }},
            "one": {"type": "object", "oneOf": [{"required": ["a"]}], "not": {}, "properties": {
                "a": text,
            }},
            "object": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
                "spec": text,
            }},
        });
        let schema = json!({
            "type": "object", "required": ["n", "nul", "s"], "properties": properties,
        });
        schema.as_object().expect("it is one").clone()
    }

    #[test]
    fn v2_omits_nullable_values_and_unknown_fields() {
        let old = Value::Object(old(schema()).expect("something is said"));
        assert_eq!(old["required"], json!(["s"]));
        let properties = &old["properties"];
        for (name, expected) in [
            ("nul", json!({})),
            ("n", json!({})),
            (
                "s",
                json!({"type": "string", "maxLength": 5, "enum": ["a"]}),
            ),
            ("either", json!({"x-kubernetes-int-or-string": true})),
            ("said", json!({"x-kubernetes-int-or-string": true})),
            ("any", json!({"x-kubernetes-preserve-unknown-fields": true})),
            (
                "list",
                json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}),
            ),
            ("map", json!({"type": "object", "additionalProperties": {}})),
            (
                "one",
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            ),
        ] {
            assert_eq!(properties[name], expected, "{name}");
        }
        let object = &properties["object"];
        assert_eq!(object["required"], json!(["kind", "apiVersion"]));
        assert_eq!(object["properties"]["spec"], json!({"type": "string"}));
        let metadata = &object["properties"]["metadata"];
        assert_eq!(metadata["allOf"], object_fields()["metadata"]["allOf"]);
        assert!(metadata["description"].is_string());
    }

    #[test]
    fn v2_has_no_fields_for_objects_with_unknown_fields() {
        let mut free = schema();
        free.insert(ANY_FIELDS.to_owned(), Value::Bool(true));
        assert_eq!(old(free), None);
        assert_eq!(old(Schema::new()), None);
    }

    #[test]
    fn v3_completes_embedded_objects_and_int_or_string() {
        let mut completed = schema();
        complete(&mut completed);
        let (before, completed) = (Value::Object(schema()), Value::Object(completed));
        let types = json!([{"type": "integer"}, {"type": "string"}]);
        assert_eq!(completed["properties"]["either"]["anyOf"], types);
        let said = &completed["properties"]["said"];
        assert_eq!(*said, before["properties"]["said"]);
        let object = &completed["properties"]["object"];
        assert_eq!(object["properties"]["kind"]["type"], "string");
        assert_eq!(object["required"], json!(["kind", "apiVersion"]));
        assert_eq!(completed["required"], before["required"]);
    }
}
