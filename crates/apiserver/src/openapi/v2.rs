//! `/openapi/v2`: every schema in one document, as JSON or as the protobuf of gnostic.
//!
//! kubectl reads it where v3 gives no answer: to validate lists of one kind (`RoleList`), and
//! before 1.29 to validate anything. It has the schemas of v3 in v2's words, without defaults, and
//! no operations. Custom resources are not in it: definitions come and go, and whoever wants to
//! know of them asks for v3.

use super::accepted;
use crate::routes::version::API_MINOR;
use serde_json::{Map, Value, json};

/// The media type of the protobuf form, as clients ask for it and as upstream answers.
const ASKED: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const ANSWERED: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The forms of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Protobuf,
}

impl Form {
    /// The one that an Accept header prefers, if any.
    pub(super) fn of(accept: Option<&str>) -> Option<Self> {
        accepted(accept, |media_type| match media_type {
            ASKED | ANSWERED => Some(Self::Protobuf),
            "application/json" => Some(Self::Json),
            _ => None,
        })
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => ANSWERED,
        }
    }
}

/// How the document begins as JSON: its members are sorted.
const DEFINITIONS: &[u8] = b"{\"definitions\":{";

fn all_translated(schemas: &Map<String, Value>) -> Map<String, Value> {
    let all = schemas.iter();
    all.map(|(name, schema)| (name.clone(), translated(schema)))
        .collect()
}

/// A document with further schemas of v3. Those that it has stay as they are written.
pub(super) fn with_types(document: &[u8], schemas: &Map<String, Value>, form: Form) -> Vec<u8> {
    let definitions = all_translated(schemas);
    match (form, document.strip_prefix(DEFINITIONS)) {
        (Form::Json, Some(rest)) => {
            let mut text = DEFINITIONS.to_vec();
            for (name, schema) in &definitions {
                let name = Value::from(name.as_str());
                text.extend_from_slice(format!("{name}:{schema},").as_bytes());
            }
            text.extend_from_slice(rest);
            text
        }
        (Form::Json, None) => document.to_vec(),
        (Form::Protobuf, _) => {
            // A message that comes twice is one with what both have.
            let mut bytes = document.to_vec();
            let definitions = named_schemas(&definitions);
            push(number::DOCUMENT_DEFINITIONS, &definitions, &mut bytes);
            bytes
        }
    }
}

/// The document, from the schemas of v3.
pub(super) fn document(schemas: &Map<String, Value>, form: Form) -> Vec<u8> {
    let definitions = all_translated(schemas);
    match form {
        Form::Json => json!({
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": format!("1.{API_MINOR}")},
            "paths": {},
            "definitions": definitions,
        })
        .to_string()
        .into_bytes(),
        Form::Protobuf => encode(&definitions),
    }
}

/// A schema of v3 in v2's words: other paths of references, no `oneOf`, no `allOf` around one.
fn translated(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    let mut translation = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "$ref" => {
                let path = value.as_str().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default();
                translation.insert(key.clone(), json!(format!("#/definitions/{name}")));
            }
            "allOf" => {
                if let Value::Object(one) = translated(&value[0]) {
                    translation.extend(one);
                }
            }
            // Quantities, and what may be a number: v2 calls them strings, and lets them pass.
            "oneOf" => {
                translation.insert("type".to_owned(), json!("string"));
            }
            "default" => {}
            "items" | "additionalProperties" => {
                translation.insert(key.clone(), translated(value));
            }
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let properties: Map<String, Value> = properties
                    .map(|(name, property)| (name.clone(), translated(property)))
                    .collect();
                translation.insert(key.clone(), Value::Object(properties));
            }
            _ => {
                translation.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(translation)
}

/// Field numbers of gnostic's OpenAPIv2.proto.
mod number {
    pub(super) const DOCUMENT_SWAGGER: u8 = 1;
    pub(super) const DOCUMENT_INFO: u8 = 2;
    pub(super) const DOCUMENT_PATHS: u8 = 8;
    pub(super) const DOCUMENT_DEFINITIONS: u8 = 9;
    pub(super) const INFO_TITLE: u8 = 1;
    pub(super) const INFO_VERSION: u8 = 2;
    /// Of `Definitions`, `Properties`, `ItemsItem`, `AdditionalPropertiesItem` and `TypeItem`.
    pub(super) const ONLY: u8 = 1;
    /// Of `NamedSchema` and `NamedAny`.
    pub(super) const NAME: u8 = 1;
    pub(super) const VALUE: u8 = 2;
    pub(super) const ANY_YAML: u8 = 2;
    pub(super) const REFERENCE: u8 = 1;
    pub(super) const FORMAT: u8 = 2;
    pub(super) const TITLE: u8 = 3;
    pub(super) const DESCRIPTION: u8 = 4;
    pub(super) const PATTERN: u8 = 13;
    pub(super) const REQUIRED: u8 = 19;
    pub(super) const ENUM: u8 = 20;
    pub(super) const ADDITIONAL_PROPERTIES: u8 = 21;
    pub(super) const TYPE: u8 = 22;
    pub(super) const ITEMS: u8 = 23;
    pub(super) const PROPERTIES: u8 = 25;
    pub(super) const EXTENSION: u8 = 31;
    /// Of `AdditionalPropertiesItem`.
    pub(super) const BOOLEAN: u8 = 2;

    /// Doubles.
    pub(super) const SIZES: [(&str, u8); 3] = [("multipleOf", 6), ("maximum", 7), ("minimum", 9)];
    /// Integers and booleans.
    pub(super) const COUNTS: [(&str, u8); 9] = [
        ("exclusiveMaximum", 8),
        ("exclusiveMinimum", 10),
        ("maxLength", 11),
        ("minLength", 12),
        ("maxItems", 14),
        ("minItems", 15),
        ("uniqueItems", 16),
        ("maxProperties", 17),
        ("minProperties", 18),
    ];
}

fn encode(definitions: &Map<String, Value>) -> Vec<u8> {
    let mut info = Vec::new();
    push(number::INFO_TITLE, b"Kubernetes", &mut info);
    let version = format!("1.{API_MINOR}");
    push(number::INFO_VERSION, version.as_bytes(), &mut info);
    let mut document = Vec::new();
    push(number::DOCUMENT_SWAGGER, b"2.0", &mut document);
    push(number::DOCUMENT_INFO, &info, &mut document);
    push(number::DOCUMENT_PATHS, &[], &mut document);
    let definitions = named_schemas(definitions);
    push(number::DOCUMENT_DEFINITIONS, &definitions, &mut document);
    document
}

fn named_schemas(schemas: &Map<String, Value>) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, schema) in schemas {
        let named = named(name, &encode_schema(schema));
        push(number::ONLY, &named, &mut all);
    }
    all
}

fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut named = Vec::new();
    push(number::NAME, name.as_bytes(), &mut named);
    push(number::VALUE, value, &mut named);
    named
}

fn only(value: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    push(number::ONLY, value, &mut message);
    message
}

/// Any value, as YAML, which JSON is.
fn any(value: &Value) -> Vec<u8> {
    let mut message = Vec::new();
    push(number::ANY_YAML, value.to_string().as_bytes(), &mut message);
    message
}

fn encode_schema(schema: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let text = value.as_str().unwrap_or_default().as_bytes();
        match key.as_str() {
            "$ref" => push(number::REFERENCE, text, &mut out),
            "format" => push(number::FORMAT, text, &mut out),
            "title" => push(number::TITLE, text, &mut out),
            "description" => push(number::DESCRIPTION, text, &mut out),
            "pattern" => push(number::PATTERN, text, &mut out),
            "enum" => {
                for value in value.as_array().into_iter().flatten() {
                    push(number::ENUM, &any(value), &mut out);
                }
            }
            "required" => {
                for name in value.as_array().into_iter().flatten() {
                    let name = name.as_str().unwrap_or_default();
                    push(number::REQUIRED, name.as_bytes(), &mut out);
                }
            }
            "additionalProperties" => {
                let item = match value.as_bool() {
                    Some(is) => count(number::BOOLEAN, usize::from(is)),
                    None => only(&encode_schema(value)),
                };
                push(number::ADDITIONAL_PROPERTIES, &item, &mut out);
            }
            "type" => push(number::TYPE, &only(text), &mut out),
            "items" => push(number::ITEMS, &only(&encode_schema(value)), &mut out),
            "properties" => {
                let properties = value.as_object().map(named_schemas).unwrap_or_default();
                push(number::PROPERTIES, &properties, &mut out);
            }
            key => push_limit(key, value, &mut out),
        }
    }
    out
}

/// A limit of values, or what has no field of its own.
fn push_limit(key: &str, value: &Value, out: &mut Vec<u8>) {
    let number_in = |all: &[(&str, u8)]| {
        let found = all.iter().find(|(name, _)| *name == key);
        found.map(|(_, number)| *number)
    };
    if let (Some(number), Some(size)) = (number_in(&number::SIZES), value.as_f64()) {
        const FIXED_64: usize = 1;
        push_varint(usize::from(number) << 3 | FIXED_64, out);
        out.extend_from_slice(&size.to_le_bytes());
    } else if let Some(number) = number_in(&number::COUNTS) {
        let many = value.as_u64().and_then(|it| usize::try_from(it).ok());
        let many = many.unwrap_or_else(|| usize::from(value == true));
        out.extend(count(number, many));
    } else {
        push(number::EXTENSION, &named(key, &any(value)), out);
    }
}

/// A field of a whole number: its tag, and it.
fn count(number: u8, value: usize) -> Vec<u8> {
    let mut field = Vec::new();
    push_varint(usize::from(number) << 3, &mut field);
    push_varint(value, &mut field);
    field
}

/// A field of bytes: its tag, its length, and they.
fn push(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    const LENGTH_DELIMITED: usize = 2;
    push_varint(usize::from(number) << 3 | LENGTH_DELIMITED, out);
    push_varint(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn push_varint(mut value: usize, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_told_in_the_words_of_v2() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"allOf": [{"$ref": "#/components/schemas/io.A"}], "default": {}},
                "b": {"format": "int-or-string", "oneOf": [{"type": "integer"}]},
                "c": {"type": "array", "items": {"$ref": "#/components/schemas/io.C"}},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/definitions/io.A"},
                "b": {"format": "int-or-string", "type": "string"},
                "c": {"type": "array", "items": {"$ref": "#/definitions/io.C"}},
            },
        });
        assert_eq!(translated(&schema), expected);
    }

    #[test]
    fn a_schema_has_the_field_numbers_of_gnostic() {
        let schema = json!({
            "description": "d", "enum": ["e"], "items": {"format": "x"}, "type": "array", "x-k": 1,
        });
        // In the order of the keys: description (4), enum (20), items (23), type (22), extension
        // (31).
        let expected = [
            &[0x22, 1][..],
            b"d",
            &[0xa2, 0x01, 5, 0x12, 3],
            b"\"e\"",
            &[0xba, 0x01, 5, 0x0a, 3, 0x12, 1],
            b"x",
            &[0xb2, 0x01, 7, 0x0a, 5],
            b"array",
            &[0xfa, 0x01, 10, 0x0a, 3],
            b"x-k",
            &[0x12, 3, 0x12, 1],
            b"1",
        ];
        assert_eq!(encode_schema(&schema), expected.concat());
        let long = "l".repeat(300);
        assert_eq!(
            encode_schema(&json!({"format": long}))[..3],
            [0x12, 0xac, 0x02]
        );
    }

    #[test]
    fn limits_of_values_have_fields_of_their_own() {
        let schema = json!({
            "additionalProperties": true, "exclusiveMinimum": true, "maxLength": 300,
            "maximum": 1, "pattern": "p", "title": "t",
        });
        let expected = [
            &[0xaa, 0x01, 2, 0x10, 1][..],
            &[0x50, 1],
            &[0x58, 0xac, 0x02],
            &[0x39, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
            &[0x6a, 1],
            b"p",
            &[0x1a, 1],
            b"t",
        ];
        assert_eq!(encode_schema(&schema), expected.concat());
    }

    #[test]
    fn further_types_stand_beside_those_of_the_document() {
        let schema = |of: &str| json!({"type": of});
        let types = |name: &str, of: &str| Map::from_iter([(name.to_owned(), schema(of))]);
        let (one, other) = (types("a", "string"), types("b\"", "object"));
        let both = with_types(&document(&one, Form::Json), &other, Form::Json);
        let both: Value = serde_json::from_slice(&both).expect("it is JSON");
        assert_eq!(both["swagger"], "2.0");
        assert_eq!(
            both["definitions"],
            json!({"a": schema("string"), "b\"": schema("object")})
        );
        let alone = document(&one, Form::Protobuf);
        let both = with_types(&alone, &other, Form::Protobuf);
        let added = both.strip_prefix(&*alone).expect("it is the same before");
        let mut expected = Vec::new();
        let definitions = named_schemas(&other);
        push(number::DOCUMENT_DEFINITIONS, &definitions, &mut expected);
        assert_eq!(added, expected);
    }

    #[test]
    fn the_form_is_the_first_that_is_wanted_most() {
        let of = |accept: &str| Form::of(Some(accept));
        assert_eq!(Form::of(None), Some(Form::Json));
        assert_eq!(of(""), Some(Form::Json));
        assert_eq!(of("*"), Some(Form::Json));
        assert_eq!(of(ASKED), Some(Form::Protobuf));
        assert_eq!(of(&format!("{ANSWERED}, */*")), Some(Form::Protobuf));
        let first = format!("application/json;q=1, {ASKED}");
        assert_eq!(of(&first), Some(Form::Json));
        let most = format!("application/json;q=0.5, {ASKED};q=0.9");
        assert_eq!(of(&most), Some(Form::Protobuf));
        assert_eq!(of("text/html, application/*;q=0.1"), Some(Form::Json));
        for none in ["application/yaml", "nonsense", "text/*"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
