//! Optional values.

use super::Library;
use crate::cel_type::Type;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;

fn unplanned<'a>(_: &mut [Value<'a>]) -> Result<Value<'a>, EvalError> {
    Err(EvalError::no_such_overload())
}

fn element<'a>(arguments: &[Value<'a>], last: bool) -> Result<Value<'a>, EvalError> {
    let [Value::List(list)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let at = if last { list.len().wrapping_sub(1) } else { 0 };
    list.get(at).map(Value::optional)
}

fn unwrap<'a>(arguments: &mut [Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::List(list)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let mut values = Vec::new();
    for value in list.iter() {
        match value? {
            Value::Optional(Some(inner)) => values.push((*inner).clone()),
            Value::Optional(None) => {}
            other => {
                let text = crate::value::format::debug(&other);
                return Err(EvalError::failed(format!("value {text} is not optional")));
            }
        }
    }
    Ok(Value::list(values))
}

/// Returns the library.
#[expect(clippy::too_many_lines, reason = "a table of declarations")]
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("optional.of").overload("optional_of", "V -> optional(V)", |arguments| {
            Ok(Value::optional(arguments.first_mut().map(std::mem::take)))
        }),
        Function::new("optional.ofNonZeroValue").overload(
            "optional_ofNonZeroValue",
            "V -> optional(V)",
            |arguments| {
                Ok(Value::optional(
                    arguments
                        .first_mut()
                        .filter(|it| !it.is_zero())
                        .map(std::mem::take),
                ))
            },
        ),
        Function::new("optional.none").overload("optional_none", "-> optional(V)", |_| {
            Ok(Value::Optional(None))
        }),
        Function::new("value").member("optional_value", "optional(V) -> V", |arguments| {
            match arguments {
                [Value::Optional(Some(value))] => Ok((**value).clone()),
                [Value::Optional(None)] => Err(EvalError::failed("optional.none() dereference")),
                _ => Err(EvalError::no_such_overload()),
            }
        }),
        Function::new("hasValue").member("optional_hasValue", "optional(V) -> bool", |arguments| {
            match arguments {
                [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
                _ => Err(EvalError::no_such_overload()),
            }
        }),
        Function::new("or").member(
            "optional_or_optional",
            "optional(V), optional(V) -> optional(V)",
            unplanned,
        ),
        Function::new("orValue").member("optional_orValue_value", "optional(V), V -> V", unplanned),
        Function::new("_?._").overload(
            "select_optional_field",
            "dyn, string -> optional(V)",
            unplanned,
        ),
        Function::new("_[?_]")
            .overload(
                "list_optindex_optional_int",
                "list(V), int -> optional(V)",
                unplanned,
            )
            .overload(
                "optional_list_optindex_optional_int",
                "optional(list(V)), int -> optional(V)",
                unplanned,
            )
            .overload(
                "map_optindex_optional_value",
                "map(K, V), K -> optional(V)",
                unplanned,
            )
            .overload(
                "optional_map_optindex_optional_value",
                "optional(map(K, V)), K -> optional(V)",
                unplanned,
            ),
        Function::new("_[_]")
            .overload(
                "optional_list_index_int",
                "optional(list(V)), int -> optional(V)",
                unplanned,
            )
            .overload(
                "optional_map_index_value",
                "optional(map(K, V)), K -> optional(V)",
                unplanned,
            ),
        Function::new("first").member("list_first", "list(V) -> optional(V)", |it| {
            element(it, false)
        }),
        Function::new("last").member("list_last", "list(V) -> optional(V)", |it| {
            element(it, true)
        }),
        Function::new("optional.unwrap").overload(
            "optional_unwrap",
            "list(optional(V)) -> list(V)",
            unwrap,
        ),
        Function::new("unwrapOpt").member(
            "optional_unwrapOpt",
            "list(optional(V)) -> list(V)",
            unwrap,
        ),
    ];
    Library {
        functions,
        types: vec![(
            "optional_type",
            Type::optional(crate::signature::parse_type("V")),
        )],
    }
}
