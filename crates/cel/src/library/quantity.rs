//! Kubernetes' quantities, and the functions on them.

use super::{Library, costs};
use crate::cel_type::Type;
use crate::error::EvalError;
use crate::function::{Function, Implementation};
use crate::value::{Opaque, OpaqueValue, Value};
use std::cmp::Ordering;

mod amount;

use amount::Amount;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "kubernetes.Quantity";

/// A quantity.
#[derive(Debug, Clone)]
struct Quantity {
    amount: Amount,
    /// Reports whether it is a sum or a difference. Upstream cannot compare others with it by `==`.
    is_computed: bool,
}

impl OpaqueValue for Quantity {
    fn runtime_type(&self) -> Type {
        Type::object(NAME)
    }

    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError> {
        let other: &dyn std::any::Any = other;
        let other: Option<&Self> = other.downcast_ref();
        other
            .filter(|it| !it.is_computed)
            .map(|it| it.amount.compare(&self.amount) == Ordering::Equal)
            .ok_or_else(EvalError::no_such_overload)
    }
}

fn value<'a>(amount: Amount, is_computed: bool) -> Value<'a> {
    Value::Opaque(Opaque::new(Quantity {
        amount,
        is_computed,
    }))
}

fn text<'s>(arguments: &'s [Value<'_>]) -> Result<&'s str, EvalError> {
    let text = arguments.first().and_then(Value::as_str);
    text.ok_or_else(EvalError::no_such_overload)
}

fn amount_of<'v>(value: &'v Value<'_>) -> Result<&'v Amount, EvalError> {
    match value {
        Value::Opaque(it) => it.downcast().map(|it: &Quantity| &it.amount),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}

fn applied<'a>(arguments: &[Value<'a>], apply: fn(&Amount) -> Outcome<'static>) -> Outcome<'a> {
    match arguments {
        [it] => apply(amount_of(it)?),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn compared(arguments: &[Value<'_>]) -> Result<Ordering, EvalError> {
    match arguments {
        [a, b] => Ok(amount_of(a)?.compare(amount_of(b)?)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn computed<'a>(arguments: &[Value<'a>], compute: fn(&Amount, &Amount) -> Amount) -> Outcome<'a> {
    let sum = match arguments {
        [a, Value::Int(b)] => compute(amount_of(a)?, &Amount::from(*b)),
        [a, b] => compute(amount_of(a)?, amount_of(b)?),
        _ => return Err(EvalError::no_such_overload()),
    };
    Ok(value(sum, true))
}

/// Declares a member that costs one.
fn member(
    name: &'static str,
    id: &'static str,
    signature: &str,
    implementation: Implementation,
) -> Function {
    Function::new(name)
        .member(id, signature, implementation)
        .costs(costs::nominal, costs::nominal_estimate)
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let mut functions = vec![
        Function::new("quantity")
            .overload(
                "string_to_quantity",
                "string -> object kubernetes.Quantity",
                |it| {
                    let amount = Amount::parse(text(it)?).map_err(EvalError::failed)?;
                    Ok(value(amount, false))
                },
            )
            .costs(costs::parsed, costs::parsing),
        Function::new("isQuantity")
            .overload("is_quantity_string", "string -> bool", |it| {
                Ok(Value::Bool(Amount::parse(text(it)?).is_ok()))
            })
            .costs(costs::parsed, costs::parsing),
    ];
    functions.extend(members());
    Library {
        functions,
        types: Vec::new(),
    }
}

fn members() -> [Function; 9] {
    let same = "object kubernetes.Quantity, object kubernetes.Quantity";
    let int = "object kubernetes.Quantity, int -> object kubernetes.Quantity";
    let quantities = format!("{same} -> object kubernetes.Quantity");
    [
        Function::new("sign")
            .overload("quantity_sign", "object kubernetes.Quantity -> int", |it| {
                applied(it, |it| Ok(Value::Int(it.sign())))
            })
            .costs(costs::nominal, costs::nominal_estimate),
        member(
            "isGreaterThan",
            "quantity_is_greater_than",
            &format!("{same} -> bool"),
            |it| compared(it).map(|it| Value::Bool(it.is_gt())),
        ),
        member(
            "isLessThan",
            "quantity_is_less_than",
            &format!("{same} -> bool"),
            |it| compared(it).map(|it| Value::Bool(it.is_lt())),
        ),
        member(
            "compareTo",
            "quantity_compare_to",
            &format!("{same} -> int"),
            |it| compared(it).map(|it| Value::Int(it as i64)),
        ),
        member(
            "asApproximateFloat",
            "quantity_get_float",
            "object kubernetes.Quantity -> double",
            |it| applied(it, |it| Ok(Value::Double(it.approximate()))),
        ),
        member(
            "asInteger",
            "quantity_get_int",
            "object kubernetes.Quantity -> int",
            |it| {
                applied(it, |it| {
                    it.integer()
                        .map(Value::Int)
                        .ok_or_else(|| EvalError::failed("cannot convert value to integer"))
                })
            },
        ),
        member(
            "isInteger",
            "quantity_is_integer",
            "object kubernetes.Quantity -> bool",
            |it| applied(it, |it| Ok(Value::Bool(it.integer().is_some()))),
        ),
        member("add", "quantity_add", &quantities, |it| {
            computed(it, Amount::plus)
        })
        .member("quantity_add_int", int, |it| computed(it, Amount::plus)),
        member("sub", "quantity_sub", &quantities, |it| {
            computed(it, Amount::minus)
        })
        .member("quantity_sub_int", int, |it| computed(it, Amount::minus)),
    ]
}
