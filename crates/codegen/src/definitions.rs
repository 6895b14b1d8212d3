//! Reads definitions from YAML or JSON. Other objects beside them are skipped.

use crate::ReadError;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_codec::yaml::{self, YamlError};
use serde_json::Value;

const KIND: &str = "CustomResourceDefinition";
const GROUP: &str = "apiextensions.k8s.io/";
const API_VERSION: &str = "apiextensions.k8s.io/v1";

/// Returns the definitions in YAML (also several documents) or JSON, and in lists within.
///
/// # Errors
/// The text is neither, or a definition is malformed or of an old version.
pub fn read_definitions(text: &[u8]) -> Result<Vec<CustomResourceDefinition>, ReadError> {
    let mut found = Vec::new();
    if let Some(documents) = json(text) {
        for value in documents {
            collect(value, 1, &mut found)?;
        }
        return Ok(found);
    }
    let documents = yaml::parse_all(text).map_err(|error| syntax(&error))?;
    for document in documents {
        collect(document.value, document.line, &mut found)?;
    }
    Ok(found)
}

/// Returns JSON documents. YAML's parser reads most of them, too, but not all characters, and is
/// slower.
fn json(text: &[u8]) -> Option<Vec<Value>> {
    if !text.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let documents = serde_json::Deserializer::from_slice(text).into_iter();
    documents.collect::<Result<_, _>>().ok()
}

fn syntax(error: &YamlError) -> ReadError {
    ReadError::Syntax {
        line: error.line,
        column: error.column,
        reason: error.kind.to_string(),
    }
}

fn collect(
    value: Value,
    line: usize,
    found: &mut Vec<CustomResourceDefinition>,
) -> Result<(), ReadError> {
    let text = |name: &str| {
        let found = value.get(name).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    match kind.as_str() {
        KIND if api_version == API_VERSION => {
            let json = value.to_string();
            let cx = &mut DecodeContext::new();
            let definition = CustomResourceDefinition::from_json(json.as_bytes(), cx);
            found.push(definition.map_err(|error| ReadError::Invalid {
                line,
                reason: error.to_string(),
            })?);
        }
        KIND if api_version.starts_with(GROUP) => {
            return Err(ReadError::Version { line, api_version });
        }
        "List" | "CustomResourceDefinitionList" => {
            let mut value = value;
            let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) else {
                return Ok(());
            };
            for mut item in items {
                complete(&mut item, &kind);
                collect(item, line, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Items of a typed list need not say their kind.
fn complete(item: &mut Value, list_kind: &str) {
    if let (Value::Object(map), "CustomResourceDefinitionList") = (item, list_kind) {
        let defaults = [("apiVersion", API_VERSION), ("kind", KIND)];
        for (name, value) in defaults {
            map.entry(name).or_insert_with(|| value.into());
        }
    }
}
