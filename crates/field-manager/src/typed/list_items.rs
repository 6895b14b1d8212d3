//! The path elements of items of associative lists.

use crate::path_element::{KeyField, PathElement};
use crate::schema::{ListType, Relationship, Schema};
use kubist_apimachinery::go_text;
use serde_json::Value;

/// Returns the path element of an item, or why it has none.
pub(super) fn path_element(
    schema: &Schema,
    list: &ListType,
    item: &Value,
) -> Result<PathElement, String> {
    if list.relationship != Relationship::Granular {
        return Err("invalid indexing of non-associative list".to_owned());
    }
    if list.keys.is_empty() {
        return of_set(item);
    }
    let Value::Object(members) = item else {
        let what = if item.is_null() {
            "a null element"
        } else {
            "non-map elements"
        };
        return Err(format!("associative list with keys may not have {what}"));
    };
    let mut fields = Vec::with_capacity(list.keys.len());
    for name in &list.keys {
        let value = match members.get(&**name) {
            Some(value) => Some(value.clone()),
            None => default_of(schema, list, name)?,
        };
        // A key that is absent and has no default tells the item from one that has it.
        fields.extend(value.map(|value| KeyField {
            name: name.clone(),
            value,
        }));
    }
    if fields.is_empty() {
        let keys: Vec<String> = list.keys.iter().map(|it| go_text::quote(it)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't \
             have default values for any key fields)",
            keys.join(" ")
        ));
    }
    fields.sort();
    Ok(PathElement::Key(fields.into()))
}

fn default_of(schema: &Schema, list: &ListType, name: &str) -> Result<Option<Value>, String> {
    let found = match schema.resolve(&list.element_type) {
        None => Err("invalid elementType for list"),
        Some(atom) => match &atom.map {
            None => Err("associative list may not have non-map types"),
            Some(map) => Ok(map.field(name).and_then(|it| it.default.clone())),
        },
    };
    found.map_err(|why| format!("couldn't find default value for {name}: {why}"))
}

fn of_set(item: &Value) -> Result<PathElement, String> {
    let why = match item {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        _ => return Ok(PathElement::value(item.clone())),
    };
    Err(why.to_owned())
}
