//! Schemas from upstream's notation.

use kubist_field_manager::schema::{
    Atom, FieldType, ListType, MapType, Relationship, Scalar, Schema, TypeRef,
};
use serde_json::Value;

pub(crate) fn parse(schema: &Value) -> Schema {
    let types = schema["types"].as_array().into_iter().flatten();
    Schema::new(types.map(|it| (text(&it["name"]).into(), atom(it))))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn reference(value: &Value) -> TypeRef {
    TypeRef {
        name: text(&value["namedType"]).into(),
        inlined: atom(value),
        relationship: relationship(&value["elementRelationship"]),
    }
}

fn relationship(value: &Value) -> Option<Relationship> {
    match text(value) {
        "atomic" => Some(Relationship::Atomic),
        "separable" | "associative" => Some(Relationship::Granular),
        _ => None,
    }
}

fn atom(value: &Value) -> Atom {
    let scalar = match text(&value["scalar"]) {
        "string" => Some(Scalar::String),
        "numeric" => Some(Scalar::Numeric),
        "boolean" => Some(Scalar::Boolean),
        "untyped" => Some(Scalar::Untyped),
        _ => None,
    };
    let list = value.get("list").map(|it| {
        Atom::list(ListType {
            element_type: reference(&it["elementType"]),
            relationship: relationship(&it["elementRelationship"]).unwrap_or(Relationship::Atomic),
            keys: it["keys"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| text(it).into())
                .collect(),
        })
    });
    let map = value.get("map").map(|it| {
        let field = |it: &Value| {
            let field = FieldType {
                type_ref: reference(&it["type"]),
                default: it.get("default").cloned(),
            };
            (text(&it["name"]).into(), field)
        };
        Atom::map(MapType {
            fields: it["fields"]
                .as_array()
                .into_iter()
                .flatten()
                .map(field)
                .collect(),
            element_type: reference(&it["elementType"]),
            relationship: relationship(&it["elementRelationship"])
                .unwrap_or(Relationship::Granular),
        })
    });
    Atom {
        scalar,
        list: list.and_then(|it| it.list),
        map: map.and_then(|it| it.map),
    }
}
