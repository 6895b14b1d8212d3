//! How a part of a user is read from claims: a claim with a prefix, or an expression.

use super::expression::{Expression, Subject};
use kubist_apimachinery::Str;
use kubist_cel::Value;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The key in the extra fields that identifies the credential.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

pub(super) type Claims = serde_json::Map<String, Json>;

/// Where a part of a user comes from.
#[derive(Debug, Default)]
pub(super) enum Mapping {
    /// Nowhere.
    #[default]
    None,
    /// A claim.
    Claim { name: String, prefix: String },
    /// An expression about the claims.
    Expression(Expression),
}

/// Where all parts of a user come from.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    pub(super) username: Mapping,
    pub(super) groups: Mapping,
    pub(super) uid: Mapping,
    /// The label of each is the key.
    pub(super) extra: Vec<Expression>,
}

impl Mappings {
    pub(super) fn username(&self, claims: &Claims, subject: &Subject) -> Result<Str, String> {
        let (name, prefix) = match &self.username {
            Mapping::None => return Ok(Str::default()),
            Mapping::Claim { name, prefix } => (name, prefix),
            Mapping::Expression(it) => {
                let name = text(it, subject, "username")?;
                if name.is_empty() {
                    let why = "oidc: empty username via CEL expression is not allowed";
                    return Err(why.to_owned());
                }
                return Ok(name);
            }
        };
        let username = claim_text(claims, name)
            .map_err(|error| format!("oidc: parse username claims {name:?}: {error}"))?;
        if name == "email"
            && let Some(verified) = claims.get("email_verified")
        {
            let verified = match verified {
                Json::Null => false,
                Json::Bool(verified) => *verified,
                other => {
                    let error = wrong_type(other, "bool");
                    return Err(format!("oidc: parse 'email_verified' claim: {error}"));
                }
            };
            if !verified {
                return Err("oidc: email not verified".to_owned());
            }
        }
        Ok(format!("{prefix}{username}").into())
    }

    pub(super) fn groups(&self, claims: &Claims, subject: &Subject) -> Result<Vec<Str>, String> {
        match &self.groups {
            Mapping::None => Ok(Vec::new()),
            Mapping::Expression(it) => {
                let failed = |why| format!("oidc: error evaluating group claim expression: {why}");
                texts(&it.evaluate(subject).map_err(failed)?).map_err(failed)
            }
            Mapping::Claim { name, prefix } => {
                let Some(claim) = claims.get(name) else {
                    return distributed(claims, name);
                };
                let groups = text_or_list(claim)
                    .map_err(|error| format!("oidc: parse groups claim {name:?}: {error}"))?;
                let prefixed = groups.into_iter().map(|it| format!("{prefix}{it}").into());
                Ok(prefixed.collect())
            }
        }
    }

    pub(super) fn uid(&self, claims: &Claims, subject: &Subject) -> Result<Str, String> {
        match &self.uid {
            Mapping::None => Ok(Str::default()),
            Mapping::Expression(it) => text(it, subject, "uid"),
            Mapping::Claim { name, .. } => claim_text(claims, name)
                .map(Str::from)
                .map_err(|error| format!("oidc: parse uid claim {name:?}: {error}")),
        }
    }

    pub(super) fn extra(
        &self,
        claims: &Claims,
        subject: &Subject,
    ) -> Result<BTreeMap<Str, Vec<Str>>, String> {
        let mut extra = BTreeMap::new();
        if let Some(Json::String(id)) = claims.get("jti")
            && !id.is_empty()
        {
            extra.insert(CREDENTIAL_ID.into(), vec![format!("JTI={id}").into()]);
        }
        for it in &self.extra {
            let values = texts(&it.evaluate(subject)?).map_err(|why| {
                let text = &it.text;
                format!("oidc: error evaluating extra claim expression: {text}: {why}")
            })?;
            if !values.is_empty() {
                extra.insert(it.label.as_str().into(), values);
            }
        }
        Ok(extra)
    }
}

/// Upstream fetches a claim that the token says is elsewhere; this server does not.
fn distributed(claims: &Claims, name: &str) -> Result<Vec<Str>, String> {
    let source = claims.get("_claim_names").and_then(|it| it.get(name));
    match source {
        Some(_) => Err(format!(
            "oidc: could not expand distributed claims: claim {name:?} is distributed, which this \
             server does not support"
        )),
        None => Ok(Vec::new()),
    }
}

fn text(expression: &Expression, subject: &Subject, of: &str) -> Result<Str, String> {
    let failed = |why: String| format!("oidc: error evaluating {of} claim expression: {why}");
    let value = expression.evaluate(subject).map_err(failed)?;
    match value.as_str() {
        Some(text) => Ok(text.into()),
        None => Err(failed(format!(
            "{of} claim expression must return a string"
        ))),
    }
}

/// Returns the texts of a string or of a list of strings, without empty ones; null has none.
fn texts(value: &Value<'_>) -> Result<Vec<Str>, String> {
    let wrong = || "expression must return a string or a list of strings".to_owned();
    let mut found = Vec::new();
    match value {
        Value::Null => {}
        Value::List(items) => {
            for item in items.iter() {
                let item = item.map_err(|error| error.to_string())?;
                found.push(Str::from(item.as_str().ok_or_else(wrong)?));
            }
        }
        other => found.push(other.as_str().ok_or_else(wrong)?.into()),
    }
    found.retain(|it: &Str| !it.is_empty());
    Ok(found)
}

/// Returns a claim that is a text; null is an empty one, as in Go.
pub(super) fn claim_text(claims: &Claims, name: &str) -> Result<String, String> {
    match claims.get(name) {
        None => Err("claim not present".to_owned()),
        Some(Json::Null) => Ok(String::new()),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(other) => Err(wrong_type(other, "string")),
    }
}

fn text_or_list(claim: &Json) -> Result<Vec<String>, String> {
    match claim {
        Json::Null => Ok(Vec::new()),
        Json::String(text) => Ok(vec![text.clone()]),
        Json::Array(items) => {
            let items = items.iter().map(|item| match item {
                Json::Null => Ok(String::new()),
                Json::String(text) => Ok(text.clone()),
                _ => Err(wrong_type(claim, "string")),
            });
            items.collect()
        }
        other => Err(wrong_type(other, "string")),
    }
}

fn wrong_type(found: &Json, wanted: &str) -> String {
    let kind = match found {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    format!("json: cannot unmarshal {kind} into Go value of type {wanted}")
}
