//! One provider of an encryption configuration: a prefix, and the transformer behind it.

use super::{ConfigurationMistake, EncryptionConfigurationError, list, object, only, text, wrong};
use crate::transformer::aes_gcm::AES_GCM;
use crate::transformer::{
    AesGcm, AesKeyError, Identity, Prefixed, TransformError, Transformer, Transformers,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kubist_apimachinery::FieldPath;
use serde_json::Value;
use std::sync::Arc;

pub(super) type Provider = Prefixed;

pub(super) fn read(
    element: &Value,
    path: &FieldPath,
) -> Result<Provider, EncryptionConfigurationError> {
    let element = object(element, path)?;
    let mut fields = element.iter();
    let (Some((name, value)), None) = (fields.next(), fields.next()) else {
        let mistake = if element.is_empty() {
            ConfigurationMistake::Empty("provider")
        } else {
            ConfigurationMistake::SeveralProviders
        };
        return Err(wrong(path, mistake));
    };
    let path = path.child(name);
    match name.as_str() {
        "identity" => {
            only(object(value, &path)?, &[], &path)?;
            Ok(Prefixed::new(Bytes::new(), Identity))
        }
        "aesgcm" => Ok(Prefixed::new(AES_GCM, aes_gcm(value, &path)?)),
        "aescbc" | "kms" | "secretbox" => {
            let name = name.clone();
            Err(wrong(&path, ConfigurationMistake::Unsupported { name }))
        }
        _ => Err(wrong(&path, ConfigurationMistake::Unknown)),
    }
}

fn aes_gcm(value: &Value, path: &FieldPath) -> Result<Transformers, EncryptionConfigurationError> {
    let provider = object(value, path)?;
    only(provider, &["keys"], path)?;
    let path = path.child("keys");
    let mut row: Vec<Prefixed> = Vec::new();
    for (index, key) in list(provider.get("keys"), &path, "key")?.iter().enumerate() {
        let path = path.index(index);
        let key = object(key, &path)?;
        only(key, &["name", "secret"], &path)?;
        let name = text(key.get("name"), &path.child("name"))?;
        let secret = text(key.get("secret"), &path.child("secret"))?;
        let prefix = Bytes::from(format!("{name}:"));
        if row.iter().any(|taken| taken.prefix == prefix) {
            return Err(wrong(&path.child("name"), ConfigurationMistake::Duplicate));
        }
        row.push(Prefixed::new(prefix, aes_gcm_key(name, secret, &path)?));
    }
    Ok(Transformers {
        all: row,
        unknown: TransformError::NoKey("AES"),
    })
}

fn aes_gcm_key(
    name: &str,
    secret: &str,
    path: &FieldPath,
) -> Result<AesGcm, EncryptionConfigurationError> {
    let bytes = STANDARD.decode(secret);
    let bytes = bytes.map_err(|_| wrong(&path.child("secret"), ConfigurationMistake::NotBase64))?;
    AesGcm::new(name, &bytes).map_err(|error| match error {
        AesKeyError::Length { bytes } => {
            let mistake = ConfigurationMistake::KeyLength { bytes };
            wrong(&path.child("secret"), mistake)
        }
        AesKeyError::Name => wrong(&path.child("name"), ConfigurationMistake::KeyName),
    })
}
