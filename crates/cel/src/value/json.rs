//! Views of JSON: how declared values are read when they are asked for, and how they compare.

use super::{Blob, Duration, Key, List, Map, Timestamp, Value, list};
use crate::declared::{Declared, Kind, ListKind};
use crate::error::EvalError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::Value as Json;
use std::collections::BTreeMap;

type Outcome<'a> = Result<Value<'a>, EvalError>;

impl<'a> Value<'a> {
    /// Views a JSON value as its type declares it.
    ///
    /// # Errors
    /// The value is not of its type.
    pub fn view(json: &'a Json, declared: &'a Declared) -> Outcome<'a> {
        match (&declared.kind, json) {
            (_, Json::Null) if declared.nullable => Ok(Self::Null),
            (Kind::Dyn, _) => Self::dynamic(json),
            (_, Json::Null) => Err(EvalError::failed(
                "invalid data, got null for schema with nullable=false",
            )),
            (Kind::String, Json::String(text)) => Ok(Self::string(text.as_str())),
            (Kind::Bool, Json::Bool(it)) => Ok(Self::Bool(*it)),
            (Kind::Int, Json::Number(number)) => number
                .as_i64()
                .map(Self::Int)
                .ok_or_else(|| expected(json, "int")),
            (Kind::Double, Json::Number(number)) => number
                .as_f64()
                .map(Self::Double)
                .ok_or_else(|| expected(json, "float")),
            (Kind::Object(_) | Kind::Map(_), Json::Object(entries)) => {
                Ok(Self::Map(Map::view(entries, declared)))
            }
            (Kind::List(..), Json::Array(items)) => Ok(Self::List(List::view(items, declared))),
            (Kind::IntOrString, _) => int_or_string(json),
            (Kind::DateTime | Kind::Date | Kind::Duration | Kind::Bytes, Json::String(text)) => {
                formatted(text, &declared.kind)
            }
            (Kind::Preserved, _) => Ok(Self::Preserved(json)),
            (kind, _) => Err(expected(json, expectation(kind))),
        }
    }

    /// Views a JSON value without a declared type.
    ///
    /// # Errors
    /// None that JSON can cause.
    pub fn dynamic(json: &'a Json) -> Outcome<'a> {
        static ANY: Declared = Declared::new(Kind::Dyn, u64::MAX, 0);
        Ok(match json {
            Json::Null => Self::Null,
            Json::Bool(it) => Self::Bool(*it),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Self::Int(number),
                None => number.as_u64().map_or_else(
                    || Self::Double(number.as_f64().unwrap_or(f64::NAN)),
                    Self::Uint,
                ),
            },
            Json::String(text) => Self::string(text.as_str()),
            Json::Array(items) => {
                Self::list(items.iter().map(Self::dynamic).collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => Self::Map(Map::view(entries, &ANY)),
        })
    }
}

const fn expectation(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int => "int",
        Kind::Double => "float",
        Kind::List(..) => "[]",
        Kind::Map(_) | Kind::Object(_) => "{}",
        _ => "string",
    }
}

fn expected(json: &Json, what: &str) -> EvalError {
    let found = match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float64",
        Json::Number(_) => "int64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    };
    EvalError::failed(match what {
        "{}" => "invalid data, expected a map for the provided schema with type=object".to_owned(),
        "[]" => {
            "invalid data, expected an array for the provided schema with type=array".to_owned()
        }
        what => format!("invalid data, expected {what}, got {found}"),
    })
}

fn int_or_string(json: &Json) -> Outcome<'_> {
    match json {
        Json::String(text) => Ok(Value::string(text.as_str())),
        Json::Number(number) if number.is_i64() => {
            Ok(Value::Int(number.as_i64().unwrap_or_default()))
        }
        _ => Err(EvalError::failed(
            "invalid data, expected XIntOrString value to be either a string or integer",
        )),
    }
}

fn formatted<'a>(text: &'a str, kind: &Kind) -> Outcome<'a> {
    match kind {
        Kind::DateTime => date_time(text)
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::failed(format!("Invalid date-time formatted string {text}"))),
        Kind::Date => Timestamp::parse_date(text)
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::failed(format!("Invalid date formatted string {text}"))),
        Kind::Duration => Duration::parse_loosely(text)
            .map(Value::Duration)
            .ok_or_else(|| {
                EvalError::failed(format!(
                    "Invalid duration {text}: unable to parse {text} as duration"
                ))
            }),
        _ => match URL_SAFE.decode(text) {
            Ok(bytes) => Ok(Value::Bytes(Blob::from(bytes))),
            Err(_) => Err(EvalError::failed(format!(
                "Invalid byte formatted string {text}"
            ))),
        },
    }
}

/// Parses a date and time in the notations that OpenAPI's validation allows.
fn date_time(text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return Timestamp::from_seconds(0);
    }
    let parsed = Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}Z")));
    parsed.map(|it| it.0)
}

/// Compares a preserved value with another.
pub(crate) fn equals(json: &Json, other: &Value<'_>) -> bool {
    match other {
        Value::Preserved(other) => json == *other,
        _ => false,
    }
}

/// Compares two objects of which at least the first has declared fields; none for other maps.
pub(crate) fn equal_objects<'a>(a: &Map<'a>, b: &Map<'a>) -> Option<Result<bool, EvalError>> {
    let (super::map::Repr::View(entries, declared), super::map::Repr::View(others, of_others)) =
        (&a.0, &b.0)
    else {
        return None;
    };
    let Kind::Object(object) = &declared.kind else {
        return None;
    };
    if !matches!(of_others.kind, Kind::Object(_) | Kind::Map(_)) {
        return Some(equals_dynamic(entries, object, others));
    }
    let compare = || {
        for (name, json) in *entries {
            let other = others.get(name);
            let Some(field) = object.field(name) else {
                if other.is_some_and(|other| other != json) {
                    return Ok(false);
                }
                continue;
            };
            match (json, other.filter(|it| !it.is_null())) {
                (Json::Null, None) => {}
                (Json::Null, _) | (_, None) => return Ok(false),
                (json, Some(other)) => {
                    let (a, b) = (
                        Value::view(json, &field.declared)?,
                        Value::view(other, &field.declared)?,
                    );
                    if !super::compare::equal(&a, &b)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    };
    Some(compare())
}

/// Compares an object that has declared fields with one that has none, as upstream's values of
/// optional variables.
fn equals_dynamic(
    entries: &serde_json::Map<String, Json>,
    object: &crate::declared::Object,
    others: &serde_json::Map<String, Json>,
) -> Result<bool, EvalError> {
    if entries.len() != others.len() {
        return Ok(false);
    }
    for (name, json) in entries {
        let Some(field) = object.field(name) else {
            return Err(EvalError::no_such_overload());
        };
        match (json, others.get(name)) {
            (Json::Null, None) => {}
            (Json::Null, _) | (_, None) => return Ok(false),
            (json, Some(other)) => {
                let (a, b) = (Value::view(json, &field.declared)?, Value::dynamic(other)?);
                if !super::compare::equal(&a, &b)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// The elements of a set or a map list, which are found by what identifies them.
struct Identified<'a> {
    values: Vec<Value<'a>>,
    /// Positions by scalar, or by the scalars of the list's keys.
    positions: BTreeMap<Vec<Option<Key<'a>>>, usize>,
}

impl<'a> Identified<'a> {
    fn new(list: &List<'a>, declared: &Declared) -> Result<Self, EvalError> {
        let mut it = Self {
            values: Vec::with_capacity(list.len()),
            positions: BTreeMap::new(),
        };
        for value in list.iter() {
            let value = value?;
            it.positions
                .entry(identity(&value, declared)?)
                .or_insert(it.values.len());
            it.values.push(value);
        }
        Ok(it)
    }

    fn position(&self, value: &Value<'a>, declared: &Declared) -> Result<Option<usize>, EvalError> {
        Ok(self.positions.get(&identity(value, declared)?).copied())
    }
}

/// Returns what identifies an element. Values that cannot be keys identify nothing; numbers of
/// several types identify the same if they are equal.
fn identity<'a>(value: &Value<'a>, declared: &Declared) -> Result<Vec<Option<Key<'a>>>, EvalError> {
    match (&declared.kind, value) {
        (Kind::List(_, ListKind::Map(keys)), Value::Map(map)) => keys
            .iter()
            .map(|key| Ok(map.find_str(key)?.and_then(|it| Key::of_element(&it))))
            .collect(),
        _ => Ok(vec![Key::of_element(value)]),
    }
}

/// Compares lists without order.
pub(crate) fn equal_unordered<'a>(
    a: &List<'a>,
    b: &List<'a>,
    declared: &'a Declared,
) -> Result<bool, EvalError> {
    let known = Identified::new(a, declared)?;
    for other in b.iter() {
        let other = other?;
        let Some(at) = known.position(&other, declared)? else {
            return Ok(false);
        };
        if !super::compare::equal(&known.values[at], &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Merges two set or map lists: elements of the second replace those of the first, or follow them.
pub(crate) fn merge<'a>(
    a: &List<'a>,
    b: &List<'a>,
    declared: &'a Declared,
) -> Result<List<'a>, EvalError> {
    let mut known = Identified::new(a, declared)?;
    for other in b.iter() {
        let other = other?;
        if let Some(at) = known.position(&other, declared)? {
            known.values[at] = other;
        } else {
            known
                .positions
                .insert(identity(&other, declared)?, known.values.len());
            known.values.push(other);
        }
    }
    Ok(List(list::Repr::Merged(known.values.into(), declared)))
}
