//! Lists of type `set` and `map`: items, or their keys, are unique.

use crate::go_value::{are_too_deep, bad_value, json_text};
use crate::place::{Place, Problems};
use crate::schema::{ListType, Schema};
use hashbrown::HashMap;
use kubist_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value};

/// Checks that the items of sets and the keys of maps are unique, everywhere in an object. An
/// object that nests too deeply has no errors; it does not [validate](crate::validate).
pub fn validate_list_types(
    object: &Map<String, Value>,
    schema: &Schema,
    path: &FieldPath,
) -> Vec<FieldError> {
    if are_too_deep(object.values()) {
        return Vec::new();
    }
    let mut errors = Errors(Problems::default());
    errors.object(object, schema, &Place::Root(path));
    errors.0.into_list()
}

/// As [`validate_list_types`], but an object that had such errors before may have any.
pub fn validate_list_types_update(
    new: &Map<String, Value>,
    old: &Map<String, Value>,
    schema: &Schema,
    path: &FieldPath,
) -> Vec<FieldError> {
    if validate_list_types(old, schema, path).is_empty() {
        validate_list_types(new, schema, path)
    } else {
        Vec::new()
    }
}

struct Errors(Problems);

impl Errors {
    fn object(&mut self, object: &Map<String, Value>, schema: &Schema, at: &Place<'_>) {
        if let Some(additional) = schema.additional() {
            for (name, member) in object {
                self.value(member, additional, &Place::Key(at, name));
            }
        }
        for (name, member) in object {
            if let Some(property) = schema.property(name) {
                self.value(member, property, &Place::Child(at, name));
            }
        }
    }

    fn value(&mut self, value: &Value, schema: &Schema, at: &Place<'_>) {
        match value {
            Value::Object(members) => self.object(members, schema, at),
            Value::Array(items) => {
                match schema.list_type {
                    Some(ListType::Set) => {
                        self.unique(items.iter().map(Key::Item), at);
                    }
                    Some(ListType::Map) => self.keys(items, schema, at),
                    _ => {}
                }
                if let Some(of_items) = schema.items.as_deref() {
                    for (index, item) in items.iter().enumerate() {
                        self.value(item, of_items, &Place::Index(at, index));
                    }
                }
            }
            _ => {}
        }
    }

    fn keys(&mut self, items: &[Value], schema: &Schema, at: &Place<'_>) {
        let is_object = |it: &Value| it.is_null() || it.is_object();
        if let Some(index) = items.iter().position(|it| !is_object(it)) {
            let detail = "must be an object for an array of list-type map";
            self.0.add(&Place::Index(at, index), |path| {
                FieldError::invalid(path, bad_value(&items[index]), detail)
            });
            return;
        }
        let names = &schema.list_map_keys;
        let keys = items.iter().map(|item| {
            let fields = names.iter().filter_map(|name| {
                let value = item.as_object()?.get(name.as_str())?;
                Some((name.to_string(), value.clone()))
            });
            let fields = Value::Object(fields.collect());
            if names.len() == 1 {
                Key::Field(fields)
            } else {
                Key::Fields(fields)
            }
        });
        self.unique(keys, at);
    }

    /// Reports the second one of equal keys.
    fn unique<'a>(&mut self, keys: impl Iterator<Item = Key<'a>>, at: &Place<'_>) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (index, key) in keys.enumerate() {
            let count = seen.entry(key.text()).or_default();
            *count += 1;
            if *count == 2 {
                self.0.add(&Place::Index(at, index), |path| {
                    FieldError::duplicate(path, bad_value(key.value()))
                });
            }
        }
    }
}

/// What must be unique.
enum Key<'a> {
    Item(&'a Value),
    /// An object with the only key, or without it.
    Field(Value),
    Fields(Value),
}

impl Key<'_> {
    fn value(&self) -> &Value {
        match self {
            Self::Item(value) => value,
            Self::Field(value) | Self::Fields(value) => value,
        }
    }

    /// Returns a text that is equal for equal keys. A scalar keeps its type; lists and objects are
    /// compared as JSON text, in which 1.0 is 1.
    fn text(&self) -> String {
        match self {
            Self::Item(value @ (Value::Array(_) | Value::Object(_))) => json_text(value),
            Self::Item(value) => format!("{value:?}"),
            Self::Field(value) => {
                let member = value.as_object().and_then(|it| it.values().next());
                member.map_or_else(String::new, |it| Key::Item(it).text())
            }
            Self::Fields(value) => json_text(value),
        }
    }
}
