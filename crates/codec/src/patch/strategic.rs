//! Strategic merge patch: a merge patch in which lists merge by key and directives control the
//! merge.
//!
//! The [`Schema`] of the kind says which lists merge, and by which key. Directives: `$patch`
//! (`replace`, `delete`), `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`.
//! Results, orders and error texts are those of upstream's server. Three-way patches are not
//! included: clients compute them.

mod list;
mod shape;

use super::{PatchError, go_value};
use kubist_apimachinery::wire::Schema;
use serde_json::{Map, Value};
use shape::Shape;
use std::collections::BTreeSet;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_PREFIX: &str = "$deleteFromPrimitiveList/";
const ORDER_PREFIX: &str = "$setElementOrder/";

/// Parses a patch, which must be an object, or null, which changes nothing.
///
/// # Errors
/// The patch is neither, or not JSON.
pub fn parse(patch: &[u8]) -> Result<Value, PatchError> {
    let malformed = |reason| PatchError::Malformed { reason };
    match super::read(patch).map_err(malformed)? {
        Value::Null => Ok(Value::Object(Map::new())),
        value @ Value::Object(_) => Ok(value),
        other => Err(malformed(super::no_map(&other))),
    }
}

/// Applies a patch to an object of the kind described by `schema`.
///
/// # Errors
/// See [`PatchError`]. Fields that the schema lacks merge like any JSON, as long as the patch does
/// not need their merge strategy.
pub fn merge(object: Value, patch: Value, schema: &'static Schema) -> Result<Value, PatchError> {
    let object = expect_map(object)?;
    let patch = expect_map(patch)?;
    merge_map(object, patch, Shape::of(schema)).map(Value::Object)
}

fn expect_map(value: Value) -> Result<Map<String, Value>, PatchError> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(PatchError::WrongType {
            expected: go_value::MAP,
            found: go_value::type_name(&other),
        }),
    }
}

fn expect_list(value: Value) -> Result<Vec<Value>, PatchError> {
    match value {
        Value::Array(list) => Ok(list),
        other => Err(PatchError::WrongType {
            expected: go_value::LIST,
            found: go_value::type_name(&other),
        }),
    }
}

/// Merges a map. The depth is bounded by that of the parsed patch.
fn merge_map(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    shape: Shape,
) -> Result<Map<String, Value>, PatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(&patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    list::merge_ordered(&mut original, &mut patch, shape)?;
    for (key, change) in patch {
        merge_member(&mut original, &key, change, shape)?;
    }
    Ok(original)
}

fn merge_member(
    original: &mut Map<String, Value>,
    key: &str,
    mut change: Value,
    shape: Shape,
) -> Result<(), PatchError> {
    if let Some(key) = key.strip_prefix(DELETE_FROM_PREFIX) {
        // Anything but a list deletes nothing, as in upstream.
        if let (Value::Array(deleted), Some(Value::Array(list))) = (change, original.get_mut(key)) {
            list::delete_scalars(list, &deleted)?;
        }
        return Ok(());
    }
    if change.is_null() {
        original.remove(key);
        return Ok(());
    }
    let merged = match (original.get_mut(key).map(Value::take), change) {
        (Some(Value::Object(before)), Value::Object(change)) => {
            let child = shape.child(key)?;
            if child.merge.replace {
                Value::Object(change)
            } else {
                Value::Object(merge_map(before, change, child.shape)?)
            }
        }
        (Some(Value::Array(before)), Value::Array(change)) => {
            Value::Array(list::merge_field(before, change, shape.child(key)?)?)
        }
        (_, new) => {
            change = new;
            super::drop_nulls(&mut change);
            let Some(value) = without_directives(change) else {
                original.remove(key);
                return Ok(());
            };
            value
        }
    };
    original.insert(key.to_owned(), merged);
    Ok(())
}

fn unknown_directive(map: &Map<String, Value>) -> PatchError {
    PatchError::UnknownDirective {
        directive: go_value::print_as_text(map.get(DIRECTIVE).unwrap_or(&Value::Null)),
        map: go_value::print(&Value::Object(map.clone())),
    }
}

/// Applies `$retainKeys`: removes keys that it does not name from the original.
fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(retained) = retained else {
        return Err(PatchError::RetainKeys);
    };
    let retained: BTreeSet<&str> = retained.iter().filter_map(Value::as_str).collect();
    let named = |key: &str| retained.contains(key);
    let forgotten = patch.iter().any(|(key, value)| {
        let directive = key.starts_with(DELETE_FROM_PREFIX) || key.starts_with(ORDER_PREFIX);
        !value.is_null() && !directive && !named(key)
    });
    if forgotten {
        return Err(PatchError::RetainKeys);
    }
    original.retain(|key, _| named(key));
    Ok(())
}

/// Returns the patch as upstream's merge leaves it, because its errors show that: without the
/// directives that were applied, and without nulls for missing values.
pub fn spent(object: &Value, mut patch: Value, schema: &'static Schema) -> Value {
    if let (Value::Object(before), Value::Object(patch)) = (object, &mut patch) {
        spend_map(before, patch, Shape::of(schema));
    }
    patch
}

fn spend_map(before: &Map<String, Value>, patch: &mut Map<String, Value>, shape: Shape) {
    match patch.get(DIRECTIVE).map(|directive| directive == "replace") {
        Some(true) => {
            patch.remove(DIRECTIVE);
            return;
        }
        Some(false) => return,
        None => {}
    }
    patch.remove(RETAIN_KEYS);
    let orders: Vec<String> = patch
        .keys()
        .filter(|key| key.starts_with(ORDER_PREFIX))
        .cloned()
        .collect();
    for order in orders {
        patch.remove(&order);
        patch.remove(&order[ORDER_PREFIX.len()..]);
    }
    for (key, change) in patch {
        if key.starts_with(DELETE_FROM_PREFIX) {
            continue;
        }
        match (before.get(key), change) {
            (Some(Value::Object(before)), Value::Object(change)) => {
                if let Ok(child) = shape.child(key)
                    && !child.merge.replace
                {
                    spend_map(before, change, child.shape);
                }
            }
            (Some(Value::Array(before)), Value::Array(change)) => {
                if let Ok(child) = shape.child(key)
                    && child.merge.merge
                {
                    list::spend(before, change, child);
                }
            }
            (_, change) => {
                super::drop_nulls(change);
                spend_new(change);
            }
        }
    }
}

/// Removes directives from values that are new: upstream removes them from the maps themselves, but
/// only from copies of the lists.
fn spend_new(value: &mut Value) {
    match value {
        Value::Object(map) if !map.contains_key(DIRECTIVE) => {
            map.retain(|_, member| match member {
                Value::Object(inner) if inner.contains_key(DIRECTIVE) => false,
                Value::Array(_) => {
                    *member = without_directives(member.take()).unwrap_or_default();
                    true
                }
                other => {
                    spend_new(other);
                    true
                }
            });
        }
        Value::Array(list) => list.iter_mut().for_each(spend_new),
        _ => {}
    }
}

/// Returns the value without the maps that have `$patch`, which have nothing to apply to; none if
/// the value is such a map. Other directives are kept as members, as in upstream.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => Some(Value::Object(
            map.into_iter()
                .filter_map(|(key, value)| Some((key, without_directives(value)?)))
                .collect(),
        )),
        Value::Array(list) => Some(Value::Array(
            list.into_iter().filter_map(without_directives).collect(),
        )),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests;
