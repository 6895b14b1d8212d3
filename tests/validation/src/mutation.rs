//! `Place`: a value inside an object, and its mutations.

use crate::values::Values;
use kubist_apimachinery::wire::{FieldType, JsonForm, Schema};
use serde_json::{Map, Value};

/// Metadata that the server sets, or that locates the object.
const FIXED: [&str; 10] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// A value inside an object.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its JSON pointer.
    pub(crate) pointer: String,
    /// The name of the field that it is, or is an item of.
    name: String,
    /// Its type, if it is known.
    ty: Option<FieldType>,
    /// Whether it is in metadata or status.
    pub(crate) is_aside: bool,
}

/// Returns everything inside `object` that may be changed.
pub(crate) fn places(object: &Value, schema: &'static Schema) -> Vec<Place> {
    let root = Place {
        pointer: String::new(),
        name: String::new(),
        ty: Some(FieldType::Message(schema)),
        is_aside: false,
    };
    let mut places = Vec::new();
    below(object, &root, &mut places);
    places.push(root);
    places.retain(|it| it.pointer != "/metadata/name" || object["metadata"].get("uid").is_none());
    places
}

fn below(value: &Value, place: &Place, places: &mut Vec<Place>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, it)| (name.clone(), it)).collect(),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, it)| (index.to_string(), it)).collect()
        }
        _ => return,
    };
    for (key, child) in children {
        if is_fixed(&place.pointer, &key) {
            continue;
        }
        let (name, ty) = match (place.ty, value) {
            (Some(FieldType::Message(schema)), Value::Object(_)) => {
                (key.clone(), schema.field(&key).map(|field| field.ty))
            }
            (ty, _) => (place.name.clone(), ty.and_then(item)),
        };
        let aside = place.pointer.is_empty() && matches!(key.as_str(), "metadata" | "status");
        let step = key.replace('~', "~0").replace('/', "~1");
        let child_place = Place {
            pointer: format!("{}/{step}", place.pointer),
            name,
            ty,
            is_aside: place.is_aside || aside,
        };
        below(child, &child_place, places);
        places.push(child_place);
    }
}

/// Returns the type of an item of a list or map.
fn item(ty: FieldType) -> Option<FieldType> {
    Some(match ty {
        FieldType::MessageList(schema) | FieldType::MessageMap(schema) => {
            FieldType::Message(schema)
        }
        FieldType::StrList | FieldType::StrMap => FieldType::Str,
        FieldType::I32List => FieldType::I32,
        FieldType::I64List => FieldType::I64,
        FieldType::BoolList => FieldType::Bool,
        FieldType::BytesList | FieldType::BytesMap => FieldType::Bytes,
        _ => return None,
    })
}

fn is_fixed(parent: &str, key: &str) -> bool {
    match parent {
        "" => matches!(key, "apiVersion" | "kind"),
        // In templates, too, where they have no effect.
        _ if parent.ends_with("/metadata") => FIXED.contains(&key),
        _ => false,
    }
}

impl Place {
    /// Returns the fields of the message at this place; none if it is not a message.
    fn schema(&self) -> Option<&'static Schema> {
        match self.ty {
            Some(FieldType::Message(schema)) if schema.form == JsonForm::Object => Some(schema),
            _ => None,
        }
    }

    /// Reports whether fields can be added.
    pub(crate) fn is_message(&self) -> bool {
        self.schema().is_some()
    }

    /// Reports whether the object needs the value.
    fn is_whole(&self) -> bool {
        matches!(self.pointer.as_str(), "" | "/metadata")
    }

    /// Removes the value. Returns a description, or none if it cannot be removed.
    pub(crate) fn remove(&self, object: &mut Value) -> Option<String> {
        if self.is_whole() {
            return None;
        }
        let (parent, key) = self.pointer.rsplit_once('/')?;
        let key = key.replace("~1", "/").replace("~0", "~");
        match object.pointer_mut(parent)? {
            Value::Object(fields) => drop(fields.remove(&key)?),
            Value::Array(items) => drop(items.remove(key.parse().ok()?)),
            _ => return None,
        }
        Some(format!("remove {}", self.pointer))
    }

    /// Adds a missing field to a message.
    pub(crate) fn add_field(&self, object: &mut Value, values: &mut Values<'_>) -> Option<String> {
        let here = object.pointer_mut(&self.pointer)?.as_object_mut()?;
        let fields = self.schema()?.fields.iter();
        let absent: Vec<_> = fields
            .filter(|it| !here.contains_key(it.json) && !is_fixed(&self.pointer, it.json))
            .collect();
        let field = values.random.pick(&absent)?;
        let value = values.of(field.json, Some(field.ty));
        let done = format!("add {}/{} {value}", self.pointer, field.json);
        here.insert(field.json.to_owned(), value);
        Some(done)
    }

    /// Changes the items of a list, or the entries of a map.
    pub(crate) fn change_items(
        &self,
        object: &mut Value,
        values: &mut Values<'_>,
    ) -> Option<String> {
        let pointer = &self.pointer;
        match object.pointer_mut(pointer)? {
            Value::Array(items) => {
                let which = values.random.below(items.len());
                let how = match values.random.below(4) {
                    0 => {
                        items.clear();
                        "clear"
                    }
                    1 => {
                        let item = self.ty.and_then(item);
                        items.push(values.of(&self.name, item));
                        // A string may have replaced the whole list.
                        if let Some(Value::Array(_)) = items.last() {
                            items.pop();
                        }
                        "append to"
                    }
                    _ => {
                        let item = items.get(which)?.clone();
                        items.push(item);
                        "repeat an item of"
                    }
                };
                Some(format!("{how} {pointer}"))
            }
            Value::Object(entries) if !self.is_message() => {
                let key = values.key();
                let value = values.of("", self.ty.and_then(item));
                let done = format!("put {key:?} {value} into {pointer}");
                entries.insert(key, value);
                Some(done)
            }
            _ => None,
        }
    }

    /// Replaces a scalar.
    pub(crate) fn change(&self, object: &mut Value, values: &mut Values<'_>) -> Option<String> {
        let here = object.pointer_mut(&self.pointer)?;
        let new = match here {
            Value::Object(_) if self.is_message() && !self.is_whole() => Value::Object(Map::new()),
            Value::Object(_) | Value::Array(_) => return None,
            Value::Bool(value) => Value::Bool(!*value),
            _ => values.of(&self.name, self.ty),
        };
        let done = format!("set {} to {new}", self.pointer);
        *here = new;
        Some(done)
    }
}
