//! [`Program`]: a compiled expression, and [`Activation`]: the values of its variables.

use crate::cel_type::Type;
use crate::composition::{Composition, VariableValues, Variables};
use crate::cost::CostEstimate;
use crate::error::EvalError;
use crate::evaluate::{Budget, Evaluation};
use crate::plan::Plan;
use crate::value::Value;

/// A compiled expression. It is immutable, and can be evaluated by many threads.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
    estimate: CostEstimate,
    output: Type,
    depth: u32,
}

/// The values of variables.
#[derive(Debug, Clone, Default)]
pub struct Activation<'a> {
    values: Vec<(&'a str, Result<Value<'a>, EvalError>)>,
}

/// The result of an evaluation, with what it cost.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a result and its cost")]
pub struct Evaluated<'a> {
    /// The value.
    pub value: Result<Value<'a>, EvalError>,
    /// The cost, whether or not there is a value.
    pub cost: u64,
}

impl<'a> Activation<'a> {
    /// Creates an activation without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable.
    pub fn bind(self, name: &'a str, value: Value<'a>) -> Self {
        self.bind_result(name, Ok(value))
    }

    /// Sets the value of a variable. One that failed fails where it is used.
    pub fn bind_result(mut self, name: &'a str, value: Result<Value<'a>, EvalError>) -> Self {
        self.values.push((name, value));
        self
    }
}

impl Program {
    pub(crate) const fn new(plan: Plan, estimate: CostEstimate, output: Type, depth: u32) -> Self {
        Self {
            plan,
            estimate,
            output,
            depth,
        }
    }

    /// Returns how deep the expression is, in nodes.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns what the expression costs at least and at most.
    pub const fn cost_estimate(&self) -> CostEstimate {
        self.estimate
    }

    /// Returns the type of the value.
    pub const fn output_type(&self) -> &Type {
        &self.output
    }

    /// Reports whether the expression uses a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.plan.variables.iter().any(|it| &**it == variable)
    }

    /// Evaluates the expression.
    pub fn evaluate<'a>(
        &'a self,
        activation: &Activation<'a>,
        budget: Budget<'_>,
    ) -> Evaluated<'a> {
        self.run(activation, None, budget)
    }

    /// Evaluates the expression with variables that are evaluated when it uses them. What they
    /// cost is not in the cost of the expression: [`VariableValues::take_cost`] returns it.
    pub fn evaluate_composed<'a>(
        &'a self,
        activation: &Activation<'a>,
        variables: &'a Variables,
        values: &mut VariableValues<'a>,
        budget: Budget<'_>,
    ) -> Evaluated<'a> {
        let composition = Composition::new(activation, variables, values);
        self.run(activation, Some(composition), budget)
    }

    pub(crate) fn run<'a>(
        &'a self,
        activation: &Activation<'a>,
        composition: Option<Composition<'a, '_>>,
        budget: Budget<'_>,
    ) -> Evaluated<'a> {
        let mut slots = Vec::with_capacity(self.plan.slots as usize);
        for name in &self.plan.variables {
            if composition.is_some() && **name == *Variables::NAME {
                slots.push(Some(Ok(Variables::value())));
                continue;
            }
            let found = activation.values.iter().rev().find(|it| it.0 == &**name);
            let missing = || Err(EvalError::failed(format!("no such attribute(s): {name}")));
            slots.push(Some(found.map_or_else(missing, |it| it.1.clone())));
        }
        slots.resize_with(self.plan.slots as usize, || None);
        let mut evaluation = Evaluation {
            slots,
            lazy: Vec::new(),
            cost: 0,
            steps: 0,
            budget,
            composition,
        };
        let value = evaluation.node(&self.plan.root);
        Evaluated {
            value,
            cost: evaluation.cost,
        }
    }
}
