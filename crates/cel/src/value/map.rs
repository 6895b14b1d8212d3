//! [`Map`]: a map of keys to values, or a view of a JSON object.

use super::{Text, Value};
use crate::cel_type::Name;
use crate::declared::{Declared, Kind};
use crate::error::EvalError;
use crate::escape;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A map or an object.
#[derive(Debug, Clone)]
pub struct Map<'a>(pub(crate) Repr<'a>);

#[derive(Debug, Clone)]
pub(crate) enum Repr<'a> {
    Shared(Arc<BTreeMap<Key<'a>, Value<'a>>>),
    View(&'a serde_json::Map<String, serde_json::Value>, &'a Declared),
    /// A message, with the name of its type.
    Message(Arc<Message<'a>>),
    /// The composed variables of the evaluation, which only the evaluation can look into.
    Variables,
}

/// A message that an expression created: `Object{...}` or `JSONPatch{...}`.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) name: Name,
    pub(crate) fields: BTreeMap<Name, Value<'a>>,
}

/// A key of a map. Numbers of different types are different keys, though each finds the others.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "CEL has these keys and no others")]
pub enum Key<'a> {
    /// `null`.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `uint`.
    Uint(u64),
    /// A `double`.
    Double(f64),
    /// A `string`.
    String(Text<'a>),
}

impl<'a> Key<'a> {
    /// Returns the key of a value; none if the value cannot be a key.
    pub fn new(value: &Value<'a>) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Int(it) => Self::Int(*it),
            Value::Uint(it) => Self::Uint(*it),
            Value::Double(it) => Self::Double(*it),
            Value::String(it) => Self::String(it.clone()),
            _ => return None,
        })
    }

    /// Returns the key of an element of a set: a whole number is an `int`, if it can be.
    pub(crate) fn of_element(value: &Value<'a>) -> Option<Self> {
        let key = Self::new(value)?;
        let is_int = |it: &Self| matches!(it, Self::Int(_));
        let as_int = key.alternatives().into_iter().flatten().find(is_int);
        Some(as_int.unwrap_or(key))
    }

    /// Returns the key as a value.
    pub fn value(&self) -> Value<'a> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => Value::Bool(*it),
            Self::Int(it) => Value::Int(*it),
            Self::Uint(it) => Value::Uint(*it),
            Self::Double(it) => Value::Double(*it),
            Self::String(it) => Value::String(it.clone()),
        }
    }

    /// Returns the same number as keys of other types.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        clippy::float_cmp,
        reason = "compared after the cast"
    )]
    pub(crate) fn alternatives(&self) -> [Option<Self>; 2] {
        match self {
            Self::Int(it) => [u64::try_from(*it).ok().map(Self::Uint), None],
            Self::Uint(it) => [i64::try_from(*it).ok().map(Self::Int), None],
            Self::Double(it) => {
                let (int, uint) = (*it as i64, *it as u64);
                [
                    (int as f64 == *it && int != i64::MAX).then_some(Self::Int(int)),
                    (uint as f64 == *it && uint != u64::MAX).then_some(Self::Uint(uint)),
                ]
            }
            _ => [None, None],
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Uint(_) => 3,
            Self::Double(_) => 4,
            Self::String(_) => 5,
        }
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key<'_> {}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Double(a), Self::Double(b)) => a.total_cmp(b),
            (Self::String(a), Self::String(b)) => a.as_str().cmp(b.as_str()),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl<'a> Map<'a> {
    /// Returns a view of a JSON object whose type is a declared map or object.
    pub const fn view(
        entries: &'a serde_json::Map<String, serde_json::Value>,
        declared: &'a Declared,
    ) -> Self {
        Self(Repr::View(entries, declared))
    }

    /// Reports whether the map is a view of JSON.
    pub(crate) const fn is_view(&self) -> bool {
        matches!(self.0, Repr::View(..))
    }

    /// Returns the name of the type of a message; none for other maps.
    pub fn message_name(&self) -> Option<&str> {
        match &self.0 {
            Repr::Message(message) => Some(&message.name),
            _ => None,
        }
    }

    /// Reports whether the map stands for the composed variables.
    pub(crate) const fn is_variables(&self) -> bool {
        matches!(self.0, Repr::Variables)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Shared(entries) => entries.len(),
            Repr::View(entries, _) => entries.len(),
            Repr::Message(message) => message.fields.len(),
            Repr::Variables => 0,
        }
    }

    /// Reports whether the map has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key. Fails if a key of that type cannot be in the map.
    pub fn find(&self, key: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
        match &self.0 {
            Repr::View(..) | Repr::Message(_) => match key {
                Value::String(name) => self.find_str(name.as_str()),
                _ => Err(EvalError::no_such_overload()),
            },
            Repr::Variables => Ok(None),
            Repr::Shared(entries) => {
                let Some(key) = Key::new(key) else {
                    return Ok(None);
                };
                if let Some(value) = entries.get(&key) {
                    return Ok(Some(value.clone()));
                }
                let [first, second] = key.alternatives();
                let found = first
                    .and_then(|it| entries.get(&it))
                    .or_else(|| entries.get(&second?));
                Ok(found.cloned())
            }
        }
    }

    /// Returns the value of a string key.
    pub fn find_str(&self, key: &str) -> Result<Option<Value<'a>>, EvalError> {
        match &self.0 {
            Repr::Variables => Ok(None),
            Repr::Message(message) => Ok(message.fields.get(key).cloned()),
            Repr::Shared(entries) => Ok(entries.get(&Key::String(Text::Borrowed(key))).cloned()),
            Repr::View(entries, declared) => match &declared.kind {
                Kind::Map(values) => entries
                    .get(key)
                    .map(|it| Value::view(it, values))
                    .transpose(),
                Kind::Object(object) => {
                    let Some(name) = escape::unescape(key) else {
                        return Ok(None);
                    };
                    let Some(json) = entries.get(&*name).filter(|it| !it.is_null()) else {
                        return Ok(None);
                    };
                    let Some(field) = object.field(&name) else {
                        return Ok(None);
                    };
                    Value::view(json, &field.declared).map(Some)
                }
                _ => entries.get(key).map(Value::dynamic).transpose(),
            },
        }
    }

    /// Returns the keys, in their order.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match &self.0 {
            Repr::Variables => Vec::new(),
            Repr::Message(message) => {
                let names = message.fields.keys();
                names
                    .map(|it| Value::String(Text::Shared(Arc::clone(it))))
                    .collect()
            }
            Repr::Shared(entries) => entries.keys().map(Key::value).collect(),
            Repr::View(entries, declared) => match &declared.kind {
                Kind::Object(object) => (entries.keys())
                    .filter_map(|name| object.field(name))
                    .map(|field| {
                        Value::String(Text::Shared(Arc::clone(
                            field.escaped.as_ref().unwrap_or(&field.name),
                        )))
                    })
                    .collect(),
                _ => entries
                    .keys()
                    .map(|name| Value::string(name.as_str()))
                    .collect(),
            },
        }
    }

    /// Returns the first entry.
    pub(crate) fn first(&self) -> Option<(Value<'a>, Result<Value<'a>, EvalError>)> {
        let key = match &self.0 {
            Repr::Shared(entries) => entries.keys().next()?.value(),
            Repr::View(..) | Repr::Message(_) | Repr::Variables => {
                self.keys().into_iter().next()?
            }
        };
        let value = self.find(&key).map(Option::unwrap_or_default);
        Some((key, value))
    }

    /// Inserts an entry. Fails if the key is there.
    pub(crate) fn insert(&mut self, key: &Value<'a>, value: Value<'a>) -> Result<(), EvalError> {
        if self.find(key)?.is_some() {
            let key = super::format::debug(key);
            return Err(EvalError::failed(format!(
                "insert failed: key {key} already exists"
            )));
        }
        let key = Key::new(key).ok_or_else(|| EvalError::failed("unsupported key type"))?;
        if !matches!(self.0, Repr::Shared(_)) {
            let keys = self.keys();
            let mut entries = BTreeMap::new();
            for key in keys {
                if let (Some(at), Some(value)) = (Key::new(&key), self.find(&key)?) {
                    entries.insert(at, value);
                }
            }
            self.0 = Repr::Shared(Arc::new(entries));
        }
        if let Repr::Shared(entries) = &mut self.0 {
            Arc::make_mut(entries).insert(key, value);
        }
        Ok(())
    }
}

impl<'a> From<BTreeMap<Key<'a>, Value<'a>>> for Map<'a> {
    fn from(entries: BTreeMap<Key<'a>, Value<'a>>) -> Self {
        Self(Repr::Shared(Arc::new(entries)))
    }
}
