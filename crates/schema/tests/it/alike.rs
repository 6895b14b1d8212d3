//! What counts as the same answer where upstream's own answers vary, or show its internals.

use serde_json::Value;

/// What upstream puts before an error that is the value of an optional old value.
const WRAPPED: &str = "unsupported conversion to ref.Val: (*errors.errorString)";
/// In the error of a rule that meets a value of another type than its schema's.
const WRONG_TYPE: &str = "invalid data, expected ";
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
    let both = || ours.iter().chain(&theirs);
    if both().any(|it| it.contains(BOTH)) {
        for errors in [&mut ours, &mut theirs] {
            errors.retain(|it| !place(it).contains(".default"));
        }
    } else if both().any(|it| it.contains(WRONG_TYPE)) {
        for errors in [&mut ours, &mut theirs] {
            *errors = in_order(errors.iter().map(|it| place(it).to_owned()).collect());
            errors.dedup();
        }
    }
    ours == theirs
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
