//! Expressions: the CEL of webhooks' match conditions and of policies.
//!
//! An [`Expression`] is compiled once, when its configuration is followed. [`Inputs`] are what a
//! request binds to the variables; an [`Evaluator`] evaluates several expressions of one request
//! within a budget. Nothing here waits: what an expression asks the authorizer is noted in
//! [`AccessQuestions`], and the evaluation is repeated once the answers are there.

mod access;
mod conditions;
mod evaluator;
mod expression;
mod inputs;
mod request_form;

pub(crate) use self::access::AccessQuestions;
pub(crate) use self::conditions::{Conditions, Verdict};
pub(crate) use self::evaluator::{Evaluator, POLICY_BUDGET};
pub(crate) use self::expression::Expression;
pub(crate) use self::inputs::Inputs;
pub(crate) use self::request_form::RequestForm;
