//! Lists as sets: containment, equivalence and intersection.

use super::Library;
use crate::cost::{CallCost, CallEstimate, CostEstimate, Operands};
use crate::error::EvalError;
use crate::function::Function;
use crate::value::{List, Value, compare};

type Outcome<'a, T = Value<'a>> = Result<T, EvalError>;

/// Reports whether a list has an element. Elements that cannot be compared are not equal.
fn has<'a>(list: &List<'a>, wanted: &Value<'a>) -> bool {
    list.iter()
        .any(|it| it.and_then(|it| compare::equal(wanted, &it)) == Ok(true))
}

fn contains<'a>(list: &List<'a>, sublist: &List<'a>) -> Outcome<'a, bool> {
    for wanted in sublist.iter() {
        if !has(list, &wanted?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(a: &List<'a>, b: &List<'a>) -> Outcome<'a, bool> {
    for element in a.iter() {
        if has(b, &element?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn compared<'a>(
    arguments: &[Value<'a>],
    test: fn(&List<'a>, &List<'a>) -> Outcome<'a, bool>,
) -> Outcome<'a> {
    match arguments {
        [Value::List(a), Value::List(b)] => test(a, b).map(Value::Bool),
        _ => Err(EvalError::no_such_overload()),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "in floating point, as upstream does"
)]
fn cost(call: &CallCost<'_, '_>) -> Option<u64> {
    let factor = factor(call.overload?)?;
    let pairs = call.size(0).wrapping_mul(call.size(1));
    Some(((pairs as f64 * factor) as u64).saturating_add(1))
}

fn estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let factor = factor(operands.overload)?;
    let [a, b] = operands.arguments else {
        return None;
    };
    let pairs = a.size().times(b.size()).times_factor(factor);
    Some(CallEstimate::of(pairs.plus(CostEstimate::fixed(1))))
}

fn factor(overload: &str) -> Option<f64> {
    match overload {
        "list_sets_contains_list" | "list_sets_intersects_list" => Some(1.0),
        "list_sets_equivalent_list" => Some(2.0),
        _ => None,
    }
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("sets.contains")
            .overload(
                "list_sets_contains_list",
                "list(T), list(T) -> bool",
                |it| compared(it, contains),
            )
            .costs(cost, estimate),
        Function::new("sets.equivalent")
            .overload(
                "list_sets_equivalent_list",
                "list(T), list(T) -> bool",
                |it| compared(it, |a, b| Ok(contains(a, b)? && contains(b, a)?)),
            )
            .costs(cost, estimate),
        Function::new("sets.intersects")
            .overload(
                "list_sets_intersects_list",
                "list(T), list(T) -> bool",
                |it| compared(it, intersects),
            )
            .costs(cost, estimate),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
