//! `TokenIssuer`: the tokens of service accounts.
//!
//! JSON Web Tokens, signed with ECDSA P-256 (ES256) by a key that is made when the server starts
//! and gone with it. A signature and the times in the token are all that is looked at here:
//! whether the account still exists is for who asks.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Who the tokens say they come from, and the audience that this server itself is: the address of
/// the API server within a cluster, as upstream's installers choose it.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// Longer texts are no tokens of ours.
const TOKEN_BYTES_MAX: usize = 64 << 10;

/// How they are signed.
pub(crate) const ALGORITHM: &str = "ES256";
/// What stands before a public point on P-256 in the form of which upstream takes the digest for
/// the id of a key: the DER of a `SubjectPublicKeyInfo` (RFC 5480).
const PUBLIC_KEY_INFO: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// How far a clock may be set back or forward without a good token becoming none, as upstream.
const LEEWAY_SECONDS: u64 = 60;

/// The key that signs tokens could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot make the key that signs tokens")]
pub(crate) struct KeyError;

/// Signs tokens and verifies what it signed.
pub(crate) struct TokenIssuer {
    key: EcdsaKeyPair,
    random: SystemRandom,
    /// The id of the key.
    id: String,
    /// The first part of every token.
    header: String,
}

/// What a token says, with the names that upstream has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// For whom it is.
    #[serde(rename = "aud")]
    pub(crate) audiences: Vec<String>,
    /// Its end, in seconds since the Unix epoch.
    #[serde(rename = "exp")]
    pub(crate) expires: u64,
    /// When it was signed.
    #[serde(rename = "iat")]
    pub(crate) issued: u64,
    /// Who signed it.
    #[serde(rename = "iss")]
    pub(crate) issuer: String,
    /// The token's own id.
    #[serde(rename = "jti")]
    pub(crate) id: String,
    /// Whose it is, and what it ends with.
    #[serde(rename = "kubernetes.io")]
    pub(crate) account: Account,
    /// Its beginning.
    #[serde(rename = "nbf")]
    pub(crate) not_before: u64,
    /// The name of the user.
    #[serde(rename = "sub")]
    pub(crate) subject: String,
}

/// A service account, and the object that a token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The namespace of the account, and of the Pod or the Secret.
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Reference>,
    #[serde(rename = "serviceaccount")]
    pub(crate) own: Reference,
}

/// An object that must still be the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) uid: String,
}

impl TokenIssuer {
    /// With a new key.
    pub(crate) fn new() -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| KeyError)?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random);
        let key = key.map_err(|_| KeyError)?;
        let info = [PUBLIC_KEY_INFO, key.public_key().as_ref()].concat();
        let id = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, &info));
        let header = format!(r#"{{"alg":"{ALGORITHM}","kid":"{id}"}}"#);
        Ok(Self {
            id,
            header: URL_SAFE_NO_PAD.encode(header),
            key,
            random,
        })
    }

    /// What others verify tokens with: the set of public keys, as RFC 7517 has it and upstream
    /// fills it in.
    pub(crate) fn public_keys(&self) -> Value {
        // The uncompressed form: a byte, and two numbers of the same length.
        let point = &self.key.public_key().as_ref()[1..];
        let (x, y) = point.split_at(point.len() / 2);
        json!({"keys": [{
            "use": "sig",
            "kty": "EC",
            "kid": self.id,
            "crv": "P-256",
            "alg": ALGORITHM,
            "x": URL_SAFE_NO_PAD.encode(x),
            "y": URL_SAFE_NO_PAD.encode(y),
        }]})
    }

    /// A token that says so. None if the system has no random numbers.
    pub(crate) fn sign(&self, claims: &Claims) -> Option<String> {
        let claims = serde_json::to_vec(claims).ok()?;
        let mut token = format!("{}.{}", self.header, URL_SAFE_NO_PAD.encode(claims));
        let signature = self.key.sign(&self.random, token.as_bytes()).ok()?;
        token.push('.');
        token.push_str(&URL_SAFE_NO_PAD.encode(signature));
        Some(token)
    }

    /// What a token of this issuer says that is valid at `now`, since the Unix epoch.
    pub(crate) fn verify(&self, token: &str, now: Duration) -> Option<Claims> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if header != self.header {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key());
        key.verify(signed.as_bytes(), &signature).ok()?;
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let now = now.as_secs();
        let begun = claims.not_before <= now.saturating_add(LEEWAY_SECONDS);
        let ended = claims.expires.saturating_add(LEEWAY_SECONDS) <= now;
        (begun && !ended).then_some(claims)
    }
}

/// Without the key.
impl fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenIssuer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims {
            audiences: vec![ISSUER.to_owned()],
            expires: 2_000,
            issued: 1_000,
            issuer: ISSUER.to_owned(),
            id: "1".to_owned(),
            account: Account {
                namespace: "default".to_owned(),
                ..Account::default()
            },
            not_before: 1_000,
            subject: "system:serviceaccount:default:a".to_owned(),
        }
    }

    #[test]
    fn a_token_is_good_between_its_times_and_for_its_issuer() {
        let issuer = TokenIssuer::new().expect("keys can be made");
        let token = issuer.sign(&claims()).expect("there are random numbers");
        let at = |seconds| issuer.verify(&token, Duration::from_secs(seconds));
        assert_eq!(at(1_000), Some(claims()));
        assert_eq!(at(1_999), Some(claims()));
        // With the minute that clocks may differ by.
        assert_eq!(at(940), Some(claims()));
        assert_eq!(at(939), None);
        assert_eq!(at(2_059), Some(claims()));
        assert_eq!(at(2_060), None);
        let other = TokenIssuer::new().expect("keys can be made");
        assert_eq!(other.verify(&token, Duration::from_secs(1_500)), None);
    }

    #[test]
    fn what_was_changed_after_signing_is_no_token() {
        let issuer = TokenIssuer::new().expect("keys can be made");
        let token = issuer.sign(&claims()).expect("there are random numbers");
        let now = Duration::from_secs(1_500);
        let mut parts: Vec<&str> = token.split('.').collect();
        let mut changed = claims();
        changed.subject = "system:serviceaccount:default:b".to_owned();
        let changed = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&changed).expect("it is JSON"));
        parts[1] = &changed;
        for bad in [
            parts.join("."),
            token.replace('.', ""),
            format!("{token}A"),
            format!(".{token}"),
            String::new(),
            "x".repeat(TOKEN_BYTES_MAX + 1),
        ] {
            assert_eq!(issuer.verify(&bad, now), None, "{bad:.80}");
        }
    }
}
