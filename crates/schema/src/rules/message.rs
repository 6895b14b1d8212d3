//! The messages of rules that fail: those of the definition, and those of message expressions.

use kubist_api::apiextensions::v1::ValidationRule;
use kubist_apimachinery::go_text::quote;
use kubist_cel::{Activation, Budget, EvalError, Program};

/// The maximum length of the message that an expression makes.
const MESSAGE_BYTES_MAX: usize = 5 * 1024;

/// What a message expression makes.
pub(super) enum Made {
    /// A message.
    Message(String),
    /// Nothing to show: the message of the rule is used.
    Nothing,
    /// The evaluation cost too much. No more rules are evaluated.
    TooExpensive(String),
}

/// Evaluates a message expression, and takes its cost from the budget.
pub(super) fn evaluate<'a>(
    program: &'a Program,
    text: &str,
    activation: &Activation<'a>,
    budget: &mut u64,
) -> Made {
    let evaluated = program.evaluate(activation, Budget::default());
    let Some(left) = budget.checked_sub(evaluated.cost) else {
        let words = "messageExpression evaluation failed due to running out of cost budget, no \
                     further validation rules will be run";
        return Made::TooExpensive(words.to_owned());
    };
    let value = match evaluated.value {
        Err(EvalError::CostLimitExceeded) => {
            return Made::TooExpensive(format!(
                "no further validation rules will be run due to call cost exceeds limit for \
                 messageExpression: {}",
                quote(text)
            ));
        }
        value => value,
    };
    *budget = left;
    let Ok(value) = value else {
        return Made::Nothing;
    };
    let message = value.as_str().unwrap_or_default().trim();
    if message.is_empty() || message.len() > MESSAGE_BYTES_MAX || message.contains('\n') {
        return Made::Nothing;
    }
    Made::Message(message.to_owned())
}

/// Returns the message of the definition, or one that shows the rule.
pub(super) fn of_rule(rule: &ValidationRule) -> String {
    if rule.message.is_empty() {
        format!("failed rule: {}", shown(rule))
    } else {
        shown(rule).to_owned()
    }
}

/// Returns what stands for a rule in errors of its evaluation.
pub(super) fn shown(rule: &ValidationRule) -> &str {
    if rule.message.is_empty() {
        rule.rule.trim()
    } else {
        rule.message.trim()
    }
}
