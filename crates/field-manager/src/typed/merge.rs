//! A configuration merged into a live value.

use super::list_items::path_element;
use super::sides::{Sides, types, zip_members};
use super::{TypedError, TypedErrors, TypedValue, prefix};
use crate::path_element::PathElement;
use crate::schema::{Atom, ListType, MapType, Schema, TypeRef};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn merge(live: &TypedValue, config: &TypedValue) -> Result<TypedValue, TypedErrors> {
    let mut errors = Vec::new();
    let walker = Walker {
        schema: &live.schema,
    };
    let (of_live, of_config) = (Some(&live.value), Some(&config.value));
    let merged = walker.values(&mut errors, &live.type_ref, of_live, of_config);
    TypedErrors::check(errors)?;
    Ok(live.with_value(merged.unwrap_or_default()))
}

struct Walker<'a> {
    schema: &'a Schema,
}

impl Walker<'_> {
    /// Merges two values; none if nothing is left of them.
    fn values(
        &self,
        errors: &mut Vec<TypedError>,
        type_ref: &TypeRef,
        live: Option<&Value>,
        config: Option<&Value>,
    ) -> Option<Value> {
        let (of_live, of_config) = match types(self.schema, type_ref, live, config) {
            Ok(types) => types,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        if let Some(of_live) = of_live {
            // The type changes: both are checked, the configuration's counts.
            self.atom(errors, &of_live, type_ref, live, config);
        }
        self.atom(errors, &of_config, type_ref, live, config)
    }

    fn atom(
        &self,
        errors: &mut Vec<TypedError>,
        atom: &Atom,
        type_ref: &TypeRef,
        live: Option<&Value>,
        config: Option<&Value>,
    ) -> Option<Value> {
        match Sides::of(atom, type_ref, live, config) {
            Ok(Sides::Leaf) => config.or(live).cloned(),
            Ok(Sides::Maps(map, live, config)) => self.map(errors, &map, live, config),
            Ok(Sides::Lists(list, live, config)) => self.list(errors, &list, live, config),
            Err(found) => {
                errors.extend(found);
                None
            }
        }
    }

    fn map(
        &self,
        errors: &mut Vec<TypedError>,
        map: &MapType,
        live: Option<&Map<String, Value>>,
        config: Option<&Map<String, Value>>,
    ) -> Option<Value> {
        let mut out = Map::new();
        zip_members(live, config, |name, live, config| {
            let start = errors.len();
            let merged = self.values(errors, map.type_of(name), live, config);
            prefix(errors, start, &PathElement::from(name));
            if let Some(merged) = merged {
                out.insert(name.to_owned(), merged);
            }
        });
        (!out.is_empty()).then_some(Value::Object(out))
    }

    fn list(
        &self,
        errors: &mut Vec<TypedError>,
        list: &ListType,
        live: Option<&Vec<Value>>,
        config: Option<&Vec<Value>>,
    ) -> Option<Value> {
        let start = errors.len();
        let config = self.index(errors, list, config, false);
        let live = self.index(errors, list, live, true);
        if errors.len() > start {
            return None;
        }
        let merging = Merging {
            walker: self,
            list,
            live: &live,
            config: &config,
        };
        let out = merging.run();
        (!out.is_empty()).then_some(Value::Array(out))
    }

    /// Returns the items with their path elements. Of repeated items none is merged: each stands
    /// for null.
    fn index<'v>(
        &self,
        errors: &mut Vec<TypedError>,
        list: &ListType,
        items: Option<&'v Vec<Value>>,
        may_repeat: bool,
    ) -> Indexed<'v> {
        let mut indexed = Indexed::default();
        for (position, item) in items.into_iter().flatten().enumerate() {
            let element = match path_element(self.schema, list, item) {
                Ok(element) => element,
                Err(why) => {
                    errors.push(TypedError::new(format!("element {position}: {why}")));
                    continue;
                }
            };
            let repeats = indexed.by_element.contains_key(&element);
            if repeats && !may_repeat {
                let why = format!("duplicate entries for key {element}");
                errors.push(TypedError::new(why));
                continue;
            }
            let merged = if repeats { &Value::Null } else { item };
            indexed.by_element.insert(element.clone(), merged);
            indexed.items.push((element, item));
        }
        indexed
    }
}

#[derive(Default)]
struct Indexed<'v> {
    items: Vec<(PathElement, &'v Value)>,
    by_element: BTreeMap<PathElement, &'v Value>,
}

/// The merge of two associative lists. The result has the configuration's order; items that only
/// the live list has stay behind the item that they followed.
struct Merging<'a> {
    walker: &'a Walker<'a>,
    list: &'a ListType,
    live: &'a Indexed<'a>,
    config: &'a Indexed<'a>,
}

impl Merging<'_> {
    fn run(&self) -> Vec<Value> {
        let mut out = Vec::with_capacity(self.live.items.len().max(self.config.items.len()));
        let is_shared = |it: &&(PathElement, &Value)| self.live.by_element.contains_key(&it.0);
        let shared = self.config.items.iter().filter(is_shared);
        let mut shared = shared.map(|it| &it.0).peekable();
        let mut merged = BTreeSet::new();
        let mut live = self.live.items.iter().peekable();
        let mut config = self.config.items.iter().peekable();
        loop {
            if let (Some((of_live, _)), Some((of_config, _))) = (live.peek(), config.peek()) {
                if of_live == of_config {
                    merged.insert(of_live);
                    out.extend(self.merged(of_live));
                    live.next();
                    config.next();
                    shared.next();
                    continue;
                }
                let is_later = shared.peek().is_some_and(|next| *next != of_live);
                if is_later && self.config.by_element.contains_key(of_live) {
                    // It comes where the configuration has it.
                    live.next();
                    continue;
                }
            }
            if let Some((element, item)) = live.peek() {
                if !self.config.by_element.contains_key(element) {
                    out.extend(self.merge_item(Some(item), None));
                    live.next();
                    continue;
                }
                if merged.contains(element) {
                    live.next();
                }
            }
            let Some((element, _)) = config.next() else {
                if live.peek().is_none() {
                    return out;
                }
                continue;
            };
            merged.insert(element);
            out.extend(self.merged(element));
            shared.next_if(|next| *next == element);
        }
    }

    fn merged(&self, element: &PathElement) -> Option<Value> {
        let of = |side: &Indexed<'_>| side.by_element.get(element).map(|it| (*it).clone());
        let (live, config) = (of(self.live), of(self.config));
        self.merge_item(live.as_ref(), config.as_ref())
    }

    fn merge_item(&self, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
        // Upstream loses the errors of items here; both lists were checked before.
        let mut lost = Vec::new();
        let item_type = &self.list.element_type;
        self.walker.values(&mut lost, item_type, live, config)
    }
}
