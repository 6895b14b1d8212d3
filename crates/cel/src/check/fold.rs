//! Types of comprehensions.

use super::checker::Checker;
use crate::cel_type::Type;
use crate::syntax::ast::{Fold, Id};
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn check_fold(&mut self, id: Id, fold: &Fold) {
        self.check(fold.range);
        self.check(fold.initial);
        let range = self.substitution.apply(&self.kind(fold.range), false);
        let accumulator = self.kind(fold.initial);
        self.locals
            .push((Arc::clone(&fold.accumulator), accumulator.clone()));
        let (first, second) = self.variable_types(fold, &range);
        self.locals.push((Arc::clone(&fold.variable), first));
        let outer = self.locals.len() - 2;
        if let Some(name) = &fold.second {
            self.locals.push((Arc::clone(name), second));
        }
        self.check(fold.condition);
        self.assert(fold.condition, &Type::Bool);
        self.check(fold.step);
        self.assert(fold.step, &accumulator);
        self.locals.truncate(outer + 1);
        self.check(fold.result);
        self.locals.truncate(outer);
        let kind = self.substitution.apply(&self.kind(fold.result), false);
        self.set(id, kind);
    }

    /// Returns the types of the variables of a range.
    fn variable_types(&mut self, fold: &Fold, range: &Type) -> (Type, Type) {
        match range {
            Type::List(element) if fold.second.is_some() => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Dyn),
            Type::Map(map) => (map.0.clone(), map.1.clone()),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.is_assignable(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let text = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(fold.range, text);
                (Type::Error, Type::Error)
            }
        }
    }

    fn assert(&mut self, id: Id, expected: &Type) {
        let kind = self.kind(id);
        if !self.is_assignable(expected, &kind) {
            self.mismatch(id, expected, &kind);
        }
    }
}
