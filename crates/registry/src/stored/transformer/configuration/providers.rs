//! The providers of an encryption configuration: each is a value prefix and its transformer.

use super::{ConfigurationProblem, EncryptionConfigurationError, list, object, only, text, wrong};
use crate::stored::transformer::aes_cbc::AES_CBC;
use crate::stored::transformer::aes_gcm::AES_GCM;
use crate::stored::transformer::secretbox::SECRETBOX;
use crate::stored::transformer::{
    AesCbc, AesGcm, AesKeyError, Identity, Prefixed, Secretbox, TransformError, Transformer,
    Transformers,
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
        let problem = if element.is_empty() {
            ConfigurationProblem::Empty("provider")
        } else {
            ConfigurationProblem::SeveralProviders
        };
        return Err(wrong(path, problem));
    };
    let path = path.child(name);
    match name.as_str() {
        "identity" => {
            only(object(value, &path)?, &[], &path)?;
            Ok(Prefixed::new(Bytes::new(), Identity))
        }
        "aesgcm" => Ok(Prefixed::new(AES_GCM, keys(value, &path, &GCM)?)),
        "aescbc" => Ok(Prefixed::new(AES_CBC, keys(value, &path, &CBC)?)),
        "secretbox" => Ok(Prefixed::new(SECRETBOX, keys(value, &path, &BOX)?)),
        "kms" => {
            let name = name.clone();
            Err(wrong(&path, ConfigurationProblem::Unsupported { name }))
        }
        _ => Err(wrong(&path, ConfigurationProblem::Unknown)),
    }
}

/// The transformer of one key.
type Key = Arc<dyn Transformer>;

/// An encryption scheme.
struct Scheme {
    make: fn(&str, &[u8]) -> Result<Key, AesKeyError>,
    /// The valid key lengths, as in messages.
    lengths: &'static str,
    /// Upstream's name of the scheme in the message for a missing key.
    named: &'static str,
}

const GCM: Scheme = Scheme {
    make: |name, secret| Ok(Arc::new(AesGcm::new(name, secret)?)),
    lengths: "[16 32]",
    named: "AES",
};
const CBC: Scheme = Scheme {
    make: |_, secret| Ok(Arc::new(AesCbc::new(secret)?)),
    lengths: "[16 24 32]",
    named: "AES",
};
const BOX: Scheme = Scheme {
    make: |_, secret| Ok(Arc::new(Secretbox::new(secret)?)),
    lengths: "[32]",
    named: "secretbox",
};

fn keys(
    value: &Value,
    path: &FieldPath,
    scheme: &Scheme,
) -> Result<Transformers, EncryptionConfigurationError> {
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
            return Err(wrong(&path.child("name"), ConfigurationProblem::Duplicate));
        }
        row.push(Prefixed::shared(
            prefix,
            one_key(name, secret, &path, scheme)?,
        ));
    }
    Ok(Transformers::of(row, TransformError::NoKey(scheme.named)))
}

fn one_key(
    name: &str,
    secret: &str,
    path: &FieldPath,
    scheme: &Scheme,
) -> Result<Key, EncryptionConfigurationError> {
    let secret_path = path.child("secret");
    let bytes = STANDARD.decode(secret);
    let bytes = bytes.map_err(|_| wrong(&secret_path, ConfigurationProblem::NotBase64))?;
    (scheme.make)(name, &bytes).map_err(|error| match error {
        AesKeyError::Length { bytes } => {
            let expected = scheme.lengths;
            wrong(
                &secret_path,
                ConfigurationProblem::KeyLength { bytes, expected },
            )
        }
        AesKeyError::Name => wrong(&path.child("name"), ConfigurationProblem::KeyName),
    })
}
