//! Declared CEL types of the schemas in OpenAPI documents, as upstream's checker of policies makes
//! them.
//!
//! What has no type in CEL is not a field: expressions that name it get a warning. References are
//! resolved within the document; where they go in a circle, the inner one is an object without
//! fields. Sizes are unknown, because nothing is estimated here.

use kubist_cel::declared::{Declared, Field, Kind, ListKind, Object};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The extension that says which kinds a schema is of.
pub(super) const KIND_NAMES: &str = "x-kubernetes-group-version-kind";
/// Where references lead.
const PREFIX: &str = "#/components/schemas/";
/// A schema that upstream publishes in another form than the one that it checks by.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// Schemas of which types are made for one kind, with those below; the rest is dynamic.
const NODES_MAX: usize = 200_000;
/// The depth of schemas of which types are made; what is deeper is dynamic.
const DEPTH_MAX: usize = 128;

/// Returns the declared type of the schema of a kind; none if it has no type.
pub(super) fn declare(
    schemas: &Map<String, Value>,
    schema: &Value,
    kind: &str,
) -> Option<Arc<Declared>> {
    let mut declarer = Declarer {
        schemas,
        open: Vec::new(),
        nodes: 0,
    };
    declarer.declare(schema, true, kind)
}

struct Declarer<'a> {
    schemas: &'a Map<String, Value>,
    /// The references that are being resolved.
    open: Vec<&'a str>,
    nodes: usize,
}

impl<'a> Declarer<'a> {
    fn declare(
        &mut self,
        schema: &'a Value,
        is_resource: bool,
        name: &str,
    ) -> Option<Arc<Declared>> {
        self.nodes += 1;
        if self.nodes > NODES_MAX || self.open.len() > DEPTH_MAX {
            return of(Kind::Dyn);
        }
        let Some(reference) = reference(schema) else {
            return self.resolved(schema, is_resource, name);
        };
        if reference == QUANTITY {
            return of(Kind::String);
        }
        if self.open.contains(&reference) {
            return of(Kind::Object(Arc::new(Object::new(name, Vec::new()))));
        }
        let schemas = self.schemas;
        let target = schemas.get(reference)?;
        self.open.push(reference);
        let declared = self.resolved(target, is_resource, name);
        self.open.pop();
        declared
    }

    fn resolved(
        &mut self,
        schema: &'a Value,
        is_resource: bool,
        name: &str,
    ) -> Option<Arc<Declared>> {
        let format = schema["format"].as_str().unwrap_or_default();
        if format == "int-or-string" || schema["x-kubernetes-int-or-string"] == true {
            return of(Kind::IntOrString);
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, is_resource, name),
            Some("array") => {
                let items = schema.get("items")?;
                let items = self.declare(items, is_embedded(items), &format!("{name}.@idx"))?;
                of(Kind::List(items, ListKind::Atomic))
            }
            Some("string") => of(match format {
                "byte" => Kind::Bytes,
                "duration" => Kind::Duration,
                "date" => Kind::Date,
                "date-time" => Kind::DateTime,
                _ => Kind::String,
            }),
            Some("boolean") => of(Kind::Bool),
            Some("number") => of(Kind::Double),
            Some("integer") => of(Kind::Int),
            _ => None,
        }
    }

    fn object(
        &mut self,
        schema: &'a Value,
        is_resource: bool,
        name: &str,
    ) -> Option<Arc<Declared>> {
        if let Some(values) = schema
            .get("additionalProperties")
            .filter(|it| it.is_object())
        {
            let values = self.declare(values, is_embedded(values), &format!("{name}.@elem"))?;
            return of(Kind::Map(values));
        }
        let mut fields = Vec::new();
        let properties = schema["properties"].as_object();
        let is_implied = is_resource && !self.specifies_metadata(schema);
        for (key, property) in properties.into_iter().flatten() {
            if is_implied && matches!(&**key, "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let below = format!("{name}.{key}");
            if let Some(declared) = self.declare(property, is_embedded(property), &below) {
                fields.push(Field::new(key, declared));
            }
        }
        if is_implied {
            fields.extend(implied_fields(name));
        }
        of(Kind::Object(Arc::new(Object::new(name, fields))))
    }

    /// Reports whether a schema specifies all of the metadata that expressions can always name.
    fn specifies_metadata(&self, schema: &Value) -> bool {
        let is = |schema: &Value, wanted: &str| schema["type"] == *wanted;
        let properties = &schema["properties"];
        let metadata = &properties["metadata"];
        let metadata = reference(metadata)
            .and_then(|it| self.schemas.get(it))
            .unwrap_or(metadata);
        let names = &metadata["properties"];
        is(&properties["kind"], "string")
            && is(&properties["apiVersion"], "string")
            && is(metadata, "object")
            && is(&names["name"], "string")
            && is(&names["generateName"], "string")
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "what declares a schema returns an option"
)]
fn of(kind: Kind) -> Option<Arc<Declared>> {
    Some(Arc::new(Declared::new(kind, u64::MAX, 0)))
}

/// Returns the name of the schema that one refers to. A reference with a description of its own is
/// the only one of `allOf`.
fn reference(schema: &Value) -> Option<&str> {
    let own = schema["$ref"].as_str();
    let wrapped = || {
        let all = schema["allOf"].as_array()?;
        all.iter().find_map(|it| it["$ref"].as_str())
    };
    own.or_else(wrapped)?.strip_prefix(PREFIX)
}

fn is_embedded(schema: &Value) -> bool {
    schema["x-kubernetes-embedded-resource"] == true
}

fn implied_fields(name: &str) -> Vec<Field> {
    let text = || Arc::new(Declared::new(Kind::String, u64::MAX, 0));
    let names = ["name", "generateName"].map(|it| Field::new(it, text()));
    let metadata = Object::new(&format!("{name}.metadata"), names.into());
    let metadata = Declared::new(Kind::Object(Arc::new(metadata)), u64::MAX, 0);
    vec![
        Field::new("apiVersion", text()),
        Field::new("kind", text()),
        Field::new("metadata", Arc::new(metadata)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_resolved_and_circles_end() {
        let schemas = json!({
            "Node": {"type": "object", "properties": {
                "next": {"allOf": [{"$ref": "#/components/schemas/Node"}], "description": "x"},
                "many": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
                "size": {"$ref": format!("{PREFIX}{QUANTITY}")},
                "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}]},
                "any": {"description": "no type"},
                "at": {"type": "string", "format": "date-time"},
            }},
            QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
        });
        let schemas = schemas.as_object().expect("it is a map");
        let root = json!({"$ref": "#/components/schemas/Node"});
        let declared = declare(schemas, &root, "Node").expect("it has a type");
        let Kind::Object(object) = &declared.kind else {
            panic!("{declared:?}");
        };
        let names: Vec<&str> = object.fields().iter().map(|it| &*it.name).collect();
        // As every resource, it has the fields that name it.
        assert_eq!(
            names,
            [
                "apiVersion",
                "at",
                "kind",
                "many",
                "metadata",
                "next",
                "port",
                "size"
            ]
        );
        let kind = |name: &str| &object.field(name).expect("it is there").declared.kind;
        assert!(matches!(kind("next"), Kind::Object(it) if it.fields().is_empty()));
        assert!(matches!(kind("size"), Kind::String));
        assert!(matches!(kind("port"), Kind::IntOrString));
        assert!(matches!(kind("at"), Kind::DateTime));
        let Kind::List(items, _) = kind("many") else {
            panic!("it is a list");
        };
        assert!(matches!(&items.kind, Kind::Object(it) if &*it.name == "Node.many.@idx"));
    }
}
