//! Lists in a strategic merge patch: merged by key or as sets, and ordered.
//!
//! The order is upstream's: items in the patch follow the patch (or its `$setElementOrder`), and
//! the others follow the original. Where both meet, an item of the original comes first only if it
//! preceded the patch's item in the original.

use super::shape::{Child, Shape};
use super::{
    DIRECTIVE, ORDER_PREFIX, expect_list, merge_map, spend_map, unknown_directive,
    without_directives,
};
use crate::patch::{PatchError, go_value};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the identity of an item: the merge key's value, or the scalar itself.
type Identity = String;

/// Applies each `$setElementOrder/field`, and removes it and the field's list from the patch.
pub(super) fn merge_ordered(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    shape: Shape,
) -> Result<(), PatchError> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|key| key.starts_with(ORDER_PREFIX))
        .cloned()
        .collect();
    for directive in directives {
        let field = &directive[ORDER_PREFIX.len()..];
        let order = expect_list(patch.remove(&directive).unwrap_or_default())?;
        let before = original.get(field).cloned().map(expect_list).transpose()?;
        let change = patch.remove(field).map(expect_list).transpose()?;
        let child = shape.child(field)?;
        let key = child.merge.key;
        check_order(change.as_deref().unwrap_or_default(), &order, key)?;
        let merged = match (before.clone(), change) {
            (None, None) => continue,
            (Some(before), None) => before,
            (None, Some(change)) => change.into_iter().filter_map(without_directives).collect(),
            (Some(before), Some(change)) => merge_field(before, change, child)?,
        };
        let merged = arrange(merged, &order, &before.unwrap_or_default(), key)?;
        original.insert(field.to_owned(), Value::Array(merged));
    }
    Ok(())
}

/// Merges the list of a field by the field's strategy.
pub(super) fn merge_field(
    original: Vec<Value>,
    patch: Vec<Value>,
    child: Child,
) -> Result<Vec<Value>, PatchError> {
    if !child.merge.merge {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if !items_are_maps(&original, &patch)? {
        let before = original.clone();
        let mut seen = BTreeSet::new();
        let both = original.into_iter().chain(patch.iter().cloned());
        let merged = both.filter(|item| seen.insert(item.to_string())).collect();
        return arrange(merged, &patch, &before, "");
    }
    let key = child.merge.key;
    if key.is_empty() {
        return Err(PatchError::NoMergeKey {
            message: child.message(),
        });
    }
    let (original, patch) = obey_directives(original, patch, key)?;
    let merged = merge_maps(original.clone(), patch.clone(), child)?;
    arrange(merged, &patch, &original, key)
}

/// Removes the directives of items that merge with one of the original.
pub(super) fn spend(original: &[Value], patch: &mut [Value], child: Child) {
    let key = child.merge.key;
    let mut places: BTreeMap<Identity, &Map<String, Value>> = BTreeMap::new();
    for item in original {
        if let Value::Object(map) = item
            && let Some(value) = map.get(key)
        {
            places.entry(value.to_string()).or_insert(map);
        }
    }
    for item in patch {
        let Value::Object(change) = item else {
            continue;
        };
        let id = change.get(key).map(Value::to_string);
        if let Some(before) = id.and_then(|id| places.get(&id))
            && !change.contains_key(DIRECTIVE)
        {
            spend_map(before, change, child.shape);
        }
    }
}

/// Removes scalars from a list of scalars.
pub(super) fn delete_scalars(list: &mut Vec<Value>, deleted: &[Value]) -> Result<(), PatchError> {
    if deleted.is_empty() {
        return Ok(());
    }
    items_are_maps(list, deleted)?;
    let deleted: BTreeSet<String> = deleted.iter().map(Value::to_string).collect();
    list.retain(|item| !deleted.contains(&item.to_string()));
    Ok(())
}

/// Reports whether all items are maps. Lists of lists and mixed lists cannot be merged.
fn items_are_maps(original: &[Value], patch: &[Value]) -> Result<bool, PatchError> {
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else {
        return Ok(false);
    };
    if first.is_array() {
        return Err(PatchError::ListOfLists);
    }
    let ty = go_value::type_name(first);
    if items.any(|item| go_value::type_name(item) != ty) {
        return Err(mixed(original, patch));
    }
    Ok(first.is_object())
}

fn mixed(original: &[Value], patch: &[Value]) -> PatchError {
    let (original, patch) = (go_value::print_list(original), go_value::print_list(patch));
    let lists = format!("[{original} {patch}]");
    PatchError::MixedList { lists }
}

/// Removes the items with `$patch` from the patch and applies them.
fn obey_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &'static str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::with_capacity(patch.len());
    let mut deleted = BTreeSet::new();
    let mut replace = false;
    for item in patch {
        let directive = item.get(DIRECTIVE);
        match directive.map(Value::as_str) {
            None => rest.push(item),
            Some(Some("delete")) => {
                deleted.insert(identity(&item, key)?);
            }
            Some(Some("replace")) => replace = true,
            Some(Some("merge")) => return Err(PatchError::MergeDirective),
            Some(_) => {
                return Err(item
                    .as_object()
                    .map_or_else(|| mixed(&original, &rest), unknown_directive));
            }
        }
    }
    if replace {
        return Ok((rest, Vec::new()));
    }
    if !deleted.is_empty() {
        original.retain(|item| match item.get(key) {
            Some(value) => !deleted.contains(&value.to_string()),
            None => true,
        });
    }
    Ok((original, rest))
}

/// Merges items with equal keys, appends the others.
fn merge_maps(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    child: Child,
) -> Result<Vec<Value>, PatchError> {
    let key = child.merge.key;
    let mut places: BTreeMap<Identity, usize> = BTreeMap::new();
    for (place, item) in original.iter().enumerate() {
        if let Some(value) = item.get(key) {
            places.entry(value.to_string()).or_insert(place);
        }
    }
    for item in patch {
        let id = identity(&item, key)?;
        match (places.get(&id), item) {
            (Some(&place), Value::Object(change)) => {
                let Value::Object(before) = original[place].take() else {
                    continue;
                };
                original[place] = Value::Object(merge_map(before, change, child.shape)?);
            }
            (_, item) => {
                places.insert(id, original.len());
                original.push(item);
            }
        }
    }
    Ok(original)
}

fn identity(item: &Value, key: &'static str) -> Result<Identity, PatchError> {
    if key.is_empty() {
        return Ok(item.to_string());
    }
    let Value::Object(map) = item else {
        return Err(PatchError::WrongType {
            expected: go_value::MAP,
            found: go_value::type_name(item),
        });
    };
    match map.get(key) {
        Some(value) => Ok(value.to_string()),
        None => Err(PatchError::MissingMergeKey {
            map: go_value::print(item),
            key,
        }),
    }
}

/// Returns the first position of each identity.
fn places(list: &[Value], key: &'static str) -> Result<BTreeMap<Identity, usize>, PatchError> {
    let mut places = BTreeMap::new();
    for (place, item) in list.iter().enumerate() {
        places.entry(identity(item, key)?).or_insert(place);
    }
    Ok(places)
}

/// Orders `merged`: items in `order` as there, others as in `before`.
fn arrange(
    merged: Vec<Value>,
    order: &[Value],
    before: &[Value],
    key: &'static str,
) -> Result<Vec<Value>, PatchError> {
    let order = places(order, key)?;
    let before = places(before, key)?;
    // Each item has its positions in the order and in the original; items without any go last.
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for item in merged {
        let id = identity(&item, key)?;
        let place = before.get(&id).copied();
        match order.get(&id) {
            Some(&rank) => named.push((rank, place, item)),
            None => others.push((place.unwrap_or(usize::MAX), place, item)),
        }
    }
    named.sort_by_key(|&(rank, ..)| rank);
    others.sort_by_key(|&(rank, ..)| rank);
    let mut arranged = Vec::with_capacity(named.len() + others.len());
    let mut named = named.into_iter().peekable();
    for (_, place, other) in others {
        while let Some((_, _, item)) = named.next_if(|(_, named_place, _)| {
            !matches!((place, *named_place), (Some(other), Some(named)) if other < named)
        }) {
            arranged.push(item);
        }
        arranged.push(other);
    }
    arranged.extend(named.map(|(_, _, item)| item));
    Ok(arranged)
}

/// Checks that the patch's items appear in the required order; items to be deleted do not count.
fn check_order(patch: &[Value], order: &[Value], key: &'static str) -> Result<(), PatchError> {
    let mut order_ids = order.iter().map(|item| identity(item, key));
    for item in patch {
        if !key.is_empty()
            && item
                .get(DIRECTIVE)
                .is_some_and(|directive| directive == "delete")
        {
            continue;
        }
        let id = identity(item, key)?;
        loop {
            let Some(found) = order_ids.next().transpose()? else {
                return Err(PatchError::ElementOrder {
                    patch: go_value::print_list(patch),
                    order: go_value::print_list(order),
                });
            };
            if found == id {
                break;
            }
        }
    }
    Ok(())
}
