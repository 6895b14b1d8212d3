//! Comprehensions.

use super::{Evaluation, Outcome};
use crate::error::EvalError;
use crate::plan::{BindNode, FoldNode, Node};
use crate::value::Value;

/// How many steps pass between two checks for an interrupt.
const CHECK_FREQUENCY: u64 = 100;

impl<'a> Evaluation<'a, '_> {
    fn set(&mut self, slot: u32, value: Outcome<'a>) {
        if let Some(it) = self.slots.get_mut(slot as usize) {
            *it = Some(value);
        }
    }

    /// Evaluates a comprehension.
    pub(super) fn fold(&mut self, fold: &'a FoldNode) -> Outcome<'a> {
        let range = self.node(&fold.range)?;
        let initial = self.node(&fold.initial);
        self.set(fold.slot, initial);
        match range {
            Value::List(list) => {
                for at in 0..list.len() {
                    let element = list.get(at).map(Option::unwrap_or_default);
                    let index = Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
                    if !self.iterate(fold, Ok(index), || element)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for key in map.keys() {
                    let value = || map.find(&key).map(Option::unwrap_or_default);
                    let go_on = if fold.has_second {
                        self.iterate(fold, Ok(key.clone()), value)?
                    } else {
                        self.iterate(fold, Ok(Value::Null), || Ok(key.clone()))?
                    };
                    if !go_on {
                        break;
                    }
                }
            }
            other => {
                let kind = crate::value::format::go_type(&other);
                return Err(EvalError::failed(if fold.has_second {
                    format!("unsupported comprehension range type: {kind}")
                } else {
                    format!("got '{kind}', expected iterable type")
                }));
            }
        }
        self.node(&fold.result)
    }

    /// Evaluates one step; returns whether there is another.
    fn iterate(
        &mut self,
        fold: &'a FoldNode,
        first: Outcome<'a>,
        element: impl FnOnce() -> Outcome<'a>,
    ) -> Outcome<'a, bool> {
        self.steps += 1;
        if fold.has_second {
            self.set(fold.slot + 1, first);
            self.set(fold.slot + 2, element());
        } else {
            self.set(fold.slot + 1, element());
        }
        if !matches!(fold.condition, Node::Constant(Value::Bool(true))) {
            match self.node(&fold.condition) {
                Ok(Value::Bool(false)) => return Ok(false),
                Err(error) if !error.is_absorbed() => return Err(error),
                _ => {}
            }
        }
        let step = self.node(&fold.step);
        if let Err(error) = &step
            && !error.is_absorbed()
        {
            return step.map(|_| false);
        }
        self.set(fold.slot, step);
        if self.steps.is_multiple_of(CHECK_FREQUENCY)
            && self.budget.interrupt.is_some_and(|it| it())
        {
            return Err(EvalError::Interrupted);
        }
        Ok(true)
    }

    /// Evaluates an expression with a variable that is evaluated when it is used.
    pub(super) fn bind(&mut self, bind: &'a BindNode) -> Outcome<'a> {
        if let Some(slot) = self.slots.get_mut(bind.slot as usize) {
            *slot = None;
        }
        let count = self.lazy.len();
        self.lazy.push((bind.slot, &bind.initial));
        let result = self.node(&bind.result);
        self.lazy.truncate(count);
        result
    }
}
