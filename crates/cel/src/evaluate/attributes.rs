//! Attributes: variables, fields, indexes and conditions.

use super::{Evaluation, Outcome};
use crate::error::EvalError;
use crate::plan::{Attribute, Base, Node, Qualifier, QualifierKey};
use crate::value::{List, Value, format};

impl<'a> Evaluation<'a, '_> {
    /// Evaluates an attribute.
    pub(super) fn attribute(&mut self, attribute: &'a Attribute) -> Outcome<'a> {
        let value = self.resolve(attribute);
        match (&attribute.base, attribute.is_presence) {
            (Base::Conditional(_), true) => self.cost = self.cost.saturating_sub(1),
            (Base::Conditional(_), false) | (_, true) => {}
            (_, false) => self.charge(1)?,
        }
        match value? {
            Value::Optional(inner) if attribute.is_presence => Ok(Value::Bool(inner.is_some())),
            value => Ok(value),
        }
    }

    /// Evaluates an attribute without the cost of its variable.
    fn resolve(&mut self, attribute: &'a Attribute) -> Outcome<'a> {
        let base = match &attribute.base {
            Base::Slot(slot) => self.read(*slot)?,
            Base::Take(slot) => match self.node_of_slot(*slot) {
                Some(value) => value?,
                None => Value::Null,
            },
            Base::Node(node) => self.node(node)?,
            Base::Conditional(conditional) => match self.node(&conditional.condition)? {
                Value::Bool(true) => self.resolve(&conditional.truthy)?,
                Value::Bool(false) => self.resolve(&conditional.falsy)?,
                _ => return Err(EvalError::no_such_overload()),
            },
        };
        if attribute.qualifiers.is_empty() {
            return Ok(base);
        }
        self.qualified(base, attribute)
    }

    fn node_of_slot(&mut self, slot: u32) -> Option<Outcome<'a>> {
        self.read_once(slot);
        self.slots.get_mut(slot as usize).and_then(Option::take)
    }

    fn qualified(&mut self, base: Value<'a>, attribute: &'a Attribute) -> Outcome<'a> {
        let (mut value, mut is_optional) = match base {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => ((*inner).clone(), true),
            value => (value, false),
        };
        let last = attribute.qualifiers.len() - 1;
        for (at, qualifier) in attribute.qualifiers.iter().enumerate() {
            is_optional |= qualifier.is_optional;
            let is_presence = attribute.is_presence && at == last;
            let found = self.step(&value, qualifier, is_optional, is_presence);
            value = match found {
                Ok(Some(_)) if is_presence => Value::Bool(true),
                Ok(Some(found)) => found,
                Ok(None) if is_optional => return Ok(Value::Optional(None)),
                Ok(None) => Value::Bool(false),
                Err(error) => return Err(error),
            };
        }
        Ok(if is_optional {
            Value::optional(Some(value))
        } else {
            value
        })
    }

    /// Follows a step. An absent value is none if the step is optional or asks for presence.
    fn step(
        &mut self,
        value: &Value<'a>,
        qualifier: &'a Qualifier,
        is_optional: bool,
        is_presence: bool,
    ) -> Outcome<'a, Option<Value<'a>>> {
        let may_miss = is_optional || is_presence;
        let found = match &qualifier.key {
            QualifierKey::Field(name) => match value {
                Value::Map(map) if map.is_variables() => match self.variable(name) {
                    Some(value) => value.map(Some),
                    None => missing_key(name, may_miss),
                },
                Value::Map(map) => map.find_str(name).and_then(|it| {
                    it.map_or_else(|| missing_key(name, may_miss), |it| Ok(Some(it)))
                }),
                other => look_up(other, &Value::string(&**name), may_miss),
            },
            QualifierKey::Constant(key) => look_up(value, key, may_miss),
            QualifierKey::Attribute(attribute) => match self.resolve(attribute) {
                Ok(key) => look_up(value, &key, may_miss),
                Err(error) => Err(error),
            },
            QualifierKey::Node(node) => match self.node(node) {
                Ok(key) => look_up(value, &key, may_miss),
                Err(error) => Err(error),
            },
        };
        if matches!(found, Ok(Some(_))) || !is_optional {
            self.charge(1)?;
        }
        found
    }

    /// Evaluates an equality.
    pub(super) fn equality(&mut self, sides: &'a [Node; 2], wanted: bool) -> Outcome<'a> {
        let (left, right) = (self.node(&sides[0]), self.node(&sides[1]));
        for failed in [&left, &right] {
            if let Err(error) = failed
                && !error.is_absorbed()
            {
                return Err(error.clone());
            }
        }
        let size = |side: &Outcome<'a>| side.as_ref().map_or(1, size_of);
        let is_opaque = wanted && matches!(left, Ok(Value::Opaque(_)));
        let cost = if is_opaque {
            1
        } else {
            crate::cost::estimate::scaled(
                size(&left).min(size(&right)),
                crate::cost::STRING_TRAVERSAL,
            )
        };
        self.charge(cost)?;
        let equal = crate::value::compare::equal(&left?, &right?);
        if wanted {
            equal.map(Value::Bool)
        } else {
            Ok(Value::Bool(!matches!(equal, Ok(true))))
        }
    }
}

fn size_of(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(inner)) => size_of(inner),
        other => other.size().unwrap_or(1),
    }
}

fn missing_key<'a>(key: &str, may_miss: bool) -> Outcome<'a, Option<Value<'a>>> {
    if may_miss {
        Ok(None)
    } else {
        Err(EvalError::failed(format!("no such key: {key}")))
    }
}

/// Returns the value of a key or an index.
fn look_up<'a>(
    value: &Value<'a>,
    key: &Value<'_>,
    may_miss: bool,
) -> Outcome<'a, Option<Value<'a>>> {
    if !matches!(
        key,
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_)
    ) {
        return Err(EvalError::failed(format!(
            "invalid qualifier type: {}",
            format::go_type(key)
        )));
    }
    match value {
        Value::Map(map) => match map.find(key)? {
            Some(found) => Ok(Some(found)),
            None => missing_key(&format::debug(key), may_miss),
        },
        Value::List(list) => element(list, key, may_miss),
        _ => missing_key(&format::debug(key), may_miss),
    }
}

fn element<'a>(list: &List<'a>, key: &Value<'_>, may_miss: bool) -> Outcome<'a, Option<Value<'a>>> {
    let at = index(key)?;
    match usize::try_from(at)
        .ok()
        .map(|at| list.get(at))
        .transpose()?
        .flatten()
    {
        Some(found) => Ok(Some(found)),
        None if may_miss => Ok(None),
        None => Err(EvalError::failed(format!(
            "index out of bounds: {}",
            format::debug(key)
        ))),
    }
}

/// Returns the index that a number stands for.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "compared after the cast"
)]
pub(crate) fn index(key: &Value<'_>) -> Outcome<'static, i64> {
    let unsupported = || {
        EvalError::failed(format!(
            "unsupported index value {} in list",
            format::debug(key)
        ))
    };
    match key {
        Value::Int(at) => Ok(*at),
        Value::Uint(at) => i64::try_from(*at).map_err(|_| unsupported()),
        Value::Double(at) if (*at as i64) as f64 == *at && *at as i64 != i64::MAX => Ok(*at as i64),
        Value::Double(_) => Err(unsupported()),
        other => Err(EvalError::failed(format!(
            "unsupported index type '{}' in list",
            other.type_name()
        ))),
    }
}
