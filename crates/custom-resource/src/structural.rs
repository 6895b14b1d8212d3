//! Rewriting of a JSON Schema (draft 2020-12, from schemars) to a structural schema.
//!
//! A structural schema has one type for each value, and below `oneOf`, `anyOf` and `allOf` only
//! checks of values. So alternatives are hoisted: the properties of all variants become properties
//! of the object, and what distinguishes the variants stays as a check. What Kubernetes cannot
//! express is widened: a value of several types becomes one that is not checked and keeps unknown
//! fields. The rewritten schema accepts whatever the original accepts, except in two cases:
//! recursive types are refused, because a structural schema has no references, and integers beyond
//! 64 bits lose their bounds.

mod keywords;
mod union;

use self::keywords::{copy_keyword, finish};
use self::union::{as_object, checks_of, exclusive, union};
use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

pub(crate) const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
pub(crate) const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// The deepest nesting of a schema; servers refuse much less.
const DEPTH_MAX: usize = 64;

/// The Rust type has no structural schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A type contains itself.
    #[error(
        "{path}: the type {name} contains itself, which a structural schema cannot express; box \
         the inner value as `serde_json::Value`, or give the field a schema of its own with \
         `#[schemars(schema_with = \"...\")]`"
    )]
    Recursive {
        /// The path of the field, as in `spec.children[]`.
        path: String,
        /// The type.
        name: String,
    },
    /// No value is valid.
    #[error("{path}: no value is valid for this type")]
    NeverValid {
        /// The path of the field.
        path: String,
    },
    /// The nesting is too deep.
    #[error("{path}: nested more than {DEPTH_MAX} levels deep")]
    TooDeep {
        /// The path of the field.
        path: String,
    },
    /// A keyword has a value of the wrong type, as from `#[schemars(extend(...))]`.
    #[error("{path}: the schema is malformed: {reason}")]
    Malformed {
        /// The path of the field.
        path: String,
        /// The reason.
        reason: String,
    },
}

/// Returns the structural schema of `schema`; `path` is where it stands, for errors.
pub(crate) fn structural(schema: &Value, path: &str) -> Result<Object, SchemaError> {
    rewrite(schema, path, 0).map_err(|error| match error {
        // The outermost type has no name in references.
        SchemaError::Recursive { path, name } if name == "#" => {
            let title = schema.get("title").and_then(Value::as_str);
            let name = title.unwrap_or("of the schema").to_owned();
            SchemaError::Recursive { path, name }
        }
        error => error,
    })
}

fn rewrite(schema: &Value, path: &str, depth: usize) -> Result<Object, SchemaError> {
    let path_string = || path.to_owned();
    if depth > DEPTH_MAX {
        return Err(SchemaError::TooDeep {
            path: path_string(),
        });
    }
    let map = match schema {
        Value::Bool(true) => return Ok(anything()),
        Value::Object(map) => map,
        _ => {
            return Err(SchemaError::NeverValid {
                path: path_string(),
            });
        }
    };
    if let Some(Value::String(reference)) = map.get("$ref") {
        let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
        let path = path_string();
        return Err(SchemaError::Recursive { path, name });
    }
    let mut out = Object::new();
    for (name, value) in map {
        copy_keyword(&mut out, name, value);
    }
    children(&mut out, map, path, depth + 1)?;
    for part in list(map, "allOf") {
        merge(&mut out, rewrite(part, path, depth + 1)?);
    }
    for word in ["anyOf", "oneOf"] {
        alternatives(&mut out, list(map, word), word, path, depth + 1)?;
    }
    finish(&mut out);
    Ok(out)
}

fn anything() -> Object {
    [(PRESERVE.to_owned(), Value::Bool(true))]
        .into_iter()
        .collect()
}

fn list<'a>(map: &'a Object, word: &str) -> &'a [Value] {
    map.get(word)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Rewrites the schemas of properties, items and values.
fn children(out: &mut Object, map: &Object, path: &str, depth: usize) -> Result<(), SchemaError> {
    if let Some(Value::Object(properties)) = map.get("properties") {
        let rewritten = properties.iter().map(|(name, schema)| {
            let schema = rewrite(schema, &format!("{path}.{name}"), depth)?;
            Ok((name.clone(), Value::Object(schema)))
        });
        let rewritten = rewritten.collect::<Result<Object, SchemaError>>()?;
        out.insert("properties".to_owned(), Value::Object(rewritten));
    }
    let item_path = format!("{path}[]");
    match (map.get("items"), map.get("prefixItems")) {
        (_, Some(Value::Array(items))) => {
            let items = items.iter().map(|item| rewrite(item, &item_path, depth));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            out.insert("items".to_owned(), Value::Object(union(&items)));
        }
        (Some(Value::Bool(false)), None) => {}
        (Some(items), None) => {
            let items = rewrite(items, &item_path, depth)?;
            out.insert("items".to_owned(), Value::Object(items));
        }
        _ => {}
    }
    let patterns = map.get("patternProperties").and_then(Value::as_object);
    let mut values: Vec<&Value> = patterns.iter().flat_map(|it| it.values()).collect();
    match map.get("additionalProperties") {
        // Unknown fields are pruned, so forbidding them says nothing new.
        None | Some(Value::Bool(false)) => {}
        Some(schema) => values.push(schema),
    }
    let value_path = format!("{path}.*");
    let values = values.into_iter().map(|it| rewrite(it, &value_path, depth));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    if !values.is_empty() {
        let values = Value::Object(union(&values));
        out.insert("additionalProperties".to_owned(), values);
    }
    Ok(())
}

fn is_null(schema: &Value) -> bool {
    let null = |it: &Value| it.is_null() || *it == "null";
    ["type", "const"]
        .iter()
        .any(|word| schema.get(word).is_some_and(null))
        || list_is_null(schema.get("enum"))
}

fn list_is_null(list: Option<&Value>) -> bool {
    matches!(list, Some(Value::Array(items)) if items.iter().all(Value::is_null))
}

/// Hoists what the alternatives have in common, and keeps what distinguishes them as checks.
fn alternatives(
    out: &mut Object,
    branches: &[Value],
    word: &str,
    path: &str,
    depth: usize,
) -> Result<(), SchemaError> {
    if branches.is_empty() {
        return Ok(());
    }
    let (nulls, branches): (Vec<&Value>, Vec<&Value>) =
        branches.iter().partition(|branch| is_null(branch));
    if !nulls.is_empty() {
        out.insert("nullable".to_owned(), true.into());
    }
    let mut rewritten = Vec::with_capacity(branches.len());
    for branch in branches {
        let mut branch = rewrite(branch, path, depth)?;
        // A branch of an object may state only what it requires.
        let untyped = branch
            .keys()
            .all(|key| matches!(&**key, "required" | PRESERVE));
        if untyped && out.get("type").is_some_and(|it| it == "object") {
            branch.remove(PRESERVE);
            branch.insert("type".to_owned(), "object".into());
        }
        rewritten.push(branch);
    }
    if let [_] = rewritten.as_slice() {
        for branch in rewritten {
            merge(out, branch);
        }
        return Ok(());
    }
    let mut common = union(&rewritten);
    let checks: Vec<Object> = rewritten.iter().map(|it| checks_of(it, &common)).collect();
    common.remove("description");
    let hoisted = common.contains_key("type") || common.contains_key(INT_OR_STRING);
    // The values of all variants together say as much as those of each.
    let values_alone = |check: &Object| check.keys().all(|it| it == "enum");
    if hoisted && !checks.iter().all(values_alone) && checks.iter().all(|it| !it.is_empty()) {
        let kept = if word == "oneOf" && exclusive(&checks) {
            "oneOf"
        } else {
            "anyOf"
        };
        let checks = checks.into_iter().map(Value::Object).collect();
        common.insert(kept.to_owned(), Value::Array(checks));
    }
    merge(out, common);
    Ok(())
}

/// Adds a schema that holds as well; what `out` says about the value itself wins.
fn merge(out: &mut Object, part: Object) {
    for (name, value) in part {
        match (&*name, out.get_mut(&name), value) {
            ("properties", Some(Value::Object(have)), Value::Object(more)) => {
                for (name, schema) in more {
                    match (have.get_mut(&name), schema) {
                        (Some(Value::Object(have)), Value::Object(schema)) => merge(have, schema),
                        (Some(_), _) => {}
                        (None, schema) => {
                            have.insert(name, schema);
                        }
                    }
                }
            }
            ("required", Some(Value::Array(have)), Value::Array(more)) => {
                for name in more {
                    if !have.contains(&name) {
                        have.push(name);
                    }
                }
            }
            ("oneOf" | "anyOf", Some(_), value) => {
                let check: Object = [(name, value)].into_iter().collect();
                let all = out
                    .entry("allOf")
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(all) = all {
                    all.push(Value::Object(check));
                }
            }
            ("allOf", Some(Value::Array(have)), Value::Array(more)) => have.extend(more),
            (_, Some(_), _) => {}
            (_, None, value) => {
                out.insert(name, value);
            }
        }
    }
    if as_object(out.get("properties")).is_none() && out.contains_key("additionalProperties") {
        return;
    }
    if out.contains_key("additionalProperties") {
        out.remove("additionalProperties");
        out.insert(PRESERVE.to_owned(), true.into());
    }
}

#[cfg(test)]
mod tests;
