//! Semantic versions, and the functions on them.

use super::{Library, costs};
use crate::cel_type::Type;
use crate::error::EvalError;
use crate::function::{Function, Implementation};
use crate::value::{Opaque, OpaqueValue, Value};
use std::cmp::Ordering;

mod version;

use version::Version;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "kubernetes.Semver";

impl OpaqueValue for Version {
    fn runtime_type(&self) -> Type {
        Type::object(NAME)
    }

    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError> {
        let other: &dyn std::any::Any = other;
        let other: Option<&Self> = other.downcast_ref();
        other
            .map(|it| it.precedence(self) == Ordering::Equal)
            .ok_or_else(EvalError::no_such_overload)
    }
}

fn parsed(arguments: &[Value<'_>]) -> Result<Result<Version, String>, EvalError> {
    match arguments {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => {
            Ok(version::parse(text.as_str()))
        }
        [Value::String(text), Value::Bool(true)] => Ok(version::parse_normalized(text.as_str())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn semver<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let version = parsed(arguments)?.map_err(EvalError::failed)?;
    Ok(Value::Opaque(Opaque::new(version)))
}

fn is_semver<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    parsed(arguments).map(|it| Value::Bool(it.is_ok()))
}

fn version_of<'v>(value: &'v Value<'_>) -> Result<&'v Version, EvalError> {
    match value {
        Value::Opaque(it) => it.downcast(),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}

fn number<'a>(arguments: &[Value<'a>], number: fn(&Version) -> u64) -> Outcome<'a> {
    match arguments {
        [it] => version_of(it).map(|it| Value::Int(number(it).cast_signed())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn compared(arguments: &[Value<'_>]) -> Result<Ordering, EvalError> {
    match arguments {
        [a, b] => Ok(version_of(a)?.precedence(version_of(b)?)),
        _ => Err(EvalError::no_such_overload()),
    }
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
    let comparison = "object kubernetes.Semver, object kubernetes.Semver -> bool";
    let numbers = "object kubernetes.Semver -> int";
    let functions = vec![
        Function::new("semver")
            .overload(
                "string_to_semver",
                "string -> object kubernetes.Semver",
                semver,
            )
            .overload(
                "string_bool_to_semver",
                "string, bool -> object kubernetes.Semver",
                semver,
            )
            .costs(costs::parsed, costs::parsing),
        Function::new("isSemver")
            .overload("is_semver_string", "string -> bool", is_semver)
            .overload("is_semver_string_bool", "string, bool -> bool", is_semver)
            .costs(costs::parsed, costs::parsing),
        member(
            "isGreaterThan",
            "semver_is_greater_than",
            comparison,
            |it| compared(it).map(|it| Value::Bool(it.is_gt())),
        ),
        member("isLessThan", "semver_is_less_than", comparison, |it| {
            compared(it).map(|it| Value::Bool(it.is_lt()))
        }),
        member(
            "compareTo",
            "semver_compare_to",
            "object kubernetes.Semver, object kubernetes.Semver -> int",
            |it| compared(it).map(|it| Value::Int(it as i64)),
        ),
        member("major", "semver_major", numbers, |it| {
            number(it, |it| it.major)
        }),
        member("minor", "semver_minor", numbers, |it| {
            number(it, |it| it.minor)
        }),
        member("patch", "semver_patch", numbers, |it| {
            number(it, |it| it.patch)
        }),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
