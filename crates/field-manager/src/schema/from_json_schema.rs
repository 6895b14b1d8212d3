//! Schemas of custom resources, from the OpenAPI v3 schemas of their definitions.
//!
//! Ownership depends on types, list and map types, and on unknown members; all else is ignored.
//! Schemas are structural ones that validation of the definition has accepted. Values whose schema
//! cannot be read are deduced.

use super::{
    Atom, DEDUCED, FieldType, ListType, MapType, NameMap, Relationship, Scalar, Schema, TypeRef,
    UNTYPED,
};
use kubist_apimachinery::wire::Wire;
use kubist_apimachinery::{ObjectMeta, Str};
use serde_json::{Map, Value};

/// The maximum nesting of schemas. Deeper values are deduced.
const DEPTH_MAX: usize = 128;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

impl Schema {
    /// Returns the types of a version of custom resources, and the type of its objects. Without a
    /// schema all members are deduced, even the metadata's.
    ///
    /// ```
    /// use kubist_field_manager::schema::Schema;
    /// use kubist_field_manager::{Duplicates, TypedValue};
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// let (schema, root) = Schema::from_json_schema(Some(&json!({
    ///     "type": "object",
    ///     "properties": {"ports": {
    ///         "type": "array",
    ///         "x-kubernetes-list-type": "set",
    ///         "items": {"type": "integer"},
    ///     }},
    /// })));
    /// let object = json!({"kind": "Gate", "ports": [80]});
    /// let typed = TypedValue::new(object, Arc::new(schema), root, Duplicates::Refused)?;
    /// let fields = typed.to_field_set()?.to_json();
    /// assert_eq!(fields, r#"{"f:kind":{},"f:ports":{"v:80":{}}}"#);
    /// # Ok::<(), kubist_field_manager::TypedErrors>(())
    /// ```
    pub fn from_json_schema(schema: Option<&Value>) -> (Self, TypeRef) {
        let types = Self::from_wire([ObjectMeta::SCHEMA]);
        let Some(root) = schema.and_then(Value::as_object) else {
            let free_form = MapType {
                fields: NameMap::default(),
                element_type: TypeRef::named(DEDUCED),
                relationship: Relationship::Granular,
            };
            return (types, TypeRef::inlined(Atom::map(free_form)));
        };
        let context = Context {
            preserves: false,
            depth: 0,
        };
        let root = context.atom(root, true);
        (types, TypeRef::inlined(root))
    }
}

/// Where a schema is.
#[derive(Clone, Copy)]
struct Context {
    /// Whether a schema above keeps unknown members, which those below do, too.
    preserves: bool,
    depth: usize,
}

impl Context {
    fn reference(self, schema: Option<&Value>) -> TypeRef {
        match schema.and_then(Value::as_object) {
            Some(schema) if self.depth < DEPTH_MAX => TypeRef::inlined(self.atom(schema, false)),
            _ => TypeRef::named(DEDUCED),
        }
    }

    fn atom(mut self, schema: &Map<String, Value>, is_root: bool) -> Atom {
        self.preserves |= is(schema, PRESERVE);
        self.depth += 1;
        let is_object = is_root || is(schema, EMBEDDED);
        match text(schema, "type") {
            "object" => Atom::map(self.map(schema, is_object)),
            "array" => Atom::list(self.list(schema)),
            "integer" | "number" => Atom::scalar(Scalar::Numeric),
            "boolean" => Atom::scalar(Scalar::Boolean),
            "string" if matches!(text(schema, "format"), "" | "byte") => {
                Atom::scalar(Scalar::String)
            }
            "" => Atom {
                scalar: Some(Scalar::Untyped),
                list: Atom::list(self.list(schema)).list,
                map: Atom::map(self.map(schema, is_object)).map,
            },
            _ => Atom::scalar(Scalar::Untyped),
        }
    }

    fn map(self, schema: &Map<String, Value>, is_object: bool) -> MapType {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        let mut fields: Vec<(Str, FieldType)> = properties
            .map(|(name, property)| {
                let field = FieldType {
                    type_ref: self.reference(Some(property)),
                    default: property.get("default").cloned(),
                };
                (name.into(), field)
            })
            .collect();
        if is_object {
            let text = || TypeRef::inlined(Atom::scalar(Scalar::String));
            let metadata = TypeRef::of_wire(ObjectMeta::SCHEMA);
            for (name, type_ref) in [
                ("apiVersion", text()),
                ("kind", text()),
                ("metadata", metadata),
            ] {
                let field = FieldType {
                    type_ref,
                    default: None,
                };
                fields.push((name.into(), field));
            }
        }
        let element_type = match schema.get("additionalProperties") {
            None | Some(Value::Null) if self.preserves || fields.is_empty() => {
                TypeRef::named(DEDUCED)
            }
            None | Some(Value::Null | Value::Bool(false)) => TypeRef::default(),
            Some(members) => self.reference(Some(members)),
        };
        MapType {
            fields: fields.into_iter().collect(),
            element_type,
            relationship: relationship(schema, "x-kubernetes-map-type", Relationship::Granular),
        }
    }

    fn list(self, schema: &Map<String, Value>) -> ListType {
        let relationship = relationship(schema, "x-kubernetes-list-type", Relationship::Atomic);
        let keys = schema.get("x-kubernetes-list-map-keys");
        let keys = keys.filter(|_| text(schema, "x-kubernetes-list-type") == "map");
        let keys = keys.and_then(Value::as_array).into_iter().flatten();
        ListType {
            element_type: match schema.get("items") {
                None => TypeRef::named(UNTYPED),
                items => self.reference(items),
            },
            relationship,
            keys: keys.filter_map(Value::as_str).map(Into::into).collect(),
        }
    }
}

fn is(schema: &Map<String, Value>, keyword: &str) -> bool {
    schema.get(keyword) == Some(&Value::Bool(true))
}

fn text<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a str {
    let found = schema.get(keyword).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn relationship(
    schema: &Map<String, Value>,
    keyword: &str,
    otherwise: Relationship,
) -> Relationship {
    match text(schema, keyword) {
        "atomic" => Relationship::Atomic,
        "granular" | "set" | "map" => Relationship::Granular,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn depth(schema: &Schema, root: &TypeRef) -> usize {
        let (mut type_ref, mut depth) = (root.clone(), 0);
        while let Some(list) = type_ref.inlined.list.clone() {
            type_ref = list.element_type.clone();
            depth += 1;
        }
        assert_eq!(type_ref.name, DEDUCED);
        assert!(schema.resolve(&type_ref).is_some());
        depth
    }

    #[test]
    fn values_below_the_maximum_depth_are_deduced() {
        let mut nested = json!({"type": "string"});
        for _ in 0..2 * DEPTH_MAX {
            nested = json!({"type": "array", "items": nested});
        }
        let (schema, root) = Schema::from_json_schema(Some(&nested));
        assert_eq!(depth(&schema, &root), DEPTH_MAX);
    }

    #[test]
    fn what_is_not_a_schema_is_deduced() {
        let deduced = Schema::from_json_schema(None).1;
        for odd in [json!(null), json!(true), json!([]), json!("object")] {
            assert_eq!(Schema::from_json_schema(Some(&odd)).1, deduced);
        }
        let odd = json!({
            "type": "object",
            "properties": {"a": 1, "b": {"type": "array"}, "c": {"type": 5}},
            "additionalProperties": 7,
        });
        let (schema, root) = Schema::from_json_schema(Some(&odd));
        let map = root.inlined.map.expect("it is an object");
        for name in ["a", "b", "c", "d", "metadata"] {
            assert!(schema.resolve(map.type_of(name)).is_some(), "{name}");
        }
    }
}
