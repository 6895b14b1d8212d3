//! CEL's own extension of lists: slices, flattening, sorting, ranges, reversal and distinct
//! elements.
//!
//! Sorting is stable. Upstream's is stable for up to twelve elements only.

use super::Library;
use super::lists::is_comparable;
use crate::cost::PER_CALL_LIMIT;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::{List, Value, compare};
use std::cmp::Ordering;

mod costs;

type Outcome<'a, T = Value<'a>> = Result<T, EvalError>;

/// The types that have an order, with the overloads that sort by value and by keys.
const SORTABLE: [(&str, &str, &str); 8] = [
    ("int", "list_int_sort", "list_int_sortByAssociatedKeys"),
    ("uint", "list_uint_sort", "list_uint_sortByAssociatedKeys"),
    (
        "double",
        "list_double_sort",
        "list_double_sortByAssociatedKeys",
    ),
    ("bool", "list_bool_sort", "list_bool_sortByAssociatedKeys"),
    (
        "duration",
        "list_google.protobuf.Duration_sort",
        "list_google.protobuf.Duration_sortByAssociatedKeys",
    ),
    (
        "timestamp",
        "list_google.protobuf.Timestamp_sort",
        "list_google.protobuf.Timestamp_sortByAssociatedKeys",
    ),
    (
        "string",
        "list_string_sort",
        "list_string_sortByAssociatedKeys",
    ),
    (
        "bytes",
        "list_bytes_sort",
        "list_bytes_sortByAssociatedKeys",
    ),
];

/// Returns an error if a list would cost more than any call may.
fn bounded(length: u64) -> Outcome<'static, ()> {
    if length > PER_CALL_LIMIT {
        return Err(EvalError::CostLimitExceeded);
    }
    Ok(())
}

/// Returns the error for a target that is no list.
fn no_list(function: &str, arguments: &[Value<'_>]) -> EvalError {
    match arguments.first() {
        // Upstream gives these types the call, and they do not know it.
        Some(Value::String(_) | Value::Timestamp(_) | Value::Duration(_)) => {
            EvalError::no_such_overload()
        }
        _ => EvalError::failed(format!("no such overload: {function}")),
    }
}

fn slice<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let (start, end) = (*start, *end);
    let failed = |why: String| {
        Err(EvalError::failed(format!(
            "cannot slice({start}, {end}), {why}"
        )))
    };
    let (Ok(from), Ok(until)) = (usize::try_from(start), usize::try_from(end)) else {
        return failed("negative indexes not supported".to_owned());
    };
    if from > until {
        return failed("start index must be less than or equal to end index".to_owned());
    }
    if list.len() < until {
        return failed(format!("list is length {}", list.len()));
    }
    let elements = (from..until).map(|at| list.get(at).map(Option::unwrap_or_default));
    elements.collect::<Result<_, _>>().map(Value::list)
}

/// Flattens nested lists. The depth of the lists that are open is bounded by that of the value.
fn flatten<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (list, depth) = match arguments {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        [value] => {
            let kind = value.runtime_type();
            return Err(EvalError::failed(format!(
                "no such overload: {kind}.flatten()"
            )));
        }
        [value, depth] => {
            let (kind, depth) = (value.runtime_type(), depth.runtime_type());
            let text = format!("no such overload: {kind}.flatten({depth})");
            return Err(EvalError::failed(text));
        }
        _ => return Err(EvalError::no_such_overload()),
    };
    let Ok(depth) = usize::try_from(depth) else {
        return Err(EvalError::failed("level must be non-negative"));
    };
    let mut flat = Vec::new();
    let mut open = vec![(list.clone(), 0)];
    while let Some((list, at)) = open.last_mut() {
        let Some(element) = list.get(*at)? else {
            open.pop();
            continue;
        };
        *at += 1;
        match element {
            Value::List(inner) if open.len() <= depth => open.push((inner, 0)),
            element => flat.push(element),
        }
        bounded(flat.len() as u64)?;
    }
    Ok(Value::list(flat))
}

fn sort<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::List(list)] => sorted(list, list),
        other => Err(no_list("sort", other)),
    }
}

fn sort_by_keys<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::List(list), Value::List(keys)] => sorted(list, keys),
        other => Err(no_list("@sortByAssociatedKeys", other)),
    }
}

fn sorted<'a>(list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    if list.len() != keys.len() {
        return Err(EvalError::failed(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    if list.is_empty() {
        return Ok(Value::List(list.clone()));
    }
    let mut keyed = Vec::with_capacity(list.len());
    for (key, value) in keys.iter().zip(list.iter()) {
        keyed.push((key?, value?));
    }
    if !is_comparable(&keyed[0].0) {
        return Err(EvalError::failed("list elements must be comparable"));
    }
    let kind = std::mem::discriminant(&keyed[0].0);
    if keyed.iter().any(|it| std::mem::discriminant(&it.0) != kind) {
        return Err(EvalError::failed("list elements must have the same type"));
    }
    insert_sort(&mut keyed);
    Ok(Value::list(keyed.into_iter().map(|it| it.1).collect()))
}

/// Sorts by key. Short lists are sorted by insertion, which is what NaN makes visible: it is
/// neither less nor greater than any number.
fn insert_sort<'a>(keyed: &mut [(Value<'a>, Value<'a>)]) {
    const SHORT: usize = 12;
    let compared = |a: &Value<'a>, b: &Value<'a>| compare::compare(a, b);
    if keyed.len() > SHORT {
        let is_nan = |value: &Value<'a>| matches!(value, Value::Double(it) if it.is_nan());
        keyed.sort_by(|a, b| {
            compared(&a.0, &b.0).unwrap_or_else(|_| is_nan(&b.0).cmp(&is_nan(&a.0)))
        });
        return;
    }
    for end in 1..keyed.len() {
        let mut at = end;
        while at > 0 && compared(&keyed[at].0, &keyed[at - 1].0) == Ok(Ordering::Less) {
            keyed.swap(at, at - 1);
            at -= 1;
        }
    }
}

fn range<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::Int(count)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    bounded(u64::try_from(*count).unwrap_or_default())?;
    Ok(Value::list((0..*count).map(Value::Int).collect()))
}

fn reverse<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let elements = (0..list.len())
        .rev()
        .map(|at| list.get(at).map(Option::unwrap_or_default));
    elements.collect::<Result<_, _>>().map(Value::list)
}

fn distinct<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::List(list)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    // The square of the length is what the call costs.
    let length = list.len() as u64;
    bounded(length.saturating_mul(length))?;
    let mut found: Vec<Value<'a>> = Vec::new();
    for element in list.iter() {
        let element = element?;
        if !found
            .iter()
            .any(|it| compare::equal(&element, it) == Ok(true))
        {
            found.push(element);
        }
    }
    Ok(Value::list(found))
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let mut functions = vec![
        Function::new("slice")
            .member("list_slice", "list(T), int, int -> list(T)", slice)
            .costs(costs::call, costs::estimate),
        Function::new("flatten")
            .declare_member("list_flatten", "list(list(T)) -> list(T)")
            .declare_member("list_flatten_int", "list(dyn), int -> list(dyn)")
            .singleton(flatten)
            .costs(costs::call, costs::estimate),
        Function::new("lists.range")
            .overload("lists_range", "int -> list(int)", range)
            .costs(costs::call, costs::estimate),
        Function::new("reverse")
            .member("list_reverse", "list(T) -> list(T)", reverse)
            .costs(costs::call, costs::estimate),
        Function::new("distinct")
            .member("list_distinct", "list(T) -> list(T)", distinct)
            .costs(costs::call, costs::estimate),
    ];
    functions.extend(sorting());
    Library {
        functions,
        types: Vec::new(),
    }
}

fn sorting() -> [Function; 2] {
    let mut by_value = Function::new("sort").singleton(sort);
    let mut by_keys = Function::new("@sortByAssociatedKeys").singleton(sort_by_keys);
    for (kind, value, keys) in SORTABLE {
        by_value = by_value.declare_member(value, &format!("list({kind}) -> list({kind})"));
        by_keys = by_keys.declare_member(keys, &format!("list(T), list({kind}) -> list(T)"));
    }
    [by_value, by_keys].map(|it| it.costs(costs::call, costs::estimate))
}
