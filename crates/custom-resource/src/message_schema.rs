//! `message_schema`: the JSON Schema of the types of Kubernetes, for specs that contain them.
//!
//! They do not implement `JsonSchema`, because the crates that have them do not depend on schemars.

use kubist_apimachinery::wire::{
    DURATION, Field, FieldFlags, FieldType, INT_OR_STRING, JsonForm, ListType, MICRO_TIME,
    ProjectionField, QUANTITY, Schema as Message, TIME,
};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Returns the schema of a type of `kubist-apimachinery` or `kubist-api`, or of an `Option`, a
/// `Vec` or a map of them, for `#[schemars(schema_with = ...)]`:
///
/// ```
/// use kubist_apimachinery::{Condition, Quantity};
/// use kubist_custom_resource::message_schema;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct FigStatus {
///     #[serde(default)]
///     #[schemars(schema_with = "message_schema::<Vec<Condition>>")]
///     conditions: Vec<Condition>,
///     #[schemars(schema_with = "message_schema::<Quantity>")]
///     weight: Quantity,
/// }
/// ```
///
/// A type within itself, as in `JSONSchemaProps`, is open.
pub fn message_schema<T: ProjectionField>(_: &mut SchemaGenerator) -> Schema {
    of_type(T::TAKES, &Outer::default())
        .try_into()
        .unwrap_or_default()
}

/// The messages around a schema, innermost first.
#[derive(Default)]
struct Outer<'a>(Option<(&'static str, &'a Self)>);

impl Outer<'_> {
    fn contains(&self, name: &str) -> bool {
        self.0
            .is_some_and(|(outer, rest)| outer == name || rest.contains(name))
    }
}

fn of_type(ty: FieldType, outer: &Outer<'_>) -> Value {
    let list = |items: Value| json!({"type": "array", "items": items});
    let map = |values: Value| json!({"type": "object", "additionalProperties": values});
    let text = || json!({"type": "string"});
    let bytes = || json!({"type": "string", "format": "byte"});
    let int = |format: &str| json!({"type": "integer", "format": format});
    match ty {
        FieldType::Bool => json!({"type": "boolean"}),
        FieldType::I32 => int("int32"),
        FieldType::I64 => int("int64"),
        FieldType::F64 => json!({"type": "number", "format": "double"}),
        FieldType::Str => text(),
        FieldType::Bytes => bytes(),
        FieldType::BoolList => list(json!({"type": "boolean"})),
        FieldType::I32List => list(int("int32")),
        FieldType::I64List => list(int("int64")),
        FieldType::StrList => list(text()),
        FieldType::BytesList => list(bytes()),
        FieldType::StrMap => map(text()),
        FieldType::BytesMap => map(bytes()),
        FieldType::Message(message) => of_message(message, outer),
        FieldType::MessageList(message) => list(of_message(message, outer)),
        FieldType::MessageMap(message) => map(of_message(message, outer)),
    }
}

fn of_message(message: &'static Message, outer: &Outer<'_>) -> Value {
    if outer.contains(message.full_name) {
        return json!(true);
    }
    let outer = &Outer(Some((message.full_name, outer)));
    let is = |other: &Message| message.full_name == other.full_name;
    match message.form {
        JsonForm::Scalar if is(&TIME) => json!({"type": "string", "format": "date-time"}),
        JsonForm::Scalar if is(&MICRO_TIME) => json!({"type": "string", "format": "date-time"}),
        JsonForm::Scalar if is(&DURATION) => json!({"type": "string"}),
        JsonForm::Scalar if is(&INT_OR_STRING) || is(&QUANTITY) => {
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})
        }
        JsonForm::Transparent => match message.fields.first() {
            Some(field) => of_type(field.ty, outer),
            None => json!(true),
        },
        JsonForm::Scalar | JsonForm::Raw | JsonForm::Union => json!(true),
        JsonForm::Object => object(message, outer),
    }
}

fn object(message: &'static Message, outer: &Outer<'_>) -> Value {
    let fields = message.fields.iter();
    let fields = fields.filter(|it| !it.flags.has(FieldFlags::PROTOBUF_ONLY));
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        if field.flags.has(FieldFlags::REQUIRED) {
            required.push(field.json);
        }
        properties.insert(field.json.to_owned(), property(field, outer));
    }
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn property(field: &Field, outer: &Outer<'_>) -> Value {
    let mut schema = of_type(field.ty, outer);
    let name = match field.list {
        ListType::Atomic => "atomic",
        ListType::Set => "set",
        ListType::Map(keys) => {
            schema["x-kubernetes-list-map-keys"] = json!(keys);
            for key in keys {
                let items = &mut schema["items"];
                let is_required = items["required"].as_array();
                let is_required = is_required.is_some_and(|it| it.iter().any(|it| it == key));
                if !is_required && items["properties"][key]["type"] == "string" {
                    items["properties"][key]["default"] = default_key(key).into();
                }
            }
            "map"
        }
        _ => return schema,
    };
    if schema["type"] == "array" {
        schema["x-kubernetes-list-type"] = name.into();
    }
    schema
}

/// Returns the default of a key of a list that may be left out. Definitions are refused without
/// one. Those of upstream's types are `TCP` for the protocol of a port, and empty for the name of
/// an image pull secret (the `+default` markers in `k8s.io/api/core/v1`).
fn default_key(key: &str) -> &'static str {
    if key == "protocol" { "TCP" } else { "" }
}
