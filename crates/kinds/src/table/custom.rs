//! Rows of custom objects: the name and the columns of the definition.

use super::age::since;
use super::descriptions;
use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::{AnyObject, Time};
use serde_json::Value;
use std::borrow::Cow;

/// Returns the cells of a custom object, or `None` for other objects.
pub(super) fn cells(
    facts: &'static ResourceFacts,
    object: &dyn AnyObject,
    now: Time,
) -> Option<Vec<Value>> {
    let cells = kubist_registry::custom::cells(facts, object)?;
    let name = Value::from(&*object.meta().name);
    let cells = cells.iter().map(|(column, value)| {
        value
            .as_ref()
            .map_or(Value::Null, |it| cell(column, it, now))
    });
    Some(std::iter::once(name).chain(cells).collect())
}

/// Returns the column descriptions of a custom resource, or `None` for other resources.
pub(super) fn descriptions(facts: &'static ResourceFacts) -> Option<Vec<Cow<'static, str>>> {
    let others = kubist_registry::custom::column_descriptions(facts)?;
    let name = Cow::Borrowed(descriptions::of_any("Name"));
    let others = others.into_iter().map(Cow::Owned);
    Some(std::iter::once(name).chain(others).collect())
}

/// Returns a value in a column. It is null if its type does not match.
fn cell(column: &Column, value: &Value, now: Time) -> Value {
    match (column.type_, value) {
        ("date", Value::String(text)) => match text.parse() {
            Ok(time) => since(Some(time), now).into(),
            Err(_) => "<invalid>".into(),
        },
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_)) => value.clone(),
        ("string", other) => other.to_string().into(),
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            #[expect(clippy::cast_possible_truncation, reason = "as upstream shows it")]
            (None, Some(double)) => (double as i64).into(),
            (None, None) => Value::Null,
        },
        _ => Value::Null,
    }
}
