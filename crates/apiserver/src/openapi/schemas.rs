//! Schemas of messages, from the static schemas that also encode them.

use super::descriptions::{self, Descriptions};
use kubist_apimachinery::ObjectMeta;
use kubist_apimachinery::wire::{
    Field, FieldFlags, FieldType, JsonForm, ListType, Message, Schema, Wire,
};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The path of schemas in a document.
pub(super) const PREFIX: &str = "#/components/schemas/";
/// Events are decoded by kind, and have no field for it.
const WATCH_EVENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";
/// Types that are registered in every group.
const IN_EVERY_GROUP: [&str; 2] = [
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    WATCH_EVENT,
];
const NAMES: &str = "x-kubernetes-group-version-kind";

/// Returns a reference to a schema, or the schema itself if it is not named in documents.
pub(super) fn reference(schema: &'static Schema) -> Value {
    match (schema.form, schema.fields.first()) {
        (JsonForm::Transparent, Some(field)) => typed(&field.ty),
        _ => json!({"$ref": format!("{PREFIX}{}", full_name(schema))}),
    }
}

/// Returns the name in documents. Lists are generic here and named after their items.
fn full_name(schema: &'static Schema) -> Cow<'static, str> {
    let items = schema.field("items").and_then(|items| items.ty.schema());
    match items {
        Some(item) if !schema.full_name.contains('.') => format!("{}List", item.full_name).into(),
        _ => schema.full_name.into(),
    }
}

/// Returns the schemas of `roots` and of everything they reference, by full name.
pub(super) fn reachable(
    roots: Vec<&'static Schema>,
    descriptions: &Descriptions,
) -> Map<String, Value> {
    let mut schemas: BTreeMap<Cow<'static, str>, Value> = BTreeMap::new();
    let mut pending = roots;
    while let Some(schema) = pending.pop() {
        let name = full_name(schema);
        if schemas.contains_key(&name) {
            continue;
        }
        if schema.form != JsonForm::Transparent {
            let mut described = describe(schema);
            descriptions.add(&name, &mut described);
            if described.get(NAMES).is_some() {
                descriptions::add_common(&mut described);
            }
            unwrap_references(&mut described);
            schemas.insert(name, described);
        }
        pending.extend(schema.fields.iter().filter_map(|field| field.ty.schema()));
    }
    let schemas = schemas
        .into_iter()
        .map(|(name, it)| (name.into_owned(), it));
    schemas.collect()
}

/// Adds the current group to the types that are registered in every group.
pub(super) fn register(schemas: &mut Map<String, Value>, group: &str, version: &str) {
    for name in IN_EVERY_GROUP {
        let schema = schemas.get_mut(name);
        let names = schema.and_then(|schema| schema.get_mut(NAMES)?.as_array_mut());
        if let Some(names) = names {
            let kind = name.rsplit('.').next().unwrap_or_default();
            names.push(json!({"group": group, "version": version, "kind": kind}));
        }
    }
}

/// A reference without other members is not wrapped.
fn unwrap_references(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        let only = property.as_object_mut().filter(|it| it.len() == 1);
        let all = only.and_then(|only| only.get_mut("allOf")?.as_array_mut());
        if let Some(reference) = all.and_then(Vec::pop) {
            *property = reference;
        }
    }
}

fn describe(schema: &'static Schema) -> Value {
    if let Some(known) = scalar(schema) {
        return known;
    }
    match schema.form {
        JsonForm::Object => object(schema),
        _ => json!({}),
    }
}

/// Types that are a single JSON value, or that only the published schema knows.
fn scalar(schema: &Schema) -> Option<Value> {
    let suffix = schema.full_name.strip_prefix("io.k8s.apimachinery.pkg.")?;
    Some(match suffix {
        "util.intstr.IntOrString" => json!({
            "format": "int-or-string",
            "oneOf": [{"type": "integer"}, {"type": "string"}],
        }),
        "api.resource.Quantity" => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        "apis.meta.v1.Time" | "apis.meta.v1.MicroTime" => {
            json!({"format": "date-time", "type": "string"})
        }
        "apis.meta.v1.Duration" => json!({"type": "string"}),
        "apis.meta.v1.FieldsV1" | "runtime.RawExtension" | "apis.meta.v1.Patch" => {
            json!({"type": "object"})
        }
        _ => return None,
    })
}

fn object(schema: &'static Schema) -> Value {
    let mut properties = Map::new();
    if schema.kind.is_some() && schema.full_name != WATCH_EVENT {
        properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
    }
    for field in schema.fields {
        properties.insert(field.json.to_owned(), property(field));
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    if !properties.is_empty() {
        object.insert("properties".to_owned(), Value::Object(properties));
    }
    let is_required = |field: &&Field| field.flags.has(FieldFlags::REQUIRED);
    let required = schema.fields.iter().filter(is_required);
    let required: Vec<&str> = required.map(|field| field.json).collect();
    if !required.is_empty() {
        object.insert("required".to_owned(), json!(required));
    }
    if let Some(kind) = schema.kind {
        let names = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
        object.insert(NAMES.to_owned(), json!([names]));
    }
    Value::Object(object)
}

fn property(field: &Field) -> Value {
    let mut property = match field.ty {
        FieldType::Message(schema) if schema.form != JsonForm::Transparent => {
            let mut value = json!({"allOf": [reference(schema)]});
            let pointer = field.flags.has(FieldFlags::POINTER);
            if !pointer && is_struct(schema) {
                value["default"] = json!({});
            }
            value
        }
        _ => typed(&field.ty),
    };
    extend(&mut property, field);
    property
}

/// Reports whether a type has fields in JSON.
fn is_struct(schema: &'static Schema) -> bool {
    schema.form == JsonForm::Object && scalar(schema).is_none()
}

/// Returns the schema of a list item or map value. Null is the zero value of its type.
fn element(mut schema: Value) -> Value {
    let zero = match (schema["type"].as_str(), schema.get("format")) {
        (Some("string"), None) => json!(""),
        (Some("integer"), _) => json!(0),
        (Some("boolean"), _) => json!(false),
        _ => return schema,
    };
    schema["default"] = zero;
    schema
}

/// The same for a message.
fn message_element(schema: &'static Schema) -> Value {
    if is_struct(schema) {
        json!({"allOf": [reference(schema)], "default": {}})
    } else {
        element(reference(schema))
    }
}

fn typed(ty: &FieldType) -> Value {
    let list = |items: Value| json!({"type": "array", "items": element(items)});
    let map = |values: Value| json!({"type": "object", "additionalProperties": element(values)});
    let string = || json!({"type": "string"});
    let bytes = || json!({"type": "string", "format": "byte"});
    let integer = |format: &str| json!({"type": "integer", "format": format});
    match ty {
        FieldType::Bool => json!({"type": "boolean"}),
        FieldType::I32 => integer("int32"),
        FieldType::I64 => integer("int64"),
        FieldType::F64 => json!({"type": "number", "format": "double"}),
        FieldType::Str => string(),
        FieldType::Bytes => bytes(),
        FieldType::Message(schema) => reference(schema),
        FieldType::StrList => list(string()),
        FieldType::BoolList => list(json!({"type": "boolean"})),
        FieldType::I32List => list(integer("int32")),
        FieldType::I64List => list(integer("int64")),
        FieldType::BytesList => list(bytes()),
        FieldType::MessageList(schema) => list(message_element(schema)),
        FieldType::StrMap => map(string()),
        FieldType::BytesMap => map(bytes()),
        FieldType::MessageMap(schema) => map(message_element(schema)),
    }
}

/// Adds how patches and server-side apply treat the field.
fn extend(property: &mut Value, field: &Field) {
    let mut set = |key: &str, value: Value| property[format!("x-kubernetes-{key}")] = value;
    match field.list {
        ListType::Atomic if matches!(field.ty, FieldType::StrMap | FieldType::MessageMap(_)) => {
            set("map-type", json!("atomic"));
        }
        ListType::Granular => set("map-type", json!("granular")),
        ListType::Atomic => set("list-type", json!("atomic")),
        ListType::Set => set("list-type", json!("set")),
        ListType::Map(keys) => {
            set("list-type", json!("map"));
            set("list-map-keys", json!(keys));
        }
        _ => {}
    }
    let strategies: Vec<&str> = [
        (field.merge.merge, "merge"),
        (field.merge.retain_keys, "retainKeys"),
        (field.merge.replace, "replace"),
    ]
    .into_iter()
    .filter_map(|(has, name)| has.then_some(name))
    .collect();
    if !strategies.is_empty() {
        set("patch-strategy", json!(strategies.join(",")));
    }
    if !field.merge.key.is_empty() {
        set("patch-merge-key", json!(field.merge.key));
    }
}

/// Returns the schema of a type.
pub(super) fn of<M: Message + Wire>() -> &'static Schema {
    M::SCHEMA
}

/// The fields of every object.
pub(super) fn object_fields() -> Map<String, Value> {
    let text = || json!({"type": "string"});
    let metadata = json!({"allOf": [reference(of::<ObjectMeta>())]});
    let all = [
        ("apiVersion", text()),
        ("kind", text()),
        ("metadata", metadata),
    ];
    all.map(|(name, it)| (name.to_owned(), it))
        .into_iter()
        .collect()
}
