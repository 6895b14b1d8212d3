//! The estimated cost of comprehensions.

use super::estimator::{Entries, Estimator, Local};
use crate::cel_type::{Name, Type};
use crate::cost::estimate::{CostEstimate, SizeEstimate};
use crate::cost::sizes::PathElement;
use crate::syntax::ast::{Expr, Fold, Id};
use crate::value::Value;
use std::sync::Arc;

impl Estimator<'_> {
    fn push(
        &mut self,
        name: &Name,
        path: Option<Vec<PathElement>>,
        size: Option<SizeEstimate>,
        entries: Option<Entries>,
    ) {
        self.locals.push(Local {
            name: Arc::clone(name),
            path,
            size,
            entries,
        });
    }

    fn push_accumulator(&mut self, fold: &Fold) {
        let (path, entries, size) = (
            self.path(fold.initial),
            self.entries(fold.initial),
            self.size(fold.initial),
        );
        self.push(&fold.accumulator, path, size, entries);
    }

    fn push_variables(&mut self, fold: &Fold) {
        let entries = self.entries(fold.range);
        let is_list = match entries {
            Some(entries) => !entries.is_map,
            None => matches!(self.kind(fold.range), Type::List(_)),
        };
        let (key, value) = if is_list {
            (PathElement::Indices, PathElement::Items)
        } else {
            (PathElement::Keys, PathElement::Values)
        };
        let (key_size, value_size) = (entries.map(|it| it.key), entries.map(|it| it.value));
        if let Some(second) = &fold.second {
            let path = self.extended(fold.range, key);
            self.push(&fold.variable, Some(path), key_size, None);
            let path = self.extended(fold.range, value);
            self.push(second, Some(path), value_size, None);
            return;
        }
        let (element, size) = if is_list {
            (value, value_size)
        } else {
            (key, key_size)
        };
        let path = self.extended(fold.range, element);
        self.push(&fold.variable, Some(path), size, None);
    }

    pub(super) fn fold(&mut self, id: Id, fold: &Fold) -> CostEstimate {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.initial));
        let outer = self.locals.len();
        self.push_accumulator(fold);
        self.push_variables(fold);
        let condition = self.cost(fold.condition);
        let step = self.cost(fold.step);
        self.locals.truncate(outer + 1);
        sum = sum.plus(self.cost(fold.result));
        self.locals.truncate(outer);
        let count = self.size_or_unknown(fold.range);
        sum = sum.plus(count.times_cost(step.plus(condition)));
        match self.ast.get(fold.initial) {
            Expr::Literal(_) => {
                if let Some(size) = self.size(fold.initial) {
                    self.computed.insert(id, size);
                }
            }
            Expr::List(_) | Expr::Map(_) => {
                self.computed.insert(id, count);
                if let Some(entries) = self.entries(fold.step) {
                    self.entries.insert(id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    /// Reports whether a fold only binds a variable.
    pub(super) fn is_bind(&self, fold: &Fold) -> bool {
        matches!(self.ast.get(fold.range), Expr::List(elements) if elements.is_empty())
            && matches!(
                self.ast.get(fold.condition),
                Expr::Literal(Value::Bool(false))
            )
    }

    pub(super) fn bind(&mut self, id: Id, fold: &Fold) -> CostEstimate {
        let sum = self.cost(fold.range).plus(self.cost(fold.initial));
        let outer = self.locals.len();
        self.push_accumulator(fold);
        let sum = sum.plus(self.cost(fold.result));
        self.locals.truncate(outer);
        self.copy_sizes(id, fold.result);
        sum
    }
}
