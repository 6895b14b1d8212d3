//! Removal of the fields that a type does not declare.

use crate::schema::{Schema, TypeRef};
use serde_json::Value;

/// Removes the fields of a value that its type does not declare. Values that do not fit the type
/// stay.
///
/// ```
/// use kubist_field_manager::remove_undeclared;
/// use kubist_field_manager::schema::Schema;
/// use serde_json::json;
///
/// let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
/// let schema = json!({"type": "object", "properties": {"spec": spec}});
/// let (schema, root) = Schema::from_json_schema(Some(&schema));
/// let mut object = json!({"kind": "Gate", "spec": {"size": 1, "colour": "red"}, "more": {}});
/// remove_undeclared(&schema, &root, &mut object);
/// assert_eq!(object, json!({"kind": "Gate", "spec": {"size": 1}}));
/// ```
pub fn remove_undeclared(schema: &Schema, type_ref: &TypeRef, value: &mut Value) {
    let Some(atom) = schema.resolve(type_ref) else {
        return;
    };
    match value {
        Value::Object(members) => {
            let Some(map) = &atom.map else { return };
            members.retain(|name, value| {
                let is_declared = map.field(name).is_some() || !map.element_type.is_none();
                if is_declared {
                    remove_undeclared(schema, map.type_of(name), value);
                }
                is_declared
            });
        }
        Value::Array(items) => {
            let Some(list) = &atom.list else { return };
            for item in items {
                remove_undeclared(schema, &list.element_type, item);
            }
        }
        _ => {}
    }
}
