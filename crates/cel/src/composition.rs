//! [`Variables`]: variables that are expressions themselves, evaluated when they are first used.
//!
//! Admission policies have them: `variables.name` is the value of an expression, which may use the
//! variables before it. Each is evaluated at most once, within a budget of its own, and what it
//! costs is counted apart from the expression that uses it, as upstream does.
//!
//! This is not a cache between evaluations of different objects: [`VariableValues`] belong to one
//! activation.

use crate::cel_type::{Name, Type};
use crate::cost::PER_CALL_LIMIT;
use crate::declared::{Declared, Field, Kind, ListKind, Object};
use crate::error::EvalError;
use crate::evaluate::{Budget, Evaluation};
use crate::program::{Activation, Program};
use crate::value::map::Repr;
use crate::value::{Map, Value};
use kubist_apimachinery::go_text::quote;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The depth in nodes of all variables that are evaluated at the same time, because each uses the
/// next. It bounds the stack.
const NESTING_MAX: u32 = 450;
/// The size that values of unknown size have.
const UNKNOWN: u64 = u64::MAX;

/// Named expressions, in the order of their definition.
#[derive(Debug, Default)]
pub struct Variables {
    entries: Vec<Entry>,
    /// The places of each name, in order.
    places: BTreeMap<Name, Vec<usize>>,
    /// The type, once it was asked for.
    kind: OnceLock<Type>,
}

#[derive(Debug)]
struct Entry {
    name: Name,
    /// The expression, or why it does not compile.
    program: Result<Program, String>,
}

/// The values of [`Variables`] that were used so far, and what they cost.
#[derive(Debug, Default)]
pub struct VariableValues<'a> {
    values: Vec<Option<Result<Value<'a>, EvalError>>>,
    cost: u64,
    /// The depth of the variables that are being evaluated.
    depth: u32,
}

/// The variables of an evaluation.
#[derive(Debug)]
pub(crate) struct Composition<'a, 'b> {
    activation: &'b Activation<'a>,
    variables: &'a Variables,
    /// The number of variables that can be used: those before the one that is being evaluated.
    visible: usize,
    values: &'b mut VariableValues<'a>,
}

impl Variables {
    /// The name of the variable that has the others as fields.
    pub const NAME: &'static str = "variables";

    /// Creates no variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable, or why its expression does not compile: then it fails where it is used.
    pub fn push(&mut self, name: &str, program: Result<Program, String>) {
        let name: Name = name.into();
        let places = self.places.entry(Arc::clone(&name)).or_default();
        places.push(self.entries.len());
        self.entries.push(Entry { name, program });
        self.kind = OnceLock::new();
    }

    /// Returns the type of [`Self::NAME`] in expressions that use the variables so far.
    pub fn cel_type(&self) -> Type {
        self.kind.get_or_init(|| self.made_type()).clone()
    }

    fn made_type(&self) -> Type {
        let fields = self.entries.iter().map(|entry| {
            let kind = entry
                .program
                .as_ref()
                .map_or(&Type::Dyn, |it| it.output_type());
            Field::new(&entry.name, Arc::new(declared(kind)))
        });
        Type::Object(Arc::new(Object::new(
            "kubernetes.variables",
            fields.collect(),
        )))
    }

    /// Returns the value that stands for the variables.
    pub(crate) const fn value<'a>() -> Value<'a> {
        Value::Map(Map(Repr::Variables))
    }
}

/// Declares a value of a type; what has no counterpart in JSON is dynamic.
fn declared(kind: &Type) -> Declared {
    let (kind, size) = match kind {
        Type::Bool => (Kind::Bool, UNKNOWN),
        Type::Int => (Kind::Int, UNKNOWN),
        Type::Double => (Kind::Double, UNKNOWN),
        Type::String => (Kind::String, UNKNOWN),
        Type::Bytes => (Kind::Bytes, UNKNOWN),
        Type::Timestamp => (Kind::DateTime, UNKNOWN),
        Type::Duration => (Kind::Duration, UNKNOWN),
        Type::List(items) => {
            let items = Arc::new(declared(items));
            (Kind::List(items, ListKind::Atomic), UNKNOWN)
        }
        Type::Map(map) if matches!(map.0, Type::String) => {
            (Kind::Map(Arc::new(declared(&map.1))), UNKNOWN)
        }
        _ => (Kind::Dyn, UNKNOWN),
    };
    Declared::new(kind, size, 0)
}

impl VariableValues<'_> {
    /// Creates values of variables of which none was used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what the variables cost that were evaluated since the last call.
    pub const fn take_cost(&mut self) -> u64 {
        std::mem::replace(&mut self.cost, 0)
    }
}

impl<'a, 'b> Composition<'a, 'b> {
    /// Returns the variables of an evaluation that can use all of them.
    pub(crate) const fn new(
        activation: &'b Activation<'a>,
        variables: &'a Variables,
        values: &'b mut VariableValues<'a>,
    ) -> Self {
        Self {
            activation,
            visible: variables.entries.len(),
            variables,
            values,
        }
    }

    /// Returns the value of a variable, which is evaluated now if it was not used yet.
    fn variable(&mut self, name: &str, budget: Budget<'_>) -> Option<Result<Value<'a>, EvalError>> {
        let places = self.variables.places.get(name)?;
        let visible = places.partition_point(|at| *at < self.visible);
        let at = *places.get(visible.checked_sub(1)?)?;
        if let Some(Some(known)) = self.values.values.get(at) {
            return Some(known.clone());
        }
        let value = self.evaluated(at, budget);
        let values = &mut self.values.values;
        if values.len() <= at {
            values.resize_with(at + 1, || None);
        }
        values[at] = Some(value.clone());
        Some(value)
    }

    fn evaluated(&mut self, at: usize, budget: Budget<'_>) -> Result<Value<'a>, EvalError> {
        let Entry { name, program } = &self.variables.entries[at];
        let failed = |how: &str, why: &dyn std::fmt::Display| {
            EvalError::failed(format!("composited variable {} {how}: {why}", quote(name)))
        };
        let program = match program {
            Ok(program) => program,
            Err(why) => return Err(failed("fails to compile", why)),
        };
        if self.values.depth + program.depth() > NESTING_MAX {
            return Err(failed(
                "fails to evaluate",
                &"variables are nested too deeply",
            ));
        }
        self.values.depth += program.depth();
        let nested = Composition {
            activation: self.activation,
            variables: self.variables,
            visible: at,
            values: &mut *self.values,
        };
        let budget = Budget {
            cost_limit: PER_CALL_LIMIT,
            ..budget
        };
        let evaluated = program.run(self.activation, Some(nested), budget);
        self.values.depth -= program.depth();
        self.values.cost = self.values.cost.saturating_add(evaluated.cost);
        evaluated
            .value
            .map_err(|error| failed("fails to evaluate", &error))
    }
}

impl<'a> Evaluation<'a, '_> {
    /// Returns the value of a composed variable; none if there is no such variable.
    pub(crate) fn variable(&mut self, name: &str) -> Option<Result<Value<'a>, EvalError>> {
        let budget = self.budget;
        self.composition.as_mut()?.variable(name, budget)
    }
}
