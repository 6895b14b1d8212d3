//! `JwtAuthenticator`: whom the tokens of one issuer name.

use super::expression::{Expression, Subject};
use super::file::Issuer;
use super::mapping::{Claims, Mappings, claim_text};
use super::token_claims;
use crate::jwt::{Algorithm, CompactJwt, untrusted_issuer};
use kubist_authorization::User;
use kubist_cel::Value;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Whom the tokens of one issuer name. Whoever verifies signatures has the issuer's keys.
#[derive(Debug)]
pub struct JwtAuthenticator {
    pub(super) issuer: Issuer,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) mappings: Mappings,
    /// Claims, and the values that they must have.
    pub(super) required_claims: Vec<(String, String)>,
    pub(super) claim_rules: Vec<Expression>,
    pub(super) user_rules: Vec<Expression>,
}

impl JwtAuthenticator {
    /// Returns the issuer.
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Reports whether a token says that it is of this issuer. Nothing is verified.
    pub fn is_issuer_of(&self, token: &str) -> bool {
        untrusted_issuer(token).is_some_and(|it| token_claims::names(&self.issuer.url, &it))
    }

    /// Checks that a token is signed with an algorithm that is allowed.
    ///
    /// # Errors
    /// Upstream's words, if it is not.
    pub fn check_algorithm(&self, token: &CompactJwt<'_>) -> Result<(), String> {
        let found = &*token.algorithm;
        if self.algorithms.iter().any(|it| it.name() == found) {
            return Ok(());
        }
        let wanted: Vec<String> = self
            .algorithms
            .iter()
            .map(|it| format!("\"{it}\""))
            .collect();
        Err(format!(
            "oidc: id token signed with unsupported algorithm, expected [{}] got {found:?}",
            wanted.join(" ")
        ))
    }

    /// Returns the user that verified claims name at `now`, since the Unix epoch; without the group
    /// of all authenticated users.
    ///
    /// # Errors
    /// Upstream's words for why they name nobody.
    pub fn user(&self, claims: &Claims, now: Duration) -> Result<User, String> {
        token_claims::check(claims, &self.issuer, now)
            .map_err(|why| format!("oidc: verify token: {why}"))?;
        let subject = Subject::new(Json::Object(claims.clone()));
        let user = User {
            name: self.mappings.username(claims, &subject)?,
            groups: self.mappings.groups(claims, &subject)?,
            uid: self.mappings.uid(claims, &subject)?,
            extra: self.mappings.extra(claims, &subject)?,
        };
        self.check_required(claims)?;
        let claims_fail = "oidc: error evaluating claim validation expression";
        check_rules(&self.claim_rules, &subject).map_err(|why| format!("{claims_fail}: {why}"))?;
        if !self.user_rules.is_empty() {
            let of_user = Subject::new(json!({
                "username": &*user.name,
                "uid": &*user.uid,
                "groups": user.groups.iter().map(|it| &**it).collect::<Vec<&str>>(),
                "extra": extra(&user),
            }));
            let user_fails = "oidc: error evaluating user info validation rule";
            check_rules(&self.user_rules, &of_user)
                .map_err(|why| format!("{user_fails}: {why}"))?;
        }
        Ok(user)
    }

    fn check_required(&self, claims: &Claims) -> Result<(), String> {
        for (name, wanted) in &self.required_claims {
            if !claims.contains_key(name) {
                return Err(format!(
                    "oidc: required claim {name} not present in ID token"
                ));
            }
            let found = claim_text(claims, name)
                .map_err(|error| format!("oidc: parse claim {name}: {error}"))?;
            if found != *wanted {
                return Err(format!(
                    "oidc: required claim {name} value does not match. Got = {found}, want = {wanted}"
                ));
            }
        }
        Ok(())
    }
}

fn extra(user: &User) -> Json {
    let fields = user.extra.iter().map(|(key, values)| {
        let values: Vec<&str> = values.iter().map(|it| &**it).collect();
        (key.to_string(), json!(values))
    });
    Json::Object(fields.collect())
}

/// Evaluates all rules before any decides, as upstream.
fn check_rules(rules: &[Expression], subject: &Subject) -> Result<(), String> {
    let mut values = Vec::with_capacity(rules.len());
    for rule in rules {
        values.push((rule, rule.evaluate(subject)?));
    }
    for (rule, value) in values {
        let Value::Bool(passes) = value else {
            return Err("validation expression must return a boolean".to_owned());
        };
        if !passes {
            let Expression { text, label, .. } = rule;
            return Err(format!("validation expression '{text}' failed: {label}"));
        }
    }
    Ok(())
}
