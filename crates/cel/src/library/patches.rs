//! The messages and functions of mutating policies: `Object{...}` says what an object shall have,
//! and `JSONPatch{...}` is an operation on it.

use crate::cost::{CallCost, CallEstimate, Operands, STRING_TRAVERSAL};
use crate::declared::{Declared, Field, Kind, Object};
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;
use std::sync::Arc;

const OBJECT: &str = "Object";
const JSON_PATCH: &str = "JSONPatch";

/// Returns the type of a message; none for other names. `Object.spec` is a type as `Object` is: any
/// name is, and has any field.
pub(crate) fn message(name: &str) -> Option<Arc<Object>> {
    if name == JSON_PATCH {
        let declared = |kind| Arc::new(Declared::new(kind, u64::MAX, 0));
        let text = |name| Field::new(name, declared(Kind::String));
        let fields = vec![
            text("op"),
            text("path"),
            text("from"),
            Field::new("value", declared(Kind::Dyn)),
        ];
        return Some(Arc::new(Object::new(JSON_PATCH, fields)));
    }
    let rest = name.strip_prefix(OBJECT)?;
    let is_object = rest.is_empty() || rest.starts_with('.');
    is_object.then(|| Arc::new(Object::dynamic(name)))
}

/// Returns the functions.
pub(crate) fn functions() -> [Function; 1] {
    let escape = Function::new("jsonpatch.escapeKey").overload(
        "string_jsonpatch_escapeKey_string",
        "string -> string",
        |arguments| match arguments {
            [Value::String(key)] => Ok(Value::string(escaped(key.as_str()))),
            _ => Err(EvalError::no_such_overload()),
        },
    );
    [escape.costs(traversed, traversing)]
}

/// Escapes a key as a JSON pointer needs it.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
fn traversed(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.traversal(0, 1.0))
}

fn traversing(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    Some(CallEstimate {
        cost: size.times_factor(STRING_TRAVERSAL),
        result_size: Some(size),
    })
}
