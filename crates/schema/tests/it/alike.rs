//! What counts as the same answer where upstream's own answers vary, or show its internals.

use serde_json::Value;

/// What upstream puts before an error that is the value of an optional old value.
const WRAPPED: &str = "unsupported conversion to ref.Val: (*errors.errorString)";
/// In the error of a rule that meets a value of another type than its schema's.
const WRONG_TYPE: &str = "invalid data, expected ";
/// In the error of a rule that meets a field that the schema does not have.
const NO_OVERLOAD: &str = "no such overload";
/// The error of each of the four most expensive rules. Of equally expensive ones, upstream names
/// any.
const TOTAL: &str = "contributed to estimated rule cost total";
/// In the error of wrong metadata, of which upstream returns any.
const OF_METADATA: &str = "json: cannot unmarshal";
/// In the errors of a schema that is not structural, whose defaults upstream checks in part.
const NOT_STRUCTURAL: &str = "to be structural";
/// The error of a default that such a schema forbids.
const FORBIDDEN: &str = " in body is a forbidden property";
/// The error of a schema whose defaults upstream checks with one of the two, at random.
const BOTH: &str = "additionalProperties and properties are mutual exclusive";

/// Reports whether errors are the same.
///
/// Of values of wrong types in maps, upstream meets any first: whether a rule fails or cannot be
/// evaluated is random then, and only the places of the errors count.
pub(crate) fn errors_alike(ours: &Value, theirs: &Value) -> bool {
    let (mut ours, mut theirs) = (masked(ours), masked(theirs));
    if ours == theirs {
        return true;
    }
    let is_structural = !ours.iter().any(|it| it.contains(NOT_STRUCTURAL));
    for errors in [&mut ours, &mut theirs] {
        errors.retain(|it| is_structural || !it.ends_with(FORBIDDEN));
        for it in errors.iter_mut() {
            if it.contains(TOTAL) || it.contains(OF_METADATA) {
                let root = place(it).split('[').next().unwrap_or_default();
                *it = root.to_owned();
            }
        }
        errors.sort();
    }
    let both = || ours.iter().chain(&theirs);
    if both().any(|it| it.contains(BOTH)) {
        for errors in [&mut ours, &mut theirs] {
            errors.retain(|it| !place(it).contains(".default"));
        }
    } else if both().any(|it| it.contains(WRONG_TYPE) || it.contains(NO_OVERLOAD)) {
        for errors in [&mut ours, &mut theirs] {
            *errors = in_order(errors.iter().map(|it| place(it).to_owned()).collect());
            errors.dedup();
        }
    }
    ours == theirs
}

/// Reports whether a schema has sets of numbers, or maps with numbers as keys. Upstream compares
/// their elements as they are stored, where 1 and 1.0 differ, with what they are for rules, where
/// both are 1.0: a set with a 1 is not equal to itself.
pub(crate) fn has_sets_of_numbers(schema: &Value) -> bool {
    let is_number = |it: &Value| it["type"] == "number";
    let items = &schema["items"];
    let is_such = match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => is_number(items),
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array();
            let mut keys = keys.into_iter().flatten().filter_map(Value::as_str);
            keys.any(|key| is_number(&items["properties"][key]))
        }
        _ => false,
    };
    is_such
        || match schema {
            Value::Object(members) => members.values().any(has_sets_of_numbers),
            Value::Array(items) => items.iter().any(has_sets_of_numbers),
            _ => false,
        }
}

/// Returns where an error is.
fn place(error: &str) -> &str {
    error.split_once(": ").map_or(error, |(place, _)| place)
}

/// Returns errors without the whole schema that one of them shows: upstream shows null or an empty
/// list, and defaults as its checks changed them.
fn masked(errors: &Value) -> Vec<String> {
    let errors = errors.as_array().into_iter().flatten();
    let errors = errors.filter_map(Value::as_str);
    let masked = errors.map(|it| match it.split_once("Invalid value: {\"ID\":") {
        Some((path, rest)) => {
            let detail = rest.rsplit_once("}: ").map_or(rest, |(_, detail)| detail);
            format!("{path}{detail}")
        }
        None => it.replace(WRAPPED, ""),
    });
    in_order(masked.collect())
}

/// Upstream returns the first of several errors, in random order.
pub(crate) fn coerced_alike(ours: &Value, theirs: &Value) -> bool {
    match ours["errors"].as_array().and_then(|it| it.first()) {
        Some(_) => theirs["errors"].as_array().is_some_and(|it| !it.is_empty()),
        None => ours == theirs,
    }
}

pub(crate) fn in_order(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}
