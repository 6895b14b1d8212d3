//! The rules about claims and about the user.

use super::super::expression::{About, Expression};
use super::super::file::{ClaimValidationRule, UserValidationRule};
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

/// Compiled rules about claims.
#[derive(Debug, Default)]
pub(super) struct ClaimRules {
    pub(super) required: Vec<(String, String)>,
    pub(super) expressions: Vec<Expression>,
}

pub(super) fn of_claims(
    rules: Vec<ClaimValidationRule>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> ClaimRules {
    let mut compiled = ClaimRules::default();
    let (mut claims, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for (at, rule) in rules.into_iter().enumerate() {
        let path = path.index(at);
        match (rule.claim.is_empty(), rule.expression.is_empty()) {
            (false, false) => {
                let why = "claim and expression can't both be set";
                errors.push(FieldError::invalid(&path, &rule.claim, why));
            }
            (true, true) => {
                errors.push(FieldError::required(
                    &path,
                    "claim or expression is required",
                ));
            }
            (false, true) => {
                if !rule.message.is_empty() {
                    let why = "may not be specified when claim is set";
                    let path = path.child("message");
                    errors.push(FieldError::invalid(&path, &rule.message, why));
                }
                if !claims.insert(rule.claim.clone()) {
                    errors.push(FieldError::duplicate(&path.child("claim"), &rule.claim));
                }
                compiled.required.push((rule.claim, rule.required_value));
            }
            (true, false) => {
                if !rule.required_value.is_empty() {
                    let why = "may not be specified when expression is set";
                    let path = path.child("requiredValue");
                    errors.push(FieldError::invalid(&path, &rule.required_value, why));
                }
                let (path, text) = (path.child("expression"), &*rule.expression);
                let compiled_one = || Expression::compile(About::Claims, text, &rule.message, true);
                if !texts.insert(text.to_owned()) {
                    errors.push(FieldError::duplicate(&path, text));
                    continue;
                }
                match compiled_one() {
                    Ok(expression) => compiled.expressions.push(expression),
                    Err(why) => errors.push(FieldError::invalid(&path, text, why)),
                }
            }
        }
    }
    compiled
}

pub(super) fn of_user(
    rules: Vec<UserValidationRule>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Vec<Expression> {
    let mut compiled = Vec::new();
    let mut texts = BTreeSet::new();
    for (at, rule) in rules.into_iter().enumerate() {
        let path = path.index(at).child("expression");
        let text = &*rule.expression;
        if text.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        if !texts.insert(text.to_owned()) {
            errors.push(FieldError::duplicate(&path, text));
            continue;
        }
        match Expression::compile(About::User, text, &rule.message, true) {
            Ok(expression) => compiled.push(expression),
            Err(why) => errors.push(FieldError::invalid(&path, text, why)),
        }
    }
    compiled
}
