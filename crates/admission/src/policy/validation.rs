//! `Validation`: what a validating policy demands, compiled.

use super::composed::{composed, variables};
use super::definition::Policy;
use super::verdicts::{Annotation, Decision, Verdicts};
use crate::expressions::{Conditions, Evaluator, Expression, Inputs, POLICY_BUDGET, Verdict};
use kubist_api::admissionregistration::v1::{
    AuditAnnotation, ValidatingAdmissionPolicy, Validation as Rule,
};
use kubist_apimachinery::Str;
use kubist_cel::admission::Uses;
use kubist_cel::{Environment, Type, Value, Variables};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum length of an evaluated message in bytes, as upstream.
const MESSAGE_MAX: usize = 5 << 10;

/// What a policy demands.
#[derive(Debug)]
pub(super) struct Validation {
    variables: Variables,
    conditions: Conditions,
    rules: Vec<CompiledRule>,
    annotations: Vec<CompiledAnnotation>,
    fails_open: bool,
}

#[derive(Debug)]
struct CompiledRule {
    expression: Expression,
    message: Str,
    message_expression: Option<Expression>,
    reason: Option<Str>,
}

#[derive(Debug)]
struct CompiledAnnotation {
    key: Str,
    expression: Expression,
}

impl Validation {
    /// Compiles a policy.
    pub(super) fn policy(of: &ValidatingAdmissionPolicy) -> Policy<Self> {
        let spec = &of.spec;
        let failure_policy = spec.failure_policy.as_deref();
        let fails_open = failure_policy == Some("Ignore");
        let params = spec.param_kind.is_some();
        let variables = variables(&spec.variables, params);
        let uses = |authorizer| composed(Uses { params, authorizer }, &variables);
        let (environment, of_messages) = (uses(true), uses(false));
        let rule = |it: &Rule| CompiledRule::of(it, &environment, &of_messages);
        let annotation = |it: &AuditAnnotation| CompiledAnnotation {
            key: it.key.clone(),
            expression: Expression::compile(
                &environment,
                &it.value_expression,
                &[Type::String, Type::Null],
            ),
        };
        let rules = Self {
            conditions: Conditions::compile(&environment, &spec.match_conditions, fails_open),
            rules: spec.validations.iter().map(rule).collect(),
            annotations: spec.audit_annotations.iter().map(annotation).collect(),
            fails_open,
            variables,
        };
        Policy::new(
            &of.metadata.name,
            spec.match_constraints.as_deref(),
            spec.param_kind.as_deref(),
            failure_policy,
            rules,
        )
    }

    /// Judges a request.
    pub(super) fn judge(&self, inputs: &Inputs<'_>) -> Verdicts {
        match self.conditions.judge(inputs, &self.variables) {
            Verdict::Matched => {}
            Verdict::NotMatched => return Verdicts::default(),
            Verdict::Failed(why) => return self.failed(why),
        }
        let (decisions, cost, took) = match self.decide(inputs) {
            Ok(decided) => decided,
            Err(why) => return self.failed(why),
        };
        // As upstream, neither messages nor annotations can use the authorizer.
        let inputs = Inputs {
            questions: None,
            ..*inputs
        };
        match self.annotate(&inputs) {
            Ok(annotations) => Verdicts {
                decisions,
                annotations,
                cost,
                took,
            },
            Err(why) => self.failed(why),
        }
    }

    /// Returns the decisions, what they cost, and how long each took.
    fn decide(&self, inputs: &Inputs<'_>) -> Result<(Vec<Decision>, u64, Vec<Duration>), String> {
        let mut evaluator = Evaluator::new(inputs, &self.variables, POLICY_BUDGET);
        let mut results = Vec::with_capacity(self.rules.len());
        let (mut took, mut began) = (Vec::with_capacity(self.rules.len()), Instant::now());
        for rule in &self.rules {
            let result = evaluator.evaluate(&rule.expression);
            results.push(result.map_err(|halt| halt.to_string())?);
            let now = Instant::now();
            took.push(now.saturating_duration_since(began));
            began = now;
        }
        let inputs = Inputs {
            questions: None,
            ..*inputs
        };
        let mut evaluator = Evaluator::new(&inputs, &self.variables, evaluator.remaining());
        let mut messages = Vec::with_capacity(self.rules.len());
        let mut halted = None;
        for rule in &self.rules {
            let expression = rule.message_expression.as_ref();
            match expression.map(|it| evaluator.evaluate(it)) {
                None => messages.push(None),
                Some(Ok(message)) => messages.push(message.ok()),
                Some(Err(halt)) => {
                    halted = Some(halt);
                    break;
                }
            }
        }
        messages.resize_with(self.rules.len(), || None);
        let decided = self.rules.iter().zip(results).zip(messages);
        let decided = decided.map(|((rule, result), message)| match (result, halted) {
            (Err(why), _) => self.error(why),
            // As upstream, even of what is valid.
            (Ok(_), Some(halt)) => self.error(format!("failed messageExpression: {halt}")),
            (Ok(Value::Bool(true)), None) => Decision::Admit,
            (Ok(_), None) => rule.denied(message.as_ref()),
        });
        let cost = POLICY_BUDGET - evaluator.remaining();
        Ok((decided.collect(), cost, took))
    }

    fn annotate(&self, inputs: &Inputs<'_>) -> Result<Vec<Annotation>, String> {
        let mut evaluator = Evaluator::new(inputs, &self.variables, POLICY_BUDGET);
        let mut annotations = Vec::new();
        for annotation in &self.annotations {
            let result = evaluator.evaluate(&annotation.expression);
            match result.map_err(|halt| halt.to_string())? {
                Ok(Value::String(text)) if !text.as_str().trim().is_empty() => {
                    annotations.push(Annotation::Publish {
                        key: annotation.key.clone(),
                        value: text.as_str().trim().to_owned(),
                    });
                }
                Ok(Value::String(_) | Value::Null) => {}
                Ok(other) => annotations.push(Annotation::Failed(format!(
                    "valueExpression '{}' resulted in unsupported return type: {}. Return type \
                     must be either string or null.",
                    annotation.expression.text(),
                    other.type_name()
                ))),
                Err(_) if self.fails_open => {}
                Err(why) => annotations.push(Annotation::Failed(why)),
            }
        }
        Ok(annotations)
    }

    /// Returns the verdict about a request that could not be judged.
    fn failed(&self, why: String) -> Verdicts {
        Verdicts {
            decisions: vec![self.error(why)],
            annotations: Vec::new(),
            cost: POLICY_BUDGET,
            took: Vec::new(),
        }
    }

    fn error(&self, why: String) -> Decision {
        if self.fails_open {
            return Decision::FailedOpen(why);
        }
        Decision::Deny {
            message: why,
            reason: Str::default(),
        }
    }
}

impl CompiledRule {
    fn of(rule: &Rule, environment: &Environment, of_messages: &Environment) -> Self {
        let message = &rule.message_expression;
        Self {
            expression: Expression::compile(environment, &rule.expression, &[Type::Bool]),
            message: rule.message.clone(),
            message_expression: (!message.is_empty())
                .then(|| Expression::compile(of_messages, message, &[Type::String])),
            reason: rule.reason.clone(),
        }
    }

    fn denied(&self, evaluated: Option<&Value<'_>>) -> Decision {
        let evaluated = evaluated.and_then(Value::as_str).unwrap_or_default().trim();
        let is_usable = evaluated.len() <= MESSAGE_MAX && !evaluated.contains('\n');
        let message = match (evaluated, self.message.trim()) {
            (text, _) if !text.is_empty() && is_usable => text.to_owned(),
            (_, "") => format!("failed expression: {}", self.expression.text().trim()),
            (_, text) => text.to_owned(),
        };
        Decision::Deny {
            message,
            reason: self.reason.clone().unwrap_or_else(|| "Invalid".into()),
        }
    }
}

#[cfg(test)]
mod tests;
