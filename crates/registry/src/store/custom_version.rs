//! `CustomVersion`: what field ownership needs of a version of a definition.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use kubist_field_manager::schema::Schema;
use kubist_field_manager::{ObjectType, PathElement};
use serde_json::Value;
use std::io::Read as _;
use std::sync::{Arc, OnceLock};

/// A version of a definition.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// The schema as compressed JSON, without what ownership does not depend on: decoded, it would
    /// take hundreds of times as much memory.
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
            let schema = schema.and_then(expanded);
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

/// Returns a schema as compressed JSON, without all other keywords.
fn outline(mut schema: Value) -> Box<[u8]> {
    reduce(&mut schema);
    let mut out = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    drop(serde_json::to_writer(&mut out, &schema));
    out.finish().unwrap_or_default().into()
}

/// Returns the schema in an outline.
fn expanded(outline: &[u8]) -> Option<Value> {
    let mut json = Vec::new();
    DeflateDecoder::new(outline).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_type_of_an_outline_is_that_of_the_whole_schema() {
        let leaf = json!({
            "type": "string",
            "format": "byte",
            "description": "d".repeat(1_000),
            "enum": ["a", "b"],
            "default": {"description": "kept, as it is no keyword here"},
        });
        let whole = json!({
            "type": "object",
            "description": "all",
            "required": ["pattern"],
            "properties": {
                "pattern": leaf,
                "title": {"type": "array", "items": leaf, "x-kubernetes-list-type": "set"},
                "keyed": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": leaf}},
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "whole": {"type": "object", "x-kubernetes-embedded-resource": true},
                "atomic": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "additionalProperties": leaf,
                },
                "any": {"x-kubernetes-int-or-string": true, "additionalProperties": true},
            },
        });
        let (schema, root) = Schema::from_json_schema(Some(&whole));
        let version = CustomVersion::new(Some(whole), None);
        let held = version.schema.as_deref().map_or(0, <[u8]>::len);
        assert!((1..400).contains(&held), "{held}");
        let made = version.object_type();
        assert_eq!(format!("{root:?}"), format!("{:?}", made.root));
        assert_eq!(format!("{schema:?}"), format!("{:?}", made.schema));
    }
}
