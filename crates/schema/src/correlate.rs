//! `Correlation`: a value, the old value in the same place, and whether they are equal.
//!
//! Members correlate by name, and items of lists of type `map` by their keys. Items of other lists
//! do not correlate. Equality is upstream's: items of such a list may change their order, and an
//! object with a member that the schema does not specify equals no other.

use crate::go_value::GoNumber;
use crate::schema::{Kind, ListType, Schema};
use hashbrown::HashMap;
use kubist_apimachinery::go_text::quote;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A value and the old value in the same place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correlation<'a> {
    pub(crate) new: &'a Value,
    pub(crate) old: &'a Value,
    pub(crate) schema: &'a Schema,
}

/// The old items of a list of type `map` by key; none for other lists.
#[derive(Debug)]
pub(crate) struct OldItems<'a>(Option<HashMap<String, &'a Value>>);

impl<'a> Correlation<'a> {
    /// Returns the correlation of a member; none if the member is new, or not specified.
    pub(crate) fn member(self, name: &str) -> Option<Self> {
        Some(Correlation {
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
            schema: self.schema.member(name)?,
        })
    }

    /// Returns the old items; none if there was no list.
    pub(crate) fn old_items(self) -> Option<OldItems<'a>> {
        let old = self.old.as_array()?;
        if self.schema.list_type != Some(ListType::Map) {
            return Some(OldItems(None));
        }
        let mut items = HashMap::with_capacity(old.len());
        if self.schema.kind == Kind::Array {
            for item in old {
                if let Some(key) = key_of(item, self.schema) {
                    items.entry(key).or_insert(item);
                }
            }
        }
        Some(OldItems(Some(items)))
    }

    /// Returns the correlation of an item; none if the item is new, or the list has no keys.
    pub(crate) fn item(self, new: &'a Value, items: &OldItems<'a>) -> Option<Self> {
        let key = key_of(new, self.schema)?;
        let old = *items.0.as_ref()?.get(&key)?;
        let schema = self.schema.items.as_deref()?;
        Some(Correlation { new, old, schema })
    }
}

/// The results of comparisons, so that each value is compared once.
#[derive(Debug, Default)]
pub(crate) struct Comparisons(HashMap<usize, bool>);

impl Comparisons {
    /// Reports whether new and old value are equal.
    pub(crate) fn are_equal(&mut self, of: Correlation<'_>) -> bool {
        // A value has one address and one old value.
        let address = std::ptr::from_ref(of.new).addr();
        if let Some(known) = self.0.get(&address) {
            return *known;
        }
        let are_equal = match (of.new, of.old) {
            (Value::Array(new), Value::Array(old)) => {
                new.len() == old.len() && self.lists_are_equal(of, new)
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len() && self.objects_are_equal(of, new)
            }
            (new, old) => new == old,
        };
        self.0.insert(address, are_equal);
        are_equal
    }

    fn lists_are_equal(&mut self, of: Correlation<'_>, new: &[Value]) -> bool {
        let Some(items) = of.old_items() else {
            return false;
        };
        if items.0.is_none() {
            return of.new == of.old;
        }
        new.iter().all(|item| {
            of.item(item, &items)
                .is_some_and(|item| self.are_equal(item))
        })
    }

    fn objects_are_equal(&mut self, of: Correlation<'_>, new: &Map<String, Value>) -> bool {
        new.keys()
            .all(|name| of.member(name).is_some_and(|it| self.are_equal(it)))
    }
}

/// Returns the key of an item; none if it lacks one of the keys, or one is not a scalar.
fn key_of(item: &Value, schema: &Schema) -> Option<String> {
    let item = item.as_object()?;
    let mut key = String::new();
    if let [name] = &*schema.list_map_keys {
        // Numbers of different types are different keys, as in Go.
        match item.get(name.as_str())? {
            Value::Number(number) => {
                let tag = match GoNumber::from(number) {
                    GoNumber::Int(_) => 'i',
                    GoNumber::Float(_) => 'f',
                };
                key.push(tag);
                key.push_str(&GoNumber::from(number).text());
            }
            scalar @ (Value::Bool(_) | Value::String(_)) => key = scalar.to_string(),
            _ => return None,
        }
        return Some(key);
    }
    if schema.list_map_keys.is_empty() {
        return None;
    }
    for name in &schema.list_map_keys {
        key.push('\0');
        match item.get(name.as_str())? {
            Value::Bool(it) => key.push_str(if *it { "true" } else { "false" }),
            Value::String(text) => key.push_str(&quote(text)),
            Value::Number(number) => {
                // Writing to a String cannot fail.
                let _ = match GoNumber::from(number) {
                    GoNumber::Int(int) => write!(key, "{int}"),
                    GoNumber::Float(float) => write!(key, "{float:.6}"),
                };
            }
            _ => return None,
        }
    }
    Some(key)
}
