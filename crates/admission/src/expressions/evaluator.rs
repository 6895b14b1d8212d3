//! `Evaluator`: evaluates the expressions of a webhook or a policy within one budget.

use super::expression::Expression;
use super::inputs::Inputs;
use kubist_cel::{Activation, Budget, Value, VariableValues, Variables};
use std::time::Duration;
use tokio::time::Instant;

/// The budget of the expressions of a policy, as upstream.
pub(crate) const POLICY_BUDGET: u64 = 10_000_000;

/// The maximum time of one expression. Costs are upstream's, by which some comparisons of large
/// objects cost next to nothing; upstream stops those when the client has gone or after a minute,
/// and large bodies of others wait here.
const TIME_MAX: Duration = Duration::from_secs(2);

/// The budget is used up: nothing more is evaluated. The text is upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "validation failed due to running out of cost budget, no further validation rules will be run"
)]
pub(crate) struct Halt;

/// Evaluates expressions. Variables are evaluated at most once.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    activation: Activation<'a>,
    variables: &'a Variables,
    values: VariableValues<'a>,
    remaining: u64,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator.
    pub(crate) fn new(inputs: &Inputs<'a>, variables: &'a Variables, budget: u64) -> Self {
        Self {
            activation: inputs.activation(),
            variables,
            values: VariableValues::new(),
            remaining: budget,
        }
    }

    /// Returns what is left of the budget.
    pub(crate) const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Evaluates an expression. The inner error is upstream's words for why it has no value.
    ///
    /// # Errors
    /// The budget is used up.
    pub(crate) fn evaluate(
        &mut self,
        expression: &'a Expression,
    ) -> Result<Result<Value<'a>, String>, Halt> {
        let program = match expression.program() {
            Ok(program) => program,
            Err(why) => return Ok(Err(format!("compilation error: {why}"))),
        };
        let until = Instant::now() + TIME_MAX;
        let is_over = || Instant::now() >= until;
        let budget = Budget {
            interrupt: Some(&is_over),
            ..Budget::default()
        };
        let evaluated =
            program.evaluate_composed(&self.activation, self.variables, &mut self.values, budget);
        let cost = self.values.take_cost().saturating_add(evaluated.cost);
        self.remaining = self.remaining.checked_sub(cost).ok_or(Halt)?;
        let text = expression.text();
        let failed = |error| format!("expression '{text}' resulted in error: {error}");
        Ok(evaluated.value.map_err(failed))
    }
}
