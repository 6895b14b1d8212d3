//! `CustomVersion`: what field ownership needs of a version of a definition.

use kubist_api::apiextensions::v1::{CustomResourceDefinitionVersion, JSONSchemaProps};
use kubist_apimachinery::wire::to_json_value;
use kubist_field_manager::schema::Schema;
use kubist_field_manager::{ObjectType, PathElement};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A version of a definition.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// The schema as JSON, without what ownership does not depend on: decoded, it would take fifty
    /// times as much memory.
    schema: Option<Box<[u8]>>,
    made: OnceLock<ObjectType>,
    /// The path of the replicas, if the version has a scale.
    replicas: Option<Vec<PathElement>>,
}

impl CustomVersion {
    /// Creates a version whose scale, if it has one, sets the replicas at this path.
    pub(crate) fn new(
        version: &CustomResourceDefinitionVersion,
        replicas: Option<Vec<PathElement>>,
    ) -> Self {
        let schema = version.schema.as_deref();
        let schema = schema.and_then(|it| it.open_api_v3_schema.as_deref());
        Self {
            schema: schema.map(outline),
            made: OnceLock::new(),
            replicas,
        }
    }

    /// Returns the type of the objects. The schema is converted once.
    pub(crate) fn object_type(&self) -> &ObjectType {
        self.made.get_or_init(|| {
            let schema = self.schema.as_deref();
            let schema: Option<Value> = schema.and_then(|it| serde_json::from_slice(it).ok());
            let (schema, root) = Schema::from_json_schema(schema.as_ref());
            ObjectType {
                schema: Arc::new(schema),
                root,
            }
        })
    }

    pub(crate) fn replicas(&self) -> Option<&[PathElement]> {
        self.replicas.as_deref()
    }
}

/// The keywords of a schema that ownership does not depend on.
const OMITTED: [&str; 6] = [
    "description",
    "title",
    "example",
    "externalDocs",
    "pattern",
    "x-kubernetes-validations",
];

/// Returns a schema as JSON, without the omitted keywords.
fn outline(schema: &JSONSchemaProps) -> Box<[u8]> {
    let mut tree = to_json_value(schema);
    reduce(&mut tree);
    tree.to_string().into_bytes().into()
}

fn reduce(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    members.retain(|name, _| !OMITTED.contains(&name.as_str()));
    for name in ["items", "additionalProperties"] {
        if let Some(below) = members.get_mut(name) {
            reduce(below);
        }
    }
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    properties
        .into_iter()
        .flat_map(|it| it.values_mut())
        .for_each(reduce);
}
