//! A value without the members that its type lacks.

use crate::schema::{Schema, TypeRef};
use serde_json::Value;

/// Removes undeclared members of declared objects. Values of other types than theirs stay.
pub(crate) fn prune(schema: &Schema, type_ref: &TypeRef, value: &mut Value) {
    let Some(atom) = schema.resolve(type_ref) else {
        return;
    };
    match value {
        Value::Object(members) => {
            let Some(map) = &atom.map else { return };
            if map.element_type.is_none() {
                members.retain(|name, _| map.field(name).is_some());
            }
            for (name, member) in members.iter_mut() {
                prune(schema, map.type_of(name), member);
            }
        }
        Value::Array(items) => {
            let Some(list) = &atom.list else { return };
            for item in items {
                prune(schema, &list.element_type, item);
            }
        }
        _ => {}
    }
}
