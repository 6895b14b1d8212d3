//! Checks of the expressions of webhooks and policies: whether they compile.

use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{MatchCondition, Variable};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_cel::admission::{self, Uses};
use kubist_cel::{Environment, Program, Type, Variables, is_reserved};
use std::collections::BTreeSet;

/// The maximum number of match conditions of one webhook or policy.
const CONDITIONS_MAX: usize = 64;
/// The maximum number of variables of a policy: each is compiled with the types of those before it.
/// Upstream has no such limit.
const VARIABLES_MAX: usize = 1_000;
/// Checks expressions. Those that were stored before may use what a newer server had.
#[derive(Debug, Default)]
pub(super) struct Expressions<'a> {
    params: bool,
    known: BTreeSet<&'a str>,
    /// The variables of a policy so far; none where they cannot be used.
    variables: Option<Variables>,
}

/// What an expression may use, beside the variables of the policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct May {
    pub(super) authorizer: bool,
    pub(super) patches: bool,
}

impl May {
    pub(super) const CONDITION: Self = Self {
        authorizer: true,
        patches: false,
    };
    pub(super) const MESSAGE: Self = Self {
        authorizer: false,
        patches: false,
    };
    pub(super) const PATCH: Self = Self {
        authorizer: true,
        patches: true,
    };
}

impl<'a> Expressions<'a> {
    /// Checks the expressions of a webhook or a policy, of which these were stored before.
    pub(super) fn new(params: bool, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            params,
            known: known.into_iter().collect(),
            variables: None,
        }
    }

    /// Lets expressions use variables.
    pub(super) fn with_variables(self) -> Self {
        Self {
            variables: Some(Variables::new()),
            ..self
        }
    }

    /// Checks an expression.
    pub(super) fn check(
        &self,
        errors: &mut Errors,
        text: &str,
        (wanted, may): (&[Type], May),
        path: &FieldPath,
    ) {
        if let Err(why) = self.compile(text, wanted, may) {
            errors.push(FieldError::invalid(path, text, why));
        }
    }

    /// Checks match conditions, which cannot use variables.
    pub(super) fn conditions(
        &self,
        errors: &mut Errors,
        conditions: &[MatchCondition],
        path: &FieldPath,
    ) {
        if conditions.len() > CONDITIONS_MAX {
            let count = Some(conditions.len());
            errors.push(FieldError::too_many(path, count, CONDITIONS_MAX));
        }
        let stateless = Expressions {
            params: self.params,
            known: self.known.clone(),
            variables: None,
        };
        let twice = rules::repeats(conditions.iter().map(|it| &it.name));
        for ((index, condition), twice) in conditions.iter().enumerate().zip(twice) {
            let path = path.index(index);
            let at = path.child("expression");
            let text = condition.expression.trim();
            if rules::required(errors, text, &at) {
                stateless.check(errors, text, (&[Type::Bool], May::CONDITION), &at);
            }
            let at = path.child("name");
            if !rules::required(errors, &condition.name, &at) {
                continue;
            }
            rules::text(errors, &condition.name, &at, validate_name::qualified_name);
            if twice {
                errors.push(FieldError::duplicate(&at, &condition.name));
            }
        }
    }

    /// Checks variables: each can use those before it.
    pub(super) fn variables(
        &mut self,
        errors: &mut Errors,
        variables: &[Variable],
        path: &FieldPath,
    ) {
        if variables.len() > VARIABLES_MAX {
            let count = Some(variables.len());
            errors.push(FieldError::too_many(path, count, VARIABLES_MAX));
        }
        for (index, variable) in variables.iter().enumerate().take(VARIABLES_MAX) {
            let path = path.index(index);
            let (name, at) = (variable.name.as_str(), path.child("name"));
            if name.trim().is_empty() {
                errors.push(FieldError::required(&at, "name is not specified"));
            } else if !is_identifier(name) {
                errors.push(FieldError::invalid(
                    &at,
                    name,
                    "must be a valid CEL identifier",
                ));
            }
            let at = path.child("expression");
            if variable.expression.trim().is_empty() {
                errors.push(FieldError::required(&at, "expression is not specified"));
                continue;
            }
            let program = self.compile(&variable.expression, &[], May::CONDITION);
            if let Err(why) = &program {
                errors.push(FieldError::invalid(&at, &variable.expression, why.as_str()));
            }
            if let Some(known) = &mut self.variables {
                known.push(name, program);
            }
        }
    }

    fn compile(&self, text: &str, wanted: &[Type], may: May) -> Result<Program, String> {
        let uses = Uses {
            params: self.params,
            authorizer: may.authorizer,
        };
        let is_known = self.known.contains(text);
        let environment = if is_known {
            admission::stored(uses)
        } else {
            admission::new(uses)
        };
        admission::compile(&self.extended(environment, may), text, wanted)
    }

    fn extended(&self, environment: Environment, may: May) -> Environment {
        let environment = match &self.variables {
            Some(variables) => environment.extend([(Variables::NAME, variables.cel_type())]),
            None => environment,
        };
        if may.patches {
            environment.with_patches()
        } else {
            environment
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|it| it == b'_' || it.is_ascii_alphabetic())
        && bytes.all(|it| it == b'_' || it.is_ascii_alphanumeric())
        && !is_reserved(name)
}
