//! Secrets.

use crate::core::config_map::{FROZEN, SIZE_MAX};
use crate::shared::fill;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::Secret;
use kubist_apimachinery::{BadValue, ByteString, FieldError, FieldPath, validate_name};
use kubist_registry::{KindStrategy, RequestContext, StrategyFacts, validate_metadata};

#[derive(Debug)]
pub(crate) struct Secrets;

const REDACTED: &str = "<secret contents redacted>";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";

impl KindStrategy for Secrets {
    type Kind = Secret;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        selectable_fields: &["type"],
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut Secret) {
        fill::text(&mut object.type_, "Opaque");
        // `stringData` is a write-only alternative to `data`.
        for (key, value) in std::mem::take(&mut object.string_data) {
            object
                .data
                .insert(key, ByteString::from(value.as_bytes().to_vec()));
        }
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Secret, old: &Secret) {
        // Upstream lets clients omit the type.
        if new.type_.is_empty() {
            new.type_ = old.type_.clone();
        }
    }
    fn validate(&self, new: &Secret) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("data");
        let mut size = 0;
        for (key, value) in &new.data {
            rules::text(
                &mut errors,
                key,
                &path.key(key),
                validate_name::config_map_key,
            );
            size += value.len();
        }
        if size > SIZE_MAX {
            errors.push(FieldError::too_long(&path, SIZE_MAX));
        }
        check_type(&mut errors, new, &path);
        errors
    }
    fn validate_update(&self, new: &Secret, old: &Secret) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("type");
        rules::immutable_value(&mut errors, &new.type_, &old.type_, &path, BadValue::json);
        if old.immutable == Some(true) {
            if new.immutable != Some(true) {
                errors.push(FieldError::forbidden(&FieldPath::new("immutable"), FROZEN));
            }
            if new.data != old.data {
                errors.push(FieldError::forbidden(&FieldPath::new("data"), FROZEN));
            }
        }
        // Upstream validates the metadata a second time.
        errors.extend(validate_metadata(
            &new.metadata,
            true,
            Self::FACTS.name_rule,
            Self::FACTS.metadata_rules,
        ));
        errors.extend(self.validate(new));
        errors
    }
    fn warnings(&self, new: &Secret, _: Option<&Secret>) -> Vec<String> {
        if new.type_ != "kubernetes.io/tls" {
            return Vec::new();
        }
        let holds_pem = |key: &str| {
            let value = new.data.get(key);
            value.is_some_and(|it| it.windows(11).any(|part| part == b"-----BEGIN "))
        };
        let missing = |what| format!("tls: failed to find any PEM data in {what} input");
        if !holds_pem("tls.crt") {
            vec![missing("certificate")]
        } else if !holds_pem("tls.key") {
            vec![missing("key")]
        } else {
            Vec::new()
        }
    }
}

fn check_type(errors: &mut Errors, secret: &Secret, path: &FieldPath) {
    let mut needs = |key: &str| {
        let there = secret.data.contains_key(key);
        if !there {
            errors.push(FieldError::required(&path.key(key), ""));
        }
    };
    match secret.type_.as_str() {
        "kubernetes.io/service-account-token" => {
            let name = secret.metadata.annotations.get(ACCOUNT_NAME);
            if name.is_none_or(|name| name.is_empty()) {
                let path = FieldPath::new("metadata")
                    .child("annotations")
                    .key(ACCOUNT_NAME);
                errors.push(FieldError::required(&path, ""));
            }
        }
        "kubernetes.io/dockercfg" => needs_json(errors, secret, ".dockercfg", path),
        "kubernetes.io/dockerconfigjson" => needs_json(errors, secret, ".dockerconfigjson", path),
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            if keys.iter().all(|key| !secret.data.contains_key(*key)) {
                for key in keys {
                    needs(key);
                }
            }
        }
        "kubernetes.io/ssh-auth" => {
            let key = "ssh-privatekey";
            if secret.data.get(key).is_none_or(|it| it.is_empty()) {
                errors.push(FieldError::required(&path.key(key), ""));
            }
        }
        "kubernetes.io/tls" => {
            needs("tls.crt");
            needs("tls.key");
        }
        _ => {}
    }
}

fn needs_json(errors: &mut Errors, secret: &Secret, key: &str, path: &FieldPath) {
    let path = path.key(key);
    match secret.data.get(key) {
        None => errors.push(FieldError::required(&path, "")),
        Some(value) => {
            if let Some(problem) = json_problem(value) {
                errors.push(FieldError::invalid(&path, REDACTED, problem));
            }
        }
    }
}

/// Returns the error of Go's decoder for a text that is not a JSON object.
fn json_problem(value: &[u8]) -> Option<String> {
    match serde_json::from_slice::<serde_json::Value>(value) {
        Ok(serde_json::Value::Object(_) | serde_json::Value::Null) => None,
        Ok(other) => {
            let kind = match other {
                serde_json::Value::Bool(_) => "bool",
                serde_json::Value::Number(_) => "number",
                serde_json::Value::String(_) => "string",
                _ => "array",
            };
            Some(format!(
                "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            ))
        }
        Err(_) => {
            let first = value
                .iter()
                .copied()
                .find(|byte| !byte.is_ascii_whitespace());
            Some(match first {
                None => "unexpected end of JSON input".to_owned(),
                Some(byte) if b"{[\"-tfn".contains(&byte) || byte.is_ascii_digit() => {
                    "unexpected end of JSON input".to_owned()
                }
                Some(byte) => format!(
                    "invalid character '{}' looking for beginning of value",
                    char::from(byte)
                ),
            })
        }
    }
}
