//! `Words`: what upstream's documents say of types and fields beside their form: descriptions,
//! defaults, values and marks, which the facts that encode objects do not need.
//!
//! The texts are those of Kubernetes, as its servers publish them, under the same licence as ours.
//! They are read for the making of documents, and not held.

use serde_json::{Map, Value};

const TEXT: &str = include_str!("words.json");
const DESCRIPTION: &str = "description";

/// What is said of types, by their full names. The name of a field leads to what is said of it,
/// and the empty name to what is said of the type: a number is that of a description, and an
/// object is added to the schema.
pub(super) struct Words {
    /// Parameters of operations, by name.
    parameters: Map<String, Value>,
    types: Map<String, Value>,
    texts: Vec<Value>,
}

impl Words {
    /// Bytes that are read.
    pub(super) const BYTES: usize = TEXT.len();

    pub(super) fn read() -> Self {
        let mut all: Value = serde_json::from_str(TEXT).unwrap_or_default();
        let mut take = |key: &str| match all.get_mut(key).map(Value::take) {
            Some(Value::Object(found)) => found,
            _ => Map::new(),
        };
        let (parameters, types) = (take("parameters"), take("schemas"));
        let texts = match all.get_mut("texts").map(Value::take) {
            Some(Value::Array(texts)) => texts,
            _ => Vec::new(),
        };
        Self {
            parameters,
            types,
            texts,
        }
    }

    /// Adds to the schema of a type what is said of it and of its fields.
    pub(super) fn add(&self, name: &str, schema: &mut Value) {
        let Some(Value::Object(said)) = self.types.get(name) else {
            return;
        };
        for (field, said) in said {
            let place = match field.as_str() {
                "" => Some(&mut *schema),
                field => schema
                    .get_mut("properties")
                    .and_then(|it| it.get_mut(field)),
            };
            if let Some(Value::Object(place)) = place {
                self.merge(said, place);
            }
        }
    }

    /// A parameter of operations.
    pub(super) fn parameter(&self, name: &str) -> Value {
        self.parameters.get(name).cloned().unwrap_or_default()
    }

    /// What is said of a field, as text.
    pub(super) fn of(&self, name: &str, field: &str) -> Value {
        let said = self.types.get(name).and_then(|it| it.get(field));
        said.map_or(Value::Null, |said| self.text(said))
    }

    fn merge(&self, said: &Value, schema: &mut Map<String, Value>) {
        let Value::Object(said) = said else {
            schema.insert(DESCRIPTION.to_owned(), self.text(said));
            return;
        };
        for (key, value) in said {
            match (key.as_str(), value, schema.get_mut(key)) {
                (DESCRIPTION, _, _) => {
                    schema.insert(key.clone(), self.text(value));
                }
                (_, Value::Object(_), Some(Value::Object(inner))) => self.merge(value, inner),
                _ => {
                    schema.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn text(&self, number: &Value) -> Value {
        let number = number.as_u64().and_then(|it| usize::try_from(it).ok());
        let text = number.and_then(|number| self.texts.get(number));
        text.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_is_added_to_types_fields_and_items() {
        let words = Words::read();
        assert!(words.texts.len() > 2_000 && words.types.len() > 700);
        let name = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";
        let mut schema = json!({
            "type": "object",
            "properties": {
                "accessModes": {"type": "array", "items": {"type": "string", "default": ""}},
                "unknown": {"type": "string"},
            },
        });
        words.add(name, &mut schema);
        let said = schema["description"].as_str().expect("something is said");
        assert!(said.starts_with("PersistentVolumeClaimSpec describes the common attributes"));
        let modes = &schema["properties"]["accessModes"];
        let said = modes["description"].as_str().expect("something is said");
        assert!(said.starts_with("accessModes contains the desired access modes"));
        assert_eq!(modes["items"]["default"], "");
        assert_eq!(modes["items"]["enum"][0], "ReadOnlyMany");
        assert_eq!(schema["properties"]["unknown"], json!({"type": "string"}));
        assert_eq!(schema["properties"].as_object().map(Map::len), Some(2));
        let before = schema.clone();
        words.add("io.k8s.none", &mut schema);
        assert_eq!(schema, before);
    }

    #[test]
    fn every_parameter_is_described() {
        let words = Words::read();
        for (name, parameter) in &words.parameters {
            let (own, _) = name.split_once('/').unwrap_or((name, ""));
            assert_eq!(parameter["name"], own);
            assert!(parameter["description"].is_string(), "{name}");
        }
        assert_eq!(words.parameters.len(), 31);
    }

    #[test]
    fn every_number_is_that_of_a_text() {
        fn check(words: &Words, key: &str, said: &Value) {
            match said {
                Value::Number(_) if key != "default" => {
                    assert!(words.text(said).is_string(), "{key}: {said}");
                }
                Value::Object(said) => said.iter().for_each(|(key, it)| check(words, key, it)),
                _ => {}
            }
        }
        let words = Words::read();
        for (name, said) in &words.types {
            check(&words, name, said);
        }
    }
}
