//! [`Substitution`]: what type variables stand for, and whether a type can stand for another.

use crate::cel_type::{Parameter, Type};
use std::collections::BTreeMap;

/// What type variables stand for.
#[derive(Debug, Default)]
pub(crate) struct Substitution {
    bound: BTreeMap<Parameter, Type>,
    /// What was there before each change, so that changes can be undone.
    trail: Vec<(Parameter, Option<Type>)>,
    free: u32,
}

impl Substitution {
    /// Creates a variable.
    pub(crate) fn variable(&mut self) -> Type {
        self.free += 1;
        Type::Parameter(Parameter::Free(self.free - 1))
    }

    fn find(&self, kind: &Type) -> Option<&Type> {
        match kind {
            Type::Parameter(parameter) => self.bound.get(parameter),
            _ => None,
        }
    }

    fn bind(&mut self, parameter: Parameter, kind: Type) {
        let before = self.bound.insert(parameter, kind);
        self.trail.push((parameter, before));
    }

    fn undo(&mut self, length: usize) {
        while self.trail.len() > length {
            match self.trail.pop() {
                Some((parameter, Some(kind))) => drop(self.bound.insert(parameter, kind)),
                Some((parameter, None)) => drop(self.bound.remove(&parameter)),
                None => {}
            }
        }
    }

    /// Reports whether each type can stand where the other is expected; variables are bound if so.
    pub(crate) fn assignable<'t>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'t Type, &'t Type)>,
    ) -> bool {
        let length = self.trail.len();
        let fits = pairs
            .into_iter()
            .all(|(from, to)| self.is_assignable(from, to));
        if !fits {
            self.undo(length);
        }
        fits
    }

    fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Parameter(parameter) = to {
            let (valid, has_substitute) = self.substitutes(from, to, *parameter);
            if valid || has_substitute {
                return valid;
            }
        }
        if let Type::Parameter(parameter) = from {
            return self.substitutes(to, from, *parameter).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Type(_), _) => matches!(to, Type::Type(_)),
            (Type::List(a), Type::List(b)) => self.is_assignable(a, b),
            (Type::Map(a), Type::Map(b)) => {
                self.is_assignable(&a.0, &b.0) && self.is_assignable(&a.1, &b.1)
            }
            (Type::Opaque(a), Type::Opaque(b)) => {
                a.0 == b.0
                    && a.1.len() == b.1.len()
                    && a.1.iter().zip(&b.1).all(|(a, b)| self.is_assignable(a, b))
            }
            (Type::Wrapper(a), Type::Wrapper(b)) => b.accepts(a),
            (from, to) => to.accepts(from),
        }
    }

    /// Reports whether `kind` can be what a variable stands for, and whether it stands for
    /// something.
    fn substitutes(&mut self, kind: &Type, variable: &Type, parameter: Parameter) -> (bool, bool) {
        if matches!(kind, Type::Parameter(it) if *it == parameter) {
            return (true, true);
        }
        if let Some(bound) = self.bound.get(&parameter).cloned() {
            if kind.same_kind(&bound) && kind.is_same(&bound, true) {
                return (true, true);
            }
            if self.is_assignable(kind, &bound) {
                let general = most_general(kind, &bound);
                if self.is_absent(variable, &general) {
                    self.bind(parameter, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_absent(variable, kind) {
            self.bind(parameter, kind.clone());
            return (true, false);
        }
        (false, false)
    }

    /// Reports whether a variable does not occur in a type.
    fn is_absent(&self, variable: &Type, within: &Type) -> bool {
        if variable.same_kind(within) && variable.is_same(within, true) {
            return false;
        }
        match within {
            Type::Parameter(_) => self
                .find(within)
                .is_none_or(|bound| self.is_absent(variable, bound)),
            Type::List(element) | Type::Type(Some(element)) => self.is_absent(variable, element),
            Type::Map(map) => self.is_absent(variable, &map.0) && self.is_absent(variable, &map.1),
            Type::Opaque(opaque) => opaque.1.iter().all(|it| self.is_absent(variable, it)),
            _ => true,
        }
    }

    /// Replaces variables by what they stand for, and if `closes` free ones by `dyn`.
    pub(crate) fn apply(&self, kind: &Type, closes: bool) -> Type {
        match kind {
            Type::Parameter(_) => match self.find(kind) {
                Some(bound) => self.apply(bound, closes),
                None if closes => Type::Dyn,
                None => kind.clone(),
            },
            Type::List(element) => Type::list(self.apply(element, closes)),
            Type::Map(map) => Type::map(self.apply(&map.0, closes), self.apply(&map.1, closes)),
            Type::Type(Some(of)) => Type::of(self.apply(of, closes)),
            Type::Opaque(opaque) if !opaque.1.is_empty() => Type::opaque(
                &opaque.0,
                opaque.1.iter().map(|it| self.apply(it, closes)).collect(),
            ),
            other => other.clone(),
        }
    }

    /// Replaces the parameters of a signature by new variables.
    pub(crate) fn instantiate(
        &mut self,
        kind: &Type,
        variables: &mut BTreeMap<Parameter, Type>,
    ) -> Type {
        match kind {
            Type::Parameter(parameter) => variables
                .entry(*parameter)
                .or_insert_with(|| self.variable())
                .clone(),
            Type::List(element) => Type::list(self.instantiate(element, variables)),
            Type::Map(map) => {
                let key = self.instantiate(&map.0, variables);
                Type::map(key, self.instantiate(&map.1, variables))
            }
            Type::Type(Some(of)) => Type::of(self.instantiate(of, variables)),
            Type::Opaque(opaque) => {
                let parameters = opaque
                    .1
                    .iter()
                    .map(|it| self.instantiate(it, variables))
                    .collect();
                Type::opaque(&opaque.0, parameters)
            }
            other => other.clone(),
        }
    }
}

const fn is_nullable(kind: &Type) -> bool {
    matches!(
        kind,
        Type::Null
            | Type::Wrapper(_)
            | Type::Opaque(_)
            | Type::Object(_)
            | Type::Any
            | Type::Duration
            | Type::Timestamp
    )
}

/// Returns the more general of two types that are assignable.
pub(crate) fn most_general(a: &Type, b: &Type) -> Type {
    if is_less_specific(a, b) {
        a.clone()
    } else {
        b.clone()
    }
}

fn is_less_specific(a: &Type, b: &Type) -> bool {
    if a.is_dyn() || matches!(a, Type::Parameter(_)) {
        return true;
    }
    if b.is_dyn() || matches!(b, Type::Parameter(_)) {
        return false;
    }
    match (a, b) {
        (Type::List(a), Type::List(b)) => is_less_specific(a, b),
        (Type::Map(a), Type::Map(b)) => {
            is_less_specific(&a.0, &b.0) && is_less_specific(&a.1, &b.1)
        }
        (Type::Opaque(a), Type::Opaque(b)) => {
            a.0 == b.0
                && a.1.len() == b.1.len()
                && a.1.iter().zip(&b.1).all(|(a, b)| is_less_specific(a, b))
        }
        (Type::Type(_), Type::Type(_)) => true,
        (a, b) => a.same_kind(b) && a.is_same(b, true),
    }
}
