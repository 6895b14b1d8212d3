//! `Descriptions`: what documents say of types and fields beside their form: facts that those who encode
//! objects do not need (defaults, values, marks), and descriptions.
//!
//! Descriptions are ours: sentences, or else facts in words, as the types of `kubist-api` have
//! them. Both files are read for the making of documents, and not held.

use serde_json::{Map, Value, json};

/// Facts, and the parameters of operations.
const FACTS: &str = include_str!("words.json");
/// Written by `cargo xtask codegen`.
const DESCRIPTIONS: &str = include_str!("descriptions.json");

const DESCRIPTION: &str = "description";
/// What is said of every object, and of every list.
const API_VERSION: &str = "The group and version in which the object is written, such as \
    `apps/v1`; of the core group the version alone.";
const KIND: &str = "The kind of the object, such as `Deployment`.";
const METADATA: &str = "Name, namespace, labels and all else that every object has.";
const LIST_METADATA: &str = "The version of the list, and how to have its next page.";
const ITEMS: &str = "The objects.";
const SPEC: &str = "What is wanted.";
const STATUS: &str = "What was found last; written by whoever carries out what is wanted.";

/// What is said of types, by their full names. The name of a field leads to what is said of it,
/// and the empty name to what is said of the type.
pub(super) struct Descriptions {
    /// Parameters of operations, by name.
    parameters: Map<String, Value>,
    /// Keys that are added to schemas.
    facts: Map<String, Value>,
    descriptions: Map<String, Value>,
}

impl Descriptions {
    /// Bytes that are read.
    pub(super) const BYTES: usize = FACTS.len() + DESCRIPTIONS.len();

    pub(super) fn read() -> Self {
        Self::of(FACTS, DESCRIPTIONS)
    }

    fn of(facts: &str, descriptions: &str) -> Self {
        let mut all: Value = serde_json::from_str(facts).unwrap_or_default();
        let mut take = |key: &str| match all.get_mut(key).map(Value::take) {
            Some(Value::Object(found)) => found,
            _ => Map::new(),
        };
        Self {
            parameters: take("parameters"),
            facts: take("schemas"),
            descriptions: serde_json::from_str(descriptions).unwrap_or_default(),
        }
    }

    /// Adds to the schema of a type what is said of it and of its fields.
    pub(super) fn add(&self, name: &str, schema: &mut Value) {
        for (field, facts) in fields(&self.facts, name) {
            if let (Some(place), Value::Object(facts)) = (place(schema, field), facts) {
                merge(facts, place);
            }
        }
        for (field, said) in fields(&self.descriptions, name) {
            if let Some(place) = place(schema, field) {
                place.insert(DESCRIPTION.to_owned(), said.clone());
            }
        }
    }

    /// A parameter of operations.
    pub(super) fn parameter(&self, name: &str) -> Value {
        self.parameters.get(name).cloned().unwrap_or_default()
    }
}

/// The fields of which something is said.
fn fields<'a>(
    all: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let said = all.get(name).and_then(Value::as_object);
    said.into_iter().flatten()
}

/// A type, or a field of it that it has.
fn place<'a>(schema: &'a mut Value, field: &str) -> Option<&'a mut Map<String, Value>> {
    if field.is_empty() {
        return schema.as_object_mut();
    }
    schema
        .get_mut("properties")?
        .get_mut(field)?
        .as_object_mut()
}

fn merge(facts: &Map<String, Value>, schema: &mut Map<String, Value>) {
    for (key, value) in facts {
        match (value, schema.get_mut(key)) {
            (Value::Object(value), Some(Value::Object(inner))) => merge(value, inner),
            _ => {
                schema.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Says of an object, or of a list of objects, what can be said of all, where nothing else is.
pub(super) fn add_common(schema: &mut Value) {
    let refers = |schema: &Value| {
        let reference = schema
            .get("$ref")
            .or_else(|| schema.pointer("/allOf/0/$ref"));
        let path = reference.and_then(Value::as_str).unwrap_or_default();
        path.rsplit(['.', '/'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let metadata = refers(&schema["properties"]["metadata"]);
    let mut said = vec![("apiVersion", API_VERSION), ("kind", KIND)];
    let mut of_type = None;
    if metadata == "ObjectMeta" {
        said.push(("metadata", METADATA));
        for (field, text) in [("spec", SPEC), ("status", STATUS)] {
            // What custom resources have is for their definitions to say.
            if !refers(&schema["properties"][field]).is_empty() {
                said.push((field, text));
            }
        }
    } else if metadata == "ListMeta" {
        said.push(("metadata", LIST_METADATA));
        let items = &schema["properties"]["items"];
        if items.is_object() {
            let kind = refers(&items["items"]);
            of_type = Some(format!("A list of objects of the kind `{kind}`."));
            said.push(("items", ITEMS));
        }
    }
    for (field, text) in said
        .into_iter()
        .chain(of_type.as_deref().map(|it| ("", it)))
    {
        if let Some(place) = place(schema, field) {
            place.entry(DESCRIPTION).or_insert_with(|| json!(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_added_to_types_fields_and_items() {
        let facts = r#"{"schemas": {"io.A": {
            "": {"x-kubernetes-map-type": "atomic"},
            "modes": {"items": {"enum": ["x"]}},
            "none": {"default": 1}
        }}}"#;
        let descriptions =
            Descriptions::of(facts, r#"{"io.A": {"": "An A.", "modes": "Its modes."}}"#);
        let before = json!({
            "type": "object",
            "properties": {
                "modes": {"type": "array", "items": {"type": "string", "default": ""}},
                "unknown": {"type": "string"},
            },
        });
        let mut schema = before.clone();
        descriptions.add("io.A", &mut schema);
        let items = json!({"type": "string", "default": "", "enum": ["x"]});
        let expected = json!({
            "type": "object",
            "description": "An A.",
            "x-kubernetes-map-type": "atomic",
            "properties": {
                "modes": {"type": "array", "items": items, "description": "Its modes."},
                "unknown": {"type": "string"},
            },
        });
        assert_eq!(schema, expected);
        let mut schema = before.clone();
        descriptions.add("io.none", &mut schema);
        assert_eq!(schema, before);
    }

    #[test]
    fn of_objects_and_lists_is_said_what_holds_for_all_where_nothing_else_is() {
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/io.v1.{name}")});
        let mut object = json!({"description": "Own.", "properties": {
            "kind": {"type": "string", "description": "Own."},
            "apiVersion": {"type": "string"},
            "metadata": {"allOf": [reference("ObjectMeta")]},
            "items": {"type": "array"},
            "spec": {"allOf": [reference("Spec")]},
            "status": {"type": "object"},
        }});
        add_common(&mut object);
        let said = |schema: &Value, field: &str| schema["properties"][field][DESCRIPTION].clone();
        assert_eq!(object[DESCRIPTION], "Own.");
        assert_eq!(said(&object, "kind"), "Own.");
        assert_eq!(said(&object, "apiVersion"), API_VERSION);
        assert_eq!(said(&object, "metadata"), METADATA);
        assert_eq!(said(&object, "spec"), SPEC);
        for none in ["items", "status"] {
            assert_eq!(said(&object, none), Value::Null, "{none}");
        }
        let mut list = json!({"properties": {
            "metadata": {"allOf": [reference("ListMeta")]},
            "items": {"type": "array", "items": reference("Pod")},
        }});
        add_common(&mut list);
        assert_eq!(list[DESCRIPTION], "A list of objects of the kind `Pod`.");
        assert_eq!(said(&list, "items"), ITEMS);
        assert_eq!(said(&list, "metadata"), LIST_METADATA);
    }

    #[test]
    fn every_parameter_is_described() {
        let descriptions = Descriptions::read();
        for (name, parameter) in &descriptions.parameters {
            let (own, _) = name.split_once('/').unwrap_or((name, ""));
            assert_eq!(parameter["name"], own);
            assert!(parameter[DESCRIPTION].is_string(), "{name}");
        }
        assert_eq!(descriptions.parameters.len(), 31);
    }

    #[test]
    fn facts_are_no_texts_and_descriptions_nothing_else() {
        let descriptions = Descriptions::read();
        assert!(descriptions.facts.len() > 300);
        for (name, fields) in &descriptions.facts {
            assert!(!fields.to_string().contains("\"description\""), "{name}");
        }
        assert!(descriptions.descriptions.len() > 50);
        for (name, said) in &descriptions.descriptions {
            // The first says who writes the file.
            let all = said.as_object().into_iter().flatten();
            assert_eq!(said.is_object(), !name.is_empty(), "{name}");
            for (field, said) in all {
                assert!(said.is_string(), "{name}.{field}");
            }
        }
    }
}
