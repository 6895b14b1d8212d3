//! Tokens that tests sign themselves.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::KeyPair;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};

/// A key that signs tokens with ES256.
pub(super) struct Signer {
    id: String,
    pair: KeyPair,
    key: EcdsaKeyPair,
}

impl Signer {
    /// A new key. Without an id, tokens name none.
    pub(super) fn new(id: &str) -> Self {
        let pair = KeyPair::generate().expect("it is made");
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::from_pkcs8(algorithm, &pair.serialize_der(), &random);
        Self {
            id: id.to_owned(),
            pair,
            key: key.expect("it is a key"),
        }
    }

    /// The private key, in PEM.
    pub(super) fn pem(&self) -> String {
        self.pair.serialize_pem()
    }

    /// The public key, as issuers publish it.
    pub(super) fn jwk(&self) -> Value {
        let point = self.pair.public_key_raw();
        let (x, y) = point[1..].split_at(32);
        let encode = |it| URL_SAFE_NO_PAD.encode(it);
        json!({"kty": "EC", "crv": "P-256", "kid": self.id, "x": encode(x), "y": encode(y)})
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        let mut header = json!({"alg": "ES256"});
        if !self.id.is_empty() {
            header["kid"] = self.id.as_str().into();
        }
        let encode = |it: &Value| URL_SAFE_NO_PAD.encode(it.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.expect("there are random numbers"));
        format!("{signed}.{signature}")
    }
}
