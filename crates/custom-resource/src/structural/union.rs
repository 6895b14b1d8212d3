//! The union of alternatives: one structure that all of them fit, and the checks that tell them
//! apart.

use super::{INT_OR_STRING, Object, PRESERVE, anything};
use serde_json::Value;

/// The checks of values that may differ between alternatives of one type.
const CHECKS: [&str; 14] = [
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "enum",
];

pub(super) fn as_object(value: Option<&Value>) -> Option<&Object> {
    value.and_then(Value::as_object)
}

fn type_of(schema: &Object) -> Option<&str> {
    schema.get("type").and_then(Value::as_str)
}

/// Returns a schema that accepts what any of `schemas` accepts.
pub(super) fn union(schemas: &[Object]) -> Object {
    let Some((first, others)) = schemas.split_first() else {
        return anything();
    };
    if others.iter().all(|it| same(it, first)) {
        return first.clone();
    }
    let types: Vec<Option<&str>> = schemas.iter().map(type_of).collect();
    let all = |kinds: &[&str]| {
        types
            .iter()
            .all(|it| it.is_some_and(|it| kinds.contains(&it)))
    };
    let int_or_string = |it: &Object| {
        it.contains_key(INT_OR_STRING)
            || matches!(type_of(it), Some("integer" | "string")) && !it.contains_key("enum")
    };
    let mut out = match types[0] {
        Some("object") if all(&["object"]) => objects(schemas),
        Some("array") if all(&["array"]) => arrays(schemas),
        Some(kind) if all(&[kind]) => scalars(schemas, kind),
        Some(_) if all(&["integer", "number"]) => scalars(schemas, "number"),
        _ if schemas.iter().all(int_or_string) => [(INT_OR_STRING.to_owned(), Value::Bool(true))]
            .into_iter()
            .collect(),
        _ => anything(),
    };
    if schemas.iter().any(|it| it.contains_key("nullable")) {
        out.insert("nullable".to_owned(), true.into());
    }
    out
}

/// Reports whether two schemas differ in their descriptions alone.
fn same(left: &Object, right: &Object) -> bool {
    let parts = |it: &Object| {
        let mut it = it.clone();
        it.remove("description");
        it
    };
    parts(left) == parts(right)
}

fn common(schemas: &[Object]) -> Object {
    let Some((first, others)) = schemas.split_first() else {
        return Object::new();
    };
    let kept = |name: &str, value: &Value| {
        let checked = CHECKS.contains(&name) || name.starts_with("x-kubernetes-");
        checked && others.iter().all(|it| it.get(name) == Some(value))
    };
    let kept = first.iter().filter(|(name, value)| kept(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn scalars(schemas: &[Object], kind: &str) -> Object {
    let mut out = common(schemas);
    out.insert("type".to_owned(), kind.into());
    let enums: Option<Vec<_>> = schemas
        .iter()
        .map(|it| it.get("enum").and_then(Value::as_array))
        .collect();
    if let Some(enums) = enums {
        let mut values: Vec<Value> = Vec::new();
        for value in enums.into_iter().flatten() {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        out.insert("enum".to_owned(), Value::Array(values));
    }
    out
}

fn arrays(schemas: &[Object]) -> Object {
    let mut out = common(schemas);
    out.insert("type".to_owned(), "array".into());
    let items = schemas
        .iter()
        .filter_map(|it| as_object(it.get("items")).cloned());
    let items: Vec<Object> = items.collect();
    out.insert("items".to_owned(), union(&items).into());
    out
}

fn objects(schemas: &[Object]) -> Object {
    let mut out = common(schemas);
    out.insert("type".to_owned(), "object".into());
    let mut names: Vec<&String> = Vec::new();
    for schema in schemas {
        let properties = as_object(schema.get("properties")).into_iter();
        names.extend(properties.flat_map(Object::keys));
    }
    let of_name = |name: &str| -> Vec<Object> {
        let properties = schemas
            .iter()
            .filter_map(|it| as_object(it.get("properties")));
        properties
            .filter_map(|it| as_object(it.get(name)).cloned())
            .collect()
    };
    let properties: Object = names
        .into_iter()
        .map(|name| (name.clone(), union(&of_name(name)).into()))
        .collect();
    let required = required_of(&schemas[0]).filter(|name| {
        let mut others = schemas.iter();
        others.all(|it| required_of(it).any(|it| it == *name))
    });
    let required: Vec<Value> = required.map(Value::from).collect();
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    let values = schemas
        .iter()
        .filter_map(|it| as_object(it.get("additionalProperties")).cloned());
    let values: Vec<Object> = values.collect();
    if schemas.iter().any(|it| it.contains_key(PRESERVE)) {
        out.insert(PRESERVE.to_owned(), true.into());
    } else if !values.is_empty() {
        if properties.is_empty() {
            out.insert("additionalProperties".to_owned(), union(&values).into());
        } else {
            out.insert(PRESERVE.to_owned(), true.into());
        }
    }
    if !properties.is_empty() {
        out.insert("properties".to_owned(), properties.into());
    }
    out
}

fn required_of(schema: &Object) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns what `schema` checks and the union of the alternatives does not: values alone, as is
/// allowed below `anyOf`.
pub(super) fn checks_of(schema: &Object, union: &Object) -> Object {
    let mut checks = Object::new();
    if type_of(schema) != type_of(union) {
        return checks;
    }
    for name in CHECKS {
        if let Some(value) = schema.get(name).filter(|it| union.get(name) != Some(it)) {
            checks.insert(name.to_owned(), value.clone());
        }
    }
    let required: Vec<Value> = required_of(schema)
        .filter(|name| !required_of(union).any(|it| it == *name))
        .map(Value::from)
        .collect();
    if !required.is_empty() {
        checks.insert("required".to_owned(), required.into());
    }
    let all = as_object(union.get("properties"));
    let mut properties = Object::new();
    for (name, schema) in as_object(schema.get("properties")).into_iter().flatten() {
        let union = all.and_then(|all| as_object(all.get(name)));
        if let (Some(schema), Some(union)) = (schema.as_object(), union) {
            let checks = checks_of(schema, union);
            // Null passes the type, but would not pass the check of a variant.
            if !checks.is_empty() && !union.contains_key("nullable") {
                properties.insert(name.clone(), checks.into());
            }
        }
    }
    if !properties.is_empty() {
        checks.insert("properties".to_owned(), properties.into());
    }
    checks
}

/// Reports whether no object passes two of the checks by accident: each pair has different values
/// for one property (a tag), or each requires something that the other does not (the name of an
/// externally tagged variant).
pub(super) fn exclusive(checks: &[Object]) -> bool {
    let mut pairs = checks.iter().enumerate();
    pairs.all(|(index, left)| checks[index + 1..].iter().all(|right| differ(left, right)))
}

fn differ(left: &Object, right: &Object) -> bool {
    let lacks = |left: &Object, right: &Object| {
        required_of(left).any(|name| !required_of(right).any(|it| it == name))
    };
    (lacks(left, right) && lacks(right, left)) || has_other_values(left, right)
}

fn has_other_values(left: &Object, right: &Object) -> bool {
    let values = |it: &Object| it.get("enum").and_then(Value::as_array).cloned();
    if let (Some(left), Some(right)) = (values(left), values(right)) {
        return !left.iter().any(|it| right.contains(it));
    }
    let properties = |it: &Object| as_object(it.get("properties")).cloned().unwrap_or_default();
    let right = properties(right);
    properties(left).iter().any(|(name, left)| {
        let right = as_object(right.get(name));
        left.as_object()
            .zip(right)
            .is_some_and(|(left, right)| has_other_values(left, right))
    })
}
