//! Defaulting, and the nulls that become defaults or are removed.

use crate::schema::{AdditionalProperties, Schema};
use serde_json::{Map, Value};

/// Sets the defaults of `schema` in `object`: of absent properties, and of nulls where null is not
/// valid.
pub fn apply_defaults(object: &mut Map<String, Value>, schema: &Schema) {
    for (name, property) in schema.properties() {
        let Some(default) = property.default_value() else {
            continue;
        };
        match object.get_mut(name) {
            None => {
                object.insert(name.to_owned(), default.clone());
            }
            Some(it) if it.is_null() && !property.nullable => *it = default.clone(),
            Some(_) => {}
        }
    }
    for (name, member) in object.iter_mut() {
        if let Some(property) = schema.property(name) {
            default_value(member, property);
        } else if let Some(AdditionalProperties::Schema(schema)) = &schema.additional_properties {
            replace_null(member, schema);
            default_value(member, schema);
        }
    }
}

fn default_value(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(members) => apply_defaults(members, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items.as_deref() else {
                return;
            };
            for item in items {
                replace_null(item, schema);
                default_value(item, schema);
            }
        }
        _ => {}
    }
}

fn replace_null(value: &mut Value, schema: &Schema) {
    if value.is_null()
        && !schema.nullable
        && let Some(default) = schema.default_value()
    {
        *value = default.clone();
    }
}

/// Removes members that are null where null is not valid and where there is no default. Items of
/// lists stay.
pub fn remove_nulls(object: &mut Map<String, Value>, schema: &Schema) {
    object.retain(|name, member| {
        let Some(schema) = schema.member(name) else {
            return true;
        };
        let is_removed = member.is_null() && !schema.nullable && schema.default.is_none();
        if !is_removed {
            remove_nulls_within(member, schema);
        }
        !is_removed
    });
}

fn remove_nulls_within(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(members) => remove_nulls(members, schema),
        Value::Array(items) => {
            if let Some(schema) = schema.items.as_deref() {
                for item in items {
                    remove_nulls_within(item, schema);
                }
            }
        }
        _ => {}
    }
}
