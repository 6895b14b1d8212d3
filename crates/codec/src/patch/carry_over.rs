//! `carry_over`: makes a change of a typed object to the JSON that it was decoded from.
//!
//! The typed form may lack fields that the JSON has. Whatever did not change stays as the server
//! wrote it, to the letter; an item of a list keeps its unknown fields when it moves or changes, as
//! long as it can be recognized: by being equal, by its name, or by its place in a list of the same
//! length.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The members by which items of lists are recognized, the first that all of them have.
const KEYS: [&str; 6] = ["name", "key", "type", "uid", "ip", "id"];

/// Returns `raw` with the differences between `before` and `after`, both of the typed form.
/// `before` is what `raw` was decoded to.
pub fn carry_over(raw: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return raw.clone();
    }
    match (raw, before, after) {
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            Value::Object(members(raw, before, after))
        }
        (Value::Array(raw), Value::Array(before), Value::Array(after))
            if raw.len() == before.len() =>
        {
            Value::Array(items(raw, before, after))
        }
        _ => after.clone(),
    }
}

fn members(
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let mut result = Map::new();
    for (name, value) in raw {
        match (before.get(name), after.get(name)) {
            // The typed form does not have it, or it did not change.
            (None, None) => {
                result.insert(name.clone(), value.clone());
            }
            (Some(before), Some(after)) => {
                result.insert(name.clone(), carry_over(value, before, after));
            }
            (None, Some(after)) => {
                result.insert(name.clone(), after.clone());
            }
            (Some(_), None) => {}
        }
    }
    for (name, after) in after {
        // What the typed form always writes, such as an empty status, is no change.
        if !raw.contains_key(name) && before.get(name) != Some(after) {
            let value = match before.get(name) {
                Some(before) => carry_over(before, before, after),
                None => after.clone(),
            };
            result.insert(name.clone(), value);
        }
    }
    result
}

fn items(raw: &[Value], before: &[Value], after: &[Value]) -> Vec<Value> {
    let same = |(left, right): &(&Value, &Value)| left == right;
    let start = before.iter().zip(after).take_while(same).count();
    let rest = (&before[start..], &after[start..]);
    let ends = rest.0.iter().rev().zip(rest.1.iter().rev());
    let end = ends.take_while(same).count();
    let (raw_end, after_end) = (raw.len() - end, after.len() - end);
    let changed = middle(
        &raw[start..raw_end],
        &before[start..raw_end],
        &after[start..after_end],
    );
    let unchanged = (&raw[..start], &raw[raw_end..]);
    let all = unchanged.0.iter().cloned().chain(changed);
    all.chain(unchanged.1.iter().cloned()).collect()
}

/// The part of a list between the items at both ends that did not change.
fn middle(raw: &[Value], before: &[Value], after: &[Value]) -> Vec<Value> {
    let by_key = key_of(before, after).map(|key| {
        let names = before.iter().enumerate();
        let names = names.filter_map(|(at, item)| Some((item.get(key)?.as_str()?, at)));
        (key, names.collect::<BTreeMap<&str, usize>>())
    });
    let by_place = by_key.is_none() && before.len() == after.len();
    let mut equal: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    if by_key.is_none() && !by_place {
        for (at, item) in before.iter().enumerate().rev() {
            equal.entry(item.to_string()).or_default().push(at);
        }
    }
    let origin = |(at, item): (usize, &Value)| match &by_key {
        Some((key, names)) => names.get(item.get(key)?.as_str()?).copied(),
        None if by_place => Some(at),
        None => equal.get_mut(&item.to_string())?.pop(),
    };
    let origins: Vec<_> = after.iter().enumerate().map(origin).collect();
    let carried = after.iter().zip(origins).map(|(item, origin)| {
        origin.map_or_else(
            || item.clone(),
            |at| carry_over(&raw[at], &before[at], item),
        )
    });
    carried.collect()
}

/// Returns the member that names each item, if there is one.
fn key_of(before: &[Value], after: &[Value]) -> Option<&'static str> {
    let names = |list: &[Value], key: &str| {
        let names: Option<Vec<&str>> = list.iter().map(|it| it.get(key)?.as_str()).collect();
        let mut names = names?;
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        Some(names.len() == count)
    };
    KEYS.into_iter()
        .find(|key| names(before, key) == Some(true) && names(after, key) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(raw: Value, (before, after): (Value, Value), wanted: Value) {
        assert_eq!(carry_over(&raw, &before, &after), wanted);
    }

    #[test]
    fn what_did_not_change_stays_as_it_was_written() {
        check(
            json!({"a": "1000m", "new": {"x": 1}, "b": 1}),
            (
                json!({"a": "1", "b": 1, "c": {}}),
                json!({"a": "1", "b": 2, "c": {}}),
            ),
            json!({"a": "1000m", "new": {"x": 1}, "b": 2}),
        );
    }

    #[test]
    fn a_removed_field_goes_and_an_unknown_one_beside_it_stays() {
        check(
            json!({"m": {"a": 1, "new": 2}}),
            (json!({"m": {"a": 1}}), json!({"m": {}})),
            json!({"m": {"new": 2}}),
        );
    }

    #[test]
    fn items_that_move_change_and_come_keep_their_unknown_fields_by_name() {
        check(
            json!([{"name": "a", "new": 1}, {"name": "b", "new": 2}, {"name": "c", "new": 3}]),
            (
                json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]),
                json!([{"name": "c"}, {"name": "d"}, {"name": "a", "v": 1}]),
            ),
            json!([{"name": "c", "new": 3}, {"name": "d"}, {"name": "a", "v": 1, "new": 1}]),
        );
    }

    #[test]
    fn items_without_names_keep_theirs_by_place_or_by_being_equal() {
        let raw = json!([{"p": 1, "new": 1}, {"p": 2, "new": 2}]);
        let before = json!([{"p": 1}, {"p": 2}]);
        check(
            raw.clone(),
            (before.clone(), json!([{"p": 3}, {"p": 4}])),
            json!([{"p": 3, "new": 1}, {"p": 4, "new": 2}]),
        );
        check(
            raw,
            (before, json!([{"p": 9}, {"p": 2}, {"p": 1}])),
            json!([{"p": 9}, {"p": 2, "new": 2}, {"p": 1, "new": 1}]),
        );
    }

    #[test]
    fn equal_items_are_each_used_once() {
        check(
            json!([{"p": 1, "new": 1}, {"p": 1, "new": 2}]),
            (
                json!([{"p": 1}, {"p": 1}]),
                json!([{"p": 0}, {"p": 1}, {"p": 1}, {"p": 2}]),
            ),
            json!([{"p": 0}, {"p": 1, "new": 1}, {"p": 1, "new": 2}, {"p": 2}]),
        );
    }
}
