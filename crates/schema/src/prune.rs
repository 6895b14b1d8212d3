//! Pruning: removes the fields that a schema does not specify.

use crate::go_value::is_too_deep;
use crate::schema::Schema;
use crate::unknown_fields::{Tracker, UnknownFields};
use serde_json::{Map, Value};

/// The members of an object that pruning leaves alone.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes the fields of `object` that `schema` does not specify, and records them in `unknown`.
/// `apiVersion`, `kind` and `metadata` of the object and of embedded resources are not looked at.
/// Without a schema, nothing else is kept.
///
/// An object that nests more than [`DEPTH_MAX`](crate::DEPTH_MAX) levels is left as it is; it does
/// not validate.
pub fn prune(
    object: &mut Map<String, Value>,
    schema: Option<&Schema>,
    unknown: Option<&mut UnknownFields>,
) {
    prune_object(object, schema, true, unknown);
}

/// As [`prune`]. `is_resource` reports whether the object is a resource even if the schema does not
/// say so.
pub(crate) fn prune_object(
    object: &mut Map<String, Value>,
    schema: Option<&Schema>,
    is_resource: bool,
    unknown: Option<&mut UnknownFields>,
) {
    let mut value = Value::Object(std::mem::take(object));
    prune_value(&mut value, schema, is_resource, unknown);
    if let Value::Object(pruned) = value {
        *object = pruned;
    }
}

pub(crate) fn prune_value(
    value: &mut Value,
    schema: Option<&Schema>,
    is_resource: bool,
    unknown: Option<&mut UnknownFields>,
) {
    if is_too_deep(value) {
        return;
    }
    let empty = Schema::default();
    let schema = if is_resource {
        schema.or(Some(&empty))
    } else {
        schema
    };
    visit(value, schema, is_resource, &mut Tracker(unknown));
}

fn visit(value: &mut Value, schema: Option<&Schema>, is_resource: bool, at: &mut Tracker<'_>) {
    let Some(schema) = schema else {
        clear(value, at);
        return;
    };
    let is_resource = is_resource || schema.is_embedded_resource;
    if schema.preserves_unknown_fields {
        skip(value, schema, is_resource, at);
        return;
    }
    match value {
        Value::Object(members) => members.retain(|name, member| {
            let is_meta = META_FIELDS.contains(&name.as_str());
            if is_resource && is_meta {
                return true;
            }
            let of_member = match schema.property(name) {
                Some(property) => Some(&**property),
                None if schema.additional_properties.is_some() => {
                    schema.additional().map(|it| &**it)
                }
                None => {
                    if !is_meta || !at.is_at_root() {
                        at.record(name);
                    }
                    return false;
                }
            };
            at.within(name, |at| visit(member, of_member, false, at));
            true
        }),
        Value::Array(items) => {
            let of_items = schema.items.as_deref();
            for (index, item) in items.iter_mut().enumerate() {
                at.within_item(index, |at| visit(item, of_items, false, at));
            }
        }
        _ => {}
    }
}

/// Removes all members, of objects in lists as well.
fn clear(value: &mut Value, at: &mut Tracker<'_>) {
    match value {
        Value::Object(members) => {
            for name in members.keys() {
                at.record(name);
            }
            members.clear();
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at.within_item(index, |at| clear(item, at));
            }
        }
        _ => {}
    }
}

/// Keeps what the schema does not specify, and prunes what it does.
fn skip(value: &mut Value, schema: &Schema, is_resource: bool, at: &mut Tracker<'_>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if is_resource && META_FIELDS.contains(&name.as_str()) {
                    continue;
                }
                let of_member = match schema.property(name) {
                    Some(property) => Some(&**property),
                    None if schema.additional_properties.is_some() => {
                        schema.additional().map(|it| &**it)
                    }
                    None => continue,
                };
                at.within(name, |at| visit(member, of_member, false, at));
            }
        }
        Value::Array(items) => {
            let Some(of_items) = schema.items.as_deref() else {
                return;
            };
            for (index, item) in items.iter_mut().enumerate() {
                at.within_item(index, |at| {
                    skip(item, of_items, of_items.is_embedded_resource, at);
                });
            }
        }
        _ => {}
    }
}
