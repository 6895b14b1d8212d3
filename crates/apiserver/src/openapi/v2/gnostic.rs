//! The protobuf encoding of an OpenAPI v2 document, as gnostic defines it.

use crate::version::API_MINOR;
use kubist_apimachinery::wire::{push_delimited, push_varint};
use serde_json::{Map, Value};

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

    /// Fields of type double.
    pub(super) const SIZES: [(&str, u8); 3] = [("multipleOf", 6), ("maximum", 7), ("minimum", 9)];
    /// Fields of integers and booleans.
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

pub(super) fn encode(definitions: &Map<String, Value>) -> Vec<u8> {
    let mut info = Vec::new();
    push(number::INFO_TITLE, b"Kubernetes", &mut info);
    let version = format!("1.{API_MINOR}");
    push(number::INFO_VERSION, version.as_bytes(), &mut info);
    let mut document = Vec::new();
    push(number::DOCUMENT_SWAGGER, b"2.0", &mut document);
    push(number::DOCUMENT_INFO, &info, &mut document);
    push(number::DOCUMENT_PATHS, &[], &mut document);
    append(&mut document, definitions);
    document
}

/// Appends further definitions to an encoded document: protobuf merges a message field that occurs
/// twice.
pub(super) fn append(document: &mut Vec<u8>, definitions: &Map<String, Value>) {
    let definitions = named_schemas(definitions);
    push(number::DOCUMENT_DEFINITIONS, &definitions, document);
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

/// Encodes a value as `Any`, whose YAML text may be JSON.
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

/// Writes a validation keyword, or a key without a field of its own as an extension.
fn push_limit(key: &str, value: &Value, out: &mut Vec<u8>) {
    let number_in = |all: &[(&str, u8)]| {
        let found = all.iter().find(|(name, _)| *name == key);
        found.map(|(_, number)| *number)
    };
    if let (Some(number), Some(size)) = (number_in(&number::SIZES), value.as_f64()) {
        const FIXED_64: u64 = 1;
        push_varint(u64::from(number) << 3 | FIXED_64, out);
        out.extend_from_slice(&size.to_le_bytes());
    } else if let Some(number) = number_in(&number::COUNTS) {
        let many = value.as_u64().and_then(|it| usize::try_from(it).ok());
        let many = many.unwrap_or_else(|| usize::from(value == true));
        out.extend(count(number, many));
    } else {
        push(number::EXTENSION, &named(key, &any(value)), out);
    }
}

/// Returns an integer field: its tag and its value.
fn count(number: u8, value: usize) -> Vec<u8> {
    let mut field = Vec::new();
    push_varint(u64::from(number) << 3, &mut field);
    push_varint(value as u64, &mut field);
    field
}

/// Appends a length-delimited field.
fn push(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    push_delimited(number.into(), bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
