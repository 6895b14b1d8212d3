//! `KeySet`: the public keys of an issuer (RFC 7517), and verification with them.

use super::algorithm::Algorithm;
use super::compact::CompactJwt;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p521::ecdsa::signature::Verifier as _;
use ring::signature::{
    self, EcdsaVerificationAlgorithm, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of keys of an issuer.
pub const KEYS_MAX: usize = 256;

/// The keys of an issuer.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

/// Why a text is not a set of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// It is not JSON of a set of keys.
    #[error("oidc: failed to decode keys: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// There are too many keys.
    #[error("oidc: failed to decode keys: more than {KEYS_MAX} keys")]
    TooMany,
}

#[derive(Clone, Debug)]
struct Key {
    id: String,
    material: Material,
}

#[derive(Clone, Debug)]
enum Material {
    /// Modulus and exponent, without leading zeros.
    Rsa(Vec<u8>, Vec<u8>),
    /// A point of P-256, P-384 or P-521, in the uncompressed form.
    P256(Vec<u8>),
    P384(Vec<u8>),
    P521(Vec<u8>),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// The fields of a key (RFC 7518, section 6).
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Jwk {
    kty: String,
    kid: String,
    crv: String,
    n: String,
    e: String,
    x: String,
    y: String,
}

impl KeySet {
    /// Parses the keys of an issuer. Keys that verify no algorithm here are left out: an issuer may
    /// have others for other purposes.
    ///
    /// # Errors
    /// It is not a set of keys, or has more than [`KEYS_MAX`].
    pub fn parse(json: &[u8]) -> Result<Self, KeySetError> {
        let document: Document =
            serde_json::from_slice(json).map_err(|error| KeySetError::Malformed {
                reason: error.to_string(),
            })?;
        if document.keys.len() > KEYS_MAX {
            return Err(KeySetError::TooMany);
        }
        let keys = document.keys.into_iter().filter_map(Key::of);
        Ok(Self {
            keys: keys.collect(),
        })
    }

    /// Returns the number of usable keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Reports whether there is no usable key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Reports whether one of the keys has signed a token: that which the token names, or any if it
    /// names none.
    pub fn verifies(&self, token: &CompactJwt<'_>) -> bool {
        let Ok(algorithm) = token.algorithm.parse() else {
            return false;
        };
        let named = |key: &&Key| token.key_id.is_empty() || key.id == token.key_id;
        let mut keys = self.keys.iter().filter(named);
        keys.any(|key| {
            let (message, signature) = (token.signed(), token.signature());
            key.material.verifies(algorithm, message, signature)
        })
    }
}

impl Key {
    fn of(json: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(json).ok()?;
        let material = match &*jwk.kty {
            "RSA" => Material::Rsa(number(&jwk.n)?, number(&jwk.e)?),
            "EC" => match &*jwk.crv {
                "P-256" => Material::P256(point(&jwk, 32)?),
                "P-384" => Material::P384(point(&jwk, 48)?),
                "P-521" => Material::P521(point(&jwk, 66)?),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self {
            id: jwk.kid,
            material,
        })
    }
}

fn number(text: &str) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let zeros = bytes.iter().take_while(|it| **it == 0).count();
    (zeros < bytes.len()).then(|| bytes[zeros..].to_vec())
}

/// Returns the uncompressed form of a point whose coordinates have this length.
fn point(jwk: &Jwk, length: usize) -> Option<Vec<u8>> {
    let mut point = vec![4];
    for coordinate in [&jwk.x, &jwk.y] {
        let bytes = number(coordinate)?;
        let missing = length.checked_sub(bytes.len())?;
        point.extend(std::iter::repeat_n(0, missing));
        point.extend(bytes);
    }
    Some(point)
}

impl Material {
    fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let ecdsa = |algorithm: &'static EcdsaVerificationAlgorithm, point: &[u8]| {
            let key = UnparsedPublicKey::new(algorithm, point);
            key.verify(message, signature).is_ok()
        };
        match (self, algorithm) {
            (Self::P256(point), Algorithm::Es256) => {
                ecdsa(&signature::ECDSA_P256_SHA256_FIXED, point)
            }
            (Self::P384(point), Algorithm::Es384) => {
                ecdsa(&signature::ECDSA_P384_SHA384_FIXED, point)
            }
            (Self::P521(point), Algorithm::Es512) => p521_verifies(point, message, signature),
            (Self::Rsa(n, e), algorithm) => {
                let key = RsaPublicKeyComponents { n, e };
                rsa_of(algorithm).is_some_and(|it| key.verify(it, message, signature).is_ok())
            }
            _ => false,
        }
    }
}

fn rsa_of(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::Es512 => return None,
    })
}

/// `ring` has no P-521.
fn p521_verifies(point: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = p521::ecdsa::VerifyingKey::from_sec1_bytes(point);
    let signature = p521::ecdsa::Signature::from_slice(signature);
    match (key, signature) {
        (Ok(key), Ok(signature)) => key.verify(message, &signature).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of the examples, and tokens that each has signed; made with Python's cryptography.
    const KEYS: &[u8] = include_bytes!("testdata/keys.json");
    const TOKENS: &str = include_str!("testdata/tokens.txt");

    fn tokens() -> impl Iterator<Item = (Algorithm, &'static str)> {
        TOKENS.lines().map(|line| {
            let (name, token) = line.split_once(' ').expect("each line has both");
            (name.parse().unwrap_or(Algorithm::Rs256), token)
        })
    }

    #[test]
    fn each_algorithm_is_verified_by_the_key_that_the_token_names() {
        let keys = KeySet::parse(KEYS).expect("they are keys");
        let mut seen = Vec::new();
        for (algorithm, token) in tokens() {
            let jwt = CompactJwt::parse(token).expect("it is a token");
            assert_eq!(jwt.algorithm, algorithm.name());
            assert!(keys.verifies(&jwt), "{algorithm}");
            let other = token.replacen('.', ".e30", 1);
            if let Ok(jwt) = CompactJwt::parse(&other) {
                assert!(!keys.verifies(&jwt), "{algorithm}");
            }
            seen.push(algorithm);
        }
        seen.sort();
        assert_eq!(seen, Algorithm::ALL);
    }

    #[test]
    fn keys_for_other_purposes_are_left_out_and_other_texts_refused() {
        let odd = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"},{"kty":"RSA"},{"kty":1}]}"#;
        assert!(KeySet::parse(odd).expect("it is a set").is_empty());
        assert!(KeySet::parse(b"{}").is_err());
        let many = format!(r#"{{"keys":[{}]}}"#, vec!["{}"; KEYS_MAX + 1].join(","));
        assert_eq!(
            KeySet::parse(many.as_bytes()).err(),
            Some(KeySetError::TooMany)
        );
    }
}
