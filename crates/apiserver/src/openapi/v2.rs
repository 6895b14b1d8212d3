//! `/openapi/v2`: every schema in one document, as JSON or in the protobuf form of gnostic.
//!
//! kubectl falls back to it where v3 is not enough: to validate lists of one kind (`RoleList`), and
//! before 1.29 to validate anything. It has the schemas of v3 in the syntax of v2, without defaults
//! and without operations. Custom resources are in v3 only, because definitions come and go.

mod gnostic;

use super::accepted;
use crate::version::API_MINOR;
use serde_json::{Map, Value, json};

/// The media type of the protobuf format, as clients request it and as upstream responds.
const REQUEST_MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

const RESPONSE_MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The formats of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Protobuf,
}

impl Form {
    /// Returns the format that an Accept header prefers, if any.
    pub(super) fn of(accept: Option<&str>) -> Option<Self> {
        accepted(accept, |media_type| match media_type {
            REQUEST_MEDIA_TYPE | RESPONSE_MEDIA_TYPE => Some(Self::Protobuf),
            "application/json" => Some(Self::Json),
            _ => None,
        })
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => RESPONSE_MEDIA_TYPE,
        }
    }
}

/// The beginning of the document as JSON: members are sorted.
const DEFINITIONS: &[u8] = b"{\"definitions\":{";

fn all_translated(schemas: &Map<String, Value>) -> Map<String, Value> {
    let all = schemas.iter();
    all.map(|(name, schema)| (name.clone(), translated(schema)))
        .collect()
}

/// Adds v3 schemas to a document, whose own schemas stay as they are encoded.
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
            let mut bytes = document.to_vec();
            gnostic::append(&mut bytes, &definitions);
            bytes
        }
    }
}

/// Builds the document from the schemas of v3.
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
        Form::Protobuf => gnostic::encode(&definitions),
    }
}

/// Translates a v3 schema to v2: other reference paths, no `oneOf`, no `allOf` around a reference.
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
            // Quantities and int-or-string: v2 documents them as strings, and clients accept both.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_translated_to_v2() {
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
    fn types_are_added_to_a_document() {
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
        gnostic::append(&mut expected, &other);
        assert_eq!(added, expected);
    }

    #[test]
    fn the_format_is_the_most_preferred_one() {
        let of = |accept: &str| Form::of(Some(accept));
        assert_eq!(Form::of(None), Some(Form::Json));
        assert_eq!(of(""), Some(Form::Json));
        assert_eq!(of("*"), Some(Form::Json));
        assert_eq!(of(REQUEST_MEDIA_TYPE), Some(Form::Protobuf));
        assert_eq!(
            of(&format!("{RESPONSE_MEDIA_TYPE}, */*")),
            Some(Form::Protobuf)
        );
        let first = format!("application/json;q=1, {REQUEST_MEDIA_TYPE}");
        assert_eq!(of(&first), Some(Form::Json));
        let most = format!("application/json;q=0.5, {REQUEST_MEDIA_TYPE};q=0.9");
        assert_eq!(of(&most), Some(Form::Protobuf));
        assert_eq!(of("text/html, application/*;q=0.1"), Some(Form::Json));
        for none in ["application/yaml", "nonsense", "text/*"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
