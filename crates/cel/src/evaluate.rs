//! The evaluation of a plan, with its cost.

pub(crate) mod attributes;
pub(crate) mod calls;
pub(crate) mod folds;

use crate::composition::Composition;
use crate::error::EvalError;
use crate::plan::{MapEntry, MessageNode, Node};
use crate::value::map::{Message, Repr};
use crate::value::{Key, List, Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an evaluation may use.
#[derive(Clone, Copy)]
pub struct Budget<'b> {
    /// The cost at which it ends.
    pub cost_limit: u64,
    /// Asked every hundred steps of comprehensions; the evaluation ends if it returns `true`.
    pub interrupt: Option<&'b dyn Fn() -> bool>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Self {
            cost_limit: crate::cost::PER_CALL_LIMIT,
            interrupt: None,
        }
    }
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget")
            .field("cost_limit", &self.cost_limit)
            .finish_non_exhaustive()
    }
}

pub(crate) type Outcome<'a, T = Value<'a>> = Result<T, EvalError>;

/// An evaluation.
pub(crate) struct Evaluation<'a, 'b> {
    /// The values of variables; those of macros come last.
    pub(crate) slots: Vec<Option<Outcome<'a>>>,
    /// Bound variables that were not used yet.
    pub(crate) lazy: Vec<(u32, &'a Node)>,
    pub(crate) cost: u64,
    pub(crate) steps: u64,
    pub(crate) budget: Budget<'b>,
    /// The variables that are evaluated when they are used.
    pub(crate) composition: Option<Composition<'a, 'b>>,
}

impl<'a> Evaluation<'a, '_> {
    /// Adds a cost. Fails beyond the limit.
    pub(crate) const fn charge(&mut self, cost: u64) -> Outcome<'a, ()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.budget.cost_limit {
            return Err(EvalError::CostLimitExceeded);
        }
        Ok(())
    }

    /// Evaluates a node.
    pub(crate) fn node(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::Constant(value) => Ok(value.borrowed()),
            Node::Slot(slot) => {
                let value = self.read(*slot);
                self.charge(1)?;
                value
            }
            Node::Take(slot) => {
                self.read_once(*slot);
                let value = self.slots.get_mut(*slot as usize).and_then(Option::take);
                self.charge(1)?;
                value.unwrap_or(Ok(Value::Null))
            }
            Node::Attribute(attribute) => self.attribute(attribute),
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::Equal(sides) => self.equality(sides, true),
            Node::NotEqual(sides) => self.equality(sides, false),
            Node::NotStrictlyFalse(inner) => {
                let value = match self.node(inner) {
                    Ok(Value::Bool(value)) => value,
                    Err(error) if !error.is_absorbed() => return Err(error),
                    _ => true,
                };
                self.charge(1)?;
                Ok(Value::Bool(value))
            }
            Node::OptionalOr(sides, unwraps) => match self.node(&sides[0])? {
                Value::Optional(None) => self.node(&sides[1]),
                Value::Optional(Some(value)) if *unwraps => Ok((*value).clone()),
                other => Ok(other),
            },
            Node::Call(call) => self.call(call),
            Node::Member(member) => {
                let value = self.node(&member.0)?;
                let key = match value {
                    Value::Double(0.0) => Some(Key::Double(0.0)),
                    Value::Double(number) if number.is_nan() => None,
                    other => Key::new(&other),
                };
                Ok(Value::Bool(key.is_some_and(|key| member.1.contains(&key))))
            }
            Node::List(elements) => {
                let list = self.list(elements);
                self.charge(crate::cost::LIST_CREATION)?;
                list
            }
            Node::Map(entries) => {
                let map = self.map(entries);
                self.charge(crate::cost::MAP_CREATION)?;
                map
            }
            Node::Message(message) => {
                let created = self.message(message);
                self.charge(crate::cost::MESSAGE_CREATION)?;
                created
            }
            Node::Fold(fold) => self.fold(fold),
            Node::Bind(bind) => self.bind(bind),
        }
    }

    /// Returns the value of a variable, which is evaluated now if it was bound and not used yet.
    pub(crate) fn read(&mut self, slot: u32) -> Outcome<'a> {
        self.read_once(slot);
        match self.slots.get(slot as usize) {
            Some(Some(value)) => value.clone(),
            _ => Err(EvalError::failed("no such attribute(s)")),
        }
    }

    pub(crate) fn read_once(&mut self, slot: u32) {
        if self.slots.get(slot as usize).is_some_and(Option::is_some) {
            return;
        }
        if let Some(at) = self.lazy.iter().rposition(|it| it.0 == slot) {
            let (_, initial) = self.lazy.remove(at);
            let value = self.node(initial);
            if let Some(slot) = self.slots.get_mut(slot as usize) {
                *slot = Some(value);
            }
        }
    }

    /// Evaluates `&&` or `||`: a term that decides absorbs errors of the other.
    fn logic(&mut self, terms: &'a [Node; 2], deciding: bool) -> Outcome<'a> {
        let mut failed = None;
        for term in terms {
            match self.node(term) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failed = failed.or_else(|| Some(EvalError::no_such_overload())),
                Err(error) if error.is_absorbed() => failed = failed.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn list(&mut self, elements: &'a [(Node, bool)]) -> Outcome<'a> {
        let mut values = Vec::with_capacity(elements.len());
        for (node, is_optional) in elements {
            match (self.node(node)?, is_optional) {
                (Value::Optional(None), true) => {}
                (Value::Optional(Some(value)), true) => values.push((*value).clone()),
                (other, true) => return Err(invalid_optional("element", &other)),
                (value, false) => values.push(value),
            }
        }
        Ok(Value::List(List::from(values)))
    }

    fn message(&mut self, message: &'a MessageNode) -> Outcome<'a> {
        let mut fields = BTreeMap::new();
        for (name, node, is_optional) in &message.fields {
            let value = match (self.node(node)?, is_optional) {
                (Value::Optional(None), true) => continue,
                (Value::Optional(Some(value)), true) => (*value).clone(),
                (other, true) => return Err(invalid_optional("entry", &other)),
                (value, false) => value,
            };
            fields.insert(Arc::clone(name), value);
        }
        let name = Arc::clone(&message.name);
        Ok(Value::Map(Map(Repr::Message(Arc::new(Message {
            name,
            fields,
        })))))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for entry in entries {
            let key = self.node(&entry.key)?;
            let value = self.node(&entry.value)?;
            let key = Key::new(&key).ok_or_else(|| EvalError::failed("unsupported key type"))?;
            match (value, entry.is_optional) {
                (Value::Optional(None), true) => drop(map.remove(&key)),
                (Value::Optional(Some(value)), true) => drop(map.insert(key, (*value).clone())),
                (other, true) => return Err(invalid_optional("entry", &other)),
                (value, false) => drop(map.insert(key, value)),
            }
        }
        Ok(Value::Map(Map::from(map)))
    }
}

fn invalid_optional(what: &str, value: &Value<'_>) -> EvalError {
    let text = crate::value::format::debug(value);
    EvalError::failed(format!(
        "cannot initialize optional list {what} from non-optional value {text}"
    ))
}
