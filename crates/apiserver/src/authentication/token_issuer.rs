//! `TokenIssuer`: signs and verifies service account tokens.
//!
//! They are JSON Web Tokens, signed with one of [`TokenKeys`]. It verifies the signature, the
//! issuer and the validity period; whether the account still exists is checked by the caller.

use crate::authentication::token_keys::{TokenKeyError, TokenKeys};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The issuer of the tokens, and the audience of this server: the address of the API server within
/// a cluster, as upstream's installers choose it.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// Maximum length of a token.
const TOKEN_BYTES_MAX: usize = 64 << 10;

/// Tolerated clock difference, as upstream.
const LEEWAY_SECONDS: u64 = 60;

/// Signs tokens, and verifies those of servers with the same keys.
pub(crate) struct TokenIssuer {
    keys: OnceLock<Arc<TokenKeys>>,
}

/// The header of a token.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "alg")]
    algorithm: String,
    #[serde(default, rename = "kid")]
    key: Option<String>,
}

/// The claims of a token, with upstream's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The audiences.
    #[serde(rename = "aud")]
    pub(crate) audiences: Vec<String>,
    /// Expiration, in seconds since the Unix epoch.
    #[serde(rename = "exp")]
    pub(crate) expires: u64,
    /// When it was issued.
    #[serde(rename = "iat")]
    pub(crate) issued: u64,
    /// The issuer.
    #[serde(rename = "iss")]
    pub(crate) issuer: String,
    /// The id of the token.
    #[serde(rename = "jti")]
    pub(crate) id: String,
    /// The account, and the object that it is bound to.
    #[serde(rename = "kubernetes.io")]
    pub(crate) account: Account,
    /// Start of its validity.
    #[serde(rename = "nbf")]
    pub(crate) not_before: u64,
    /// The user name.
    #[serde(rename = "sub")]
    pub(crate) subject: String,
}

/// A service account, and the object that its token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The namespace of the account and of the Pod or the Secret.
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

/// A reference to one incarnation of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) uid: String,
}

impl TokenIssuer {
    /// Without `keys`, a key is created when it is first needed.
    pub(crate) fn new(keys: Option<Arc<TokenKeys>>) -> Self {
        Self {
            keys: keys.map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    /// Returns the keys.
    ///
    /// # Errors
    /// There are none yet, and the system provides no random numbers.
    pub(crate) fn keys(&self) -> Result<&TokenKeys, TokenKeyError> {
        if self.keys.get().is_none() {
            // A concurrent request may have stored another key meanwhile, which then counts.
            drop(self.keys.set(Arc::new(TokenKeys::new()?)));
        }
        self.keys.get().map(|it| &**it).ok_or(TokenKeyError::Made)
    }

    /// Signs claims. `None` if the system provides no random numbers.
    pub(crate) fn sign(&self, claims: &Claims) -> Option<String> {
        let keys = self.keys().ok()?;
        let claims = serde_json::to_vec(claims).ok()?;
        let header = URL_SAFE_NO_PAD.encode(keys.header());
        let mut token = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = keys.sign(token.as_bytes())?;
        token.push('.');
        token.push_str(&URL_SAFE_NO_PAD.encode(signature));
        Some(token)
    }

    /// Returns the claims of a token of this issuer that is valid at `now`, since the Unix epoch.
    pub(crate) fn verify(&self, token: &str, now: Duration) -> Option<Claims> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let Header { algorithm, key } = &header;
        let (key, message) = (key.as_deref(), signed.as_bytes());
        // Without keys, nothing was signed.
        let keys = self.keys.get()?;
        if !keys.verify(algorithm, key, message, &signature) {
            return None;
        }
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let now = now.as_secs();
        let begun = claims.not_before <= now.saturating_add(LEEWAY_SECONDS);
        let ended = claims.expires.saturating_add(LEEWAY_SECONDS) <= now;
        (claims.issuer == ISSUER && begun && !ended).then_some(claims)
    }
}

/// Omits the key.
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

    fn new_issuer() -> TokenIssuer {
        TokenIssuer::new(None)
    }

    #[test]
    fn a_token_is_good_between_its_times_and_for_its_issuer() {
        let issuer = new_issuer();
        let token = issuer.sign(&claims()).expect("there are random numbers");
        let at = |seconds| issuer.verify(&token, Duration::from_secs(seconds));
        assert_eq!(at(1_000), Some(claims()));
        assert_eq!(at(1_999), Some(claims()));
        // Including the tolerated minute.
        assert_eq!(at(940), Some(claims()));
        assert_eq!(at(939), None);
        assert_eq!(at(2_059), Some(claims()));
        assert_eq!(at(2_060), None);
        let other = new_issuer();
        assert_eq!(other.verify(&token, Duration::from_secs(1_500)), None);
    }

    #[test]
    fn what_was_changed_after_signing_is_no_token() {
        let issuer = new_issuer();
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

    /// Created with openssl, one of each kind and format.
    const RSA: &str = include_str!("token_issuer/testdata/rsa.pem");
    const RSA_PKCS8: &str = include_str!("token_issuer/testdata/rsa-pkcs8.pem");
    const RSA_PUBLIC: &str = include_str!("token_issuer/testdata/rsa-public.pem");
    const P256: &str = include_str!("token_issuer/testdata/p256.pem");
    const P256_PUBLIC: &str = include_str!("token_issuer/testdata/p256-public.pem");
    const P384: &str = include_str!("token_issuer/testdata/p384.pem");
    const P384_PUBLIC: &str = include_str!("token_issuer/testdata/p384-public.pem");

    #[test]
    fn tokens_of_every_kind_of_key_are_verified_by_its_public_half() {
        let now = Duration::from_secs(1_500);
        for (private, public, algorithm) in [
            (RSA, RSA_PUBLIC, "RS256"),
            (RSA_PKCS8, RSA_PUBLIC, "RS256"),
            (P256, P256_PUBLIC, "ES256"),
            (P384, P384_PUBLIC, "ES384"),
        ] {
            let of = |signing: &str, verifying: &[&str]| {
                let verifying: Vec<_> = verifying.iter().map(ToString::to_string).collect();
                let keys = TokenKeys::from_pem(signing, &verifying).expect("they are keys");
                TokenIssuer::new(Some(Arc::new(keys)))
            };
            let own = TokenKeys::generate_pem().expect("keys can be made");
            let signing = of(private, &[]);
            let token = signing.sign(&claims()).expect("there are random numbers");
            let header = token.split('.').next().unwrap_or_default();
            let header = URL_SAFE_NO_PAD.decode(header).expect("it is base64");
            let header = String::from_utf8(header).expect("it is text");
            assert!(header.contains(algorithm), "{header}");
            let all = [RSA_PUBLIC, P256_PUBLIC, P384_PUBLIC].concat();
            for (verifying, good) in [
                (of(private, &[]), true),
                (of(&own, &[public]), true),
                (of(&own, &[private]), true),
                (of(&own, &[&all]), true),
                (of(&own, &[]), false),
            ] {
                assert_eq!(verifying.verify(&token, now).is_some(), good, "{algorithm}");
            }
        }
    }

    #[test]
    fn texts_without_keys_are_refused() {
        let own = TokenKeys::generate_pem().expect("keys can be made");
        for text in ["", "something else", P256_PUBLIC] {
            let refused = TokenKeys::from_pem(text, &[]).expect_err("it has no private key");
            assert_eq!(refused, TokenKeyError::NoSigningKey);
        }
        for text in ["", "something else"] {
            let refused = TokenKeys::from_pem(&own, &[text.to_owned()]).expect_err("it has none");
            assert_eq!(refused, TokenKeyError::NoVerifyingKey);
        }
    }
}
