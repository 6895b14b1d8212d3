//! `CustomVersion`: what field ownership needs of a version of a definition.

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
    /// Creates a version with this schema, whose scale, if it has one, sets the replicas at this
    /// path.
    pub(crate) fn new(schema: Option<Value>, replicas: Option<Vec<PathElement>>) -> Self {
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

/// The keywords of a schema that ownership depends on.
const KEPT: [&str; 11] = [
    "additionalProperties",
    "default",
    "format",
    "items",
    "properties",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
];

/// Returns a schema as JSON, without all other keywords.
fn outline(mut schema: Value) -> Box<[u8]> {
    reduce(&mut schema);
    schema.to_string().into_bytes().into()
}

fn reduce(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    members.retain(|name, _| KEPT.contains(&name.as_str()));
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
