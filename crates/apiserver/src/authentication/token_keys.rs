//! `TokenKeys`: the keys that sign and verify service account tokens.
//!
//! One key signs; any number verify, including that one. They are RSA or ECDSA (P-256, P-384) keys
//! in the PEM formats that upstream reads; a new key is ECDSA P-256. The key id is the digest of
//! the public key, as upstream, so servers with the same files use the same id.

mod asn1;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaKeyPair;
use ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls_pki_types::pem::{PemObject, SectionKind};
use serde_json::{Value, json};
use std::fmt;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// Maximum number of verifying keys; all are tried for a token without a key id.
const VERIFYING_KEYS_MAX: usize = 64;

/// Why token keys cannot be loaded or created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenKeyError {
    /// The system failed to create a key.
    #[error("cannot create the key that signs tokens")]
    Made,
    /// The text has no private key of a supported kind.
    #[error(
        "it contains no private key that can sign tokens: RSA of at least 2048 bits, P-256 or P-384"
    )]
    NoSigningKey,
    /// The text has no key of a supported kind.
    #[error("it contains no key that can verify tokens: RSA of at least 2048 bits, P-256 or P-384")]
    NoVerifyingKey,
    /// There are more keys than should be tried for a token.
    #[error("more than {VERIFYING_KEYS_MAX} verifying keys")]
    TooMany,
}

/// The signature algorithm, by its name in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Es256,
    Es384,
    Rs256,
}

/// The keys that sign and verify tokens.
pub struct TokenKeys {
    signing: SigningKey,
    verifying: Vec<VerifyingKey>,
    random: SystemRandom,
}

enum Secret {
    Ecdsa(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

struct SigningKey {
    secret: Secret,
    public: VerifyingKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct VerifyingKey {
    id: String,
    algorithm: Algorithm,
    /// The ECDSA point, or the PKCS #1 structure of RSA.
    public: Vec<u8>,
}

impl Algorithm {
    const ALL: [Self; 3] = [Self::Es256, Self::Es384, Self::Rs256];

    fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
        }
    }

    /// Returns what verifies signatures of the algorithm of this name with such a key, if it can.
    /// Others sign with RSA keys in more ways than this server.
    fn verification(self, name: &str) -> Option<&'static dyn VerificationAlgorithm> {
        Some(match (self, name) {
            (Self::Es256, "ES256") => &signature::ECDSA_P256_SHA256_FIXED,
            (Self::Es384, "ES384") => &signature::ECDSA_P384_SHA384_FIXED,
            (Self::Rs256, "RS256") => &signature::RSA_PKCS1_2048_8192_SHA256,
            (Self::Rs256, "RS384") => &signature::RSA_PKCS1_2048_8192_SHA384,
            (Self::Rs256, "RS512") => &signature::RSA_PKCS1_2048_8192_SHA512,
            (Self::Rs256, "PS256") => &signature::RSA_PSS_2048_8192_SHA256,
            (Self::Rs256, "PS384") => &signature::RSA_PSS_2048_8192_SHA384,
            (Self::Rs256, "PS512") => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        })
    }

    fn ecdsa(self) -> Option<&'static EcdsaSigningAlgorithm> {
        match self {
            Self::Es256 => Some(&signature::ECDSA_P256_SHA256_FIXED_SIGNING),
            Self::Es384 => Some(&signature::ECDSA_P384_SHA384_FIXED_SIGNING),
            Self::Rs256 => None,
        }
    }
}

impl TokenKeys {
    /// Generates a signing key as PEM. This is a secret.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn generate_pem() -> Result<String, TokenKeyError> {
        let key = rcgen::KeyPair::generate().map_err(|_| TokenKeyError::Made)?;
        Ok(key.serialize_pem())
    }

    /// Generates a new key.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn new() -> Result<Self, TokenKeyError> {
        Self::from_pem(&Self::generate_pem()?, &[]).map_err(|_| TokenKeyError::Made)
    }

    /// Signs with the first private key in `signing`, and verifies with that and with all keys in
    /// `verifying`: private keys, public keys or certificates.
    ///
    /// # Errors
    /// A text has no usable key.
    pub fn from_pem(signing: &str, verifying: &[String]) -> Result<Self, TokenKeyError> {
        let mut sections = sections(signing);
        let signing = sections.find_map(|(kind, der)| SigningKey::parse(kind, &der));
        let signing = signing.ok_or(TokenKeyError::NoSigningKey)?;
        let mut keys = vec![signing.public.clone()];
        for text in verifying {
            for key in verifying_keys(text)? {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        if keys.len() > VERIFYING_KEYS_MAX {
            return Err(TokenKeyError::TooMany);
        }
        Ok(Self {
            signing,
            verifying: keys,
            random: SystemRandom::new(),
        })
    }

    /// Checks that a text has verifying keys.
    ///
    /// # Errors
    /// It has none.
    pub fn check_verifying(text: &str) -> Result<(), TokenKeyError> {
        verifying_keys(text).map(|_| ())
    }

    /// Returns the algorithms of the verifying keys, without duplicates.
    pub(crate) fn algorithms(&self) -> Vec<&'static str> {
        let used = |it: &Algorithm| self.verifying.iter().any(|key| key.algorithm == *it);
        let all = Algorithm::ALL.into_iter().filter(used);
        all.map(Algorithm::name).collect()
    }

    /// Returns the public keys as a JWK set (RFC 7517), with upstream's fields.
    pub(crate) fn public_keys(&self) -> Value {
        let keys = self.verifying.iter().map(VerifyingKey::to_json);
        json!({"keys": keys.collect::<Vec<_>>()})
    }

    /// Returns the header of the tokens that it signs, as JSON.
    pub(crate) fn header(&self) -> String {
        let VerifyingKey { id, algorithm, .. } = &self.signing.public;
        format!(r#"{{"alg":"{}","kid":"{id}"}}"#, algorithm.name())
    }

    /// `None` if the system provides no random numbers.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.signing.secret {
            Secret::Ecdsa(key) => {
                let signature = key.sign(&self.random, message).ok()?;
                Some(signature.as_ref().to_vec())
            }
            Secret::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let padding = &signature::RSA_PKCS1_SHA256;
                key.sign(padding, &self.random, message, &mut signature)
                    .ok()?;
                Some(signature)
            }
        }
    }

    /// Reports whether there is a verifying key of this id, or any if the id is empty.
    pub(crate) fn has(&self, id: &str) -> bool {
        id.is_empty() || self.verifying.iter().any(|key| key.id == id)
    }

    /// Verifies a signature with the key of this id, or with any key if there is no id.
    pub(crate) fn verify(
        &self,
        algorithm: &str,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let keys = self.verifying.iter();
        let mut keys = keys.filter(|key| id.is_none_or(|id| id == key.id));
        keys.any(|key| {
            let with = key.algorithm.verification(algorithm);
            with.is_some_and(|with| {
                let key = UnparsedPublicKey::new(with, &key.public);
                key.verify(message, signature).is_ok()
            })
        })
    }
}

impl SigningKey {
    fn parse(kind: SectionKind, der: &[u8]) -> Option<Self> {
        let random = SystemRandom::new();
        let secret = match kind {
            SectionKind::RsaPrivateKey => Secret::Rsa(RsaKeyPair::from_der(der).ok()?),
            SectionKind::PrivateKey | SectionKind::EcPrivateKey => {
                let ecdsa = Algorithm::ALL.into_iter().find_map(|it| {
                    let wrapped = match kind {
                        SectionKind::EcPrivateKey => &*asn1::ec_in_pkcs8(it, der)?,
                        _ => der,
                    };
                    let key = EcdsaKeyPair::from_pkcs8(it.ecdsa()?, wrapped, &random).ok()?;
                    Some((it, key))
                });
                if let Some((algorithm, key)) = ecdsa {
                    let public = VerifyingKey::new(algorithm, key.public_key().as_ref());
                    let secret = Secret::Ecdsa(key);
                    return Some(Self { secret, public });
                }
                Secret::Rsa(RsaKeyPair::from_pkcs8(der).ok()?)
            }
            _ => return None,
        };
        let Secret::Rsa(key) = &secret else {
            return None;
        };
        let public = VerifyingKey::new(Algorithm::Rs256, key.public_key().as_ref());
        Some(Self { secret, public })
    }
}

impl VerifyingKey {
    fn new(algorithm: Algorithm, public: &[u8]) -> Self {
        let info = asn1::public_key_info(algorithm, public);
        Self {
            id: URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, &info)),
            algorithm,
            public: public.to_vec(),
        }
    }

    fn to_json(&self) -> Value {
        let mut key = json!({"use": "sig", "kid": self.id, "alg": self.algorithm.name()});
        let mut say = |name: &str, value: &str| key[name] = value.into();
        let number = |bytes: &[u8]| {
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            URL_SAFE_NO_PAD.encode(&bytes[zeros..])
        };
        if self.algorithm == Algorithm::Rs256 {
            say("kty", "RSA");
            let info = asn1::public_key_info(self.algorithm, &self.public);
            if let Ok((_, info)) = SubjectPublicKeyInfo::from_der(&info)
                && let Ok(PublicKey::RSA(rsa)) = info.parsed()
            {
                say("n", &number(rsa.modulus));
                say("e", &number(rsa.exponent));
            }
            return key;
        }
        // The uncompressed form: a byte, and two coordinates of equal length.
        let point = self.public.get(1..).unwrap_or_default();
        let (x, y) = point.split_at(point.len() / 2);
        say("kty", "EC");
        let p256 = self.algorithm == Algorithm::Es256;
        say("crv", if p256 { "P-256" } else { "P-384" });
        say("x", &URL_SAFE_NO_PAD.encode(x));
        say("y", &URL_SAFE_NO_PAD.encode(y));
        key
    }

    fn parse(kind: SectionKind, der: &[u8]) -> Option<Self> {
        match kind {
            SectionKind::PublicKey => {
                let (_, info) = SubjectPublicKeyInfo::from_der(der).ok()?;
                Self::of_info(&info)
            }
            SectionKind::Certificate => {
                let (_, certificate) = X509Certificate::from_der(der).ok()?;
                Self::of_info(certificate.public_key())
            }
            _ => SigningKey::parse(kind, der).map(|key| key.public),
        }
    }

    fn of_info(info: &SubjectPublicKeyInfo<'_>) -> Option<Self> {
        // The encoding that a key of each kind would have identifies the kind.
        let public = &*info.subject_public_key.data;
        let made = |it| asn1::public_key_info(it, public) == info.raw;
        let algorithm = Algorithm::ALL.into_iter().find(|it| made(*it))?;
        Some(Self::new(algorithm, public))
    }
}

/// Returns all keys of a text, at least one; other content is ignored, as upstream.
fn verifying_keys(text: &str) -> Result<Vec<VerifyingKey>, TokenKeyError> {
    let keys = sections(text).filter_map(|(kind, der)| VerifyingKey::parse(kind, &der));
    let keys: Vec<_> = keys.take(VERIFYING_KEYS_MAX + 1).collect();
    if keys.is_empty() {
        return Err(TokenKeyError::NoVerifyingKey);
    }
    Ok(keys)
}

fn sections(text: &str) -> impl Iterator<Item = (SectionKind, Vec<u8>)> {
    <(SectionKind, Vec<u8>)>::pem_slice_iter(text.as_bytes()).map_while(Result::ok)
}

/// Omits the keys.
impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKeys")
            .field("signing", &self.signing.public.id)
            .field("verifying", &self.verifying.len())
            .finish_non_exhaustive()
    }
}
