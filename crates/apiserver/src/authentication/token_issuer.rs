//! `TokenIssuer`: signs and verifies service account tokens.
//!
//! They are JSON Web Tokens, signed with one of [`TokenKeys`]. It verifies the signature, the
//! issuer and the validity period; whether the account still exists is checked by the caller. The
//! older tokens, which are kept in Secrets, are issued by upstream's controller with the same keys
//! and only verified here.

use crate::authentication::authenticators::ServiceAccounts;
use crate::authentication::token_keys::{TokenKeyError, TokenKeys};
use crate::expiring_cache::{self, ExpiringCache};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubist_apimachinery::Str;
use kubist_authentication::{CompactJwt, untrusted_issuer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The default issuer of the tokens, and the default audience of this server: the address of the
/// API server within a cluster, as upstream's installers choose it.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// The issuer of the tokens in Secrets, as upstream.
const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

/// Tolerated clock difference, as upstream.
const LEEWAY_SECONDS: u64 = 60;

/// How long a verified signature counts. The keys do not change, so this bounds memory only.
const SIGNATURE_TTL: Duration = Duration::from_secs(600);

/// Signs tokens, and verifies those of servers with the same keys.
pub(crate) struct TokenIssuer {
    keys: OnceLock<Arc<TokenKeys>>,
    /// At least one; the first signs.
    issuers: Vec<String>,
    audiences: Vec<Str>,
    lookup: bool,
    jwks_uri: Option<String>,
    /// Claims of tokens with a good signature: verifying one costs more than all else of a small
    /// request. Their times are checked each time.
    signed: ExpiringCache<Arc<Verified>>,
}

/// The verified claims of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verified {
    /// Those of a token of a `TokenRequest`.
    Bound(Box<Claims>),
    /// Those of a token in a Secret.
    Legacy(LegacyClaims),
}

/// The claims of a token, with upstream's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The audiences.
    #[serde(rename = "aud", default, deserialize_with = "one_or_many")]
    pub(crate) audiences: Vec<String>,
    /// Expiration, in seconds since the Unix epoch. As upstream, a token without it stays good.
    #[serde(rename = "exp", default = "never")]
    pub(crate) expires: u64,
    /// When it was issued.
    #[serde(rename = "iat", default)]
    pub(crate) issued: u64,
    /// The issuer.
    #[serde(rename = "iss")]
    pub(crate) issuer: String,
    /// The id of the token; may be empty.
    #[serde(rename = "jti", default)]
    pub(crate) id: String,
    /// The account, and the object that it is bound to.
    #[serde(rename = "kubernetes.io", default)]
    pub(crate) account: Account,
    /// Start of its validity.
    #[serde(rename = "nbf", default)]
    pub(crate) not_before: u64,
    /// The user name.
    #[serde(rename = "sub", default)]
    pub(crate) subject: String,
}

fn never() -> u64 {
    u64::MAX
}

/// The claims of a token in a Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct LegacyClaims {
    #[serde(rename = "sub")]
    pub(crate) subject: String,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    pub(crate) namespace: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    pub(crate) secret: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub(crate) name: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    pub(crate) uid: String,
}

/// A service account, and the object that its token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
#[serde(default)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) uid: String,
}

impl TokenIssuer {
    /// Without `keys`, a key is created when it is first needed. Without issuers, the default one
    /// is used.
    pub(crate) fn new(keys: Option<Arc<TokenKeys>>, config: &ServiceAccounts) -> Self {
        let mut issuers = config.issuers.clone();
        if issuers.is_empty() {
            issuers.push(ISSUER.to_owned());
        }
        let audiences = config.api_audiences.as_ref().unwrap_or(&issuers);
        Self {
            keys: keys.map_or_else(OnceLock::new, OnceLock::from),
            audiences: audiences.iter().map(Str::from).collect(),
            issuers,
            lookup: config.lookup,
            jwks_uri: config.jwks_uri.clone(),
            signed: ExpiringCache::default(),
        }
    }

    /// Returns the name of the issuer of new tokens.
    pub(crate) fn name(&self) -> &str {
        self.issuers.first().map_or(ISSUER, String::as_str)
    }

    /// Returns the audiences of this server.
    pub(crate) fn audiences(&self) -> &[Str] {
        &self.audiences
    }

    /// Reports whether the objects of tokens in Secrets are looked up.
    pub(crate) fn looks_up(&self) -> bool {
        self.lookup
    }

    /// Returns where the keys are said to be, if not at this server's address.
    pub(crate) fn jwks_uri(&self) -> Option<&str> {
        self.jwks_uri.as_deref()
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

    /// Returns the claims of a token that is valid at `now`, since the Unix epoch; `None` if it is
    /// not one of these issuers.
    ///
    /// # Errors
    /// Why the token is not good, in upstream's words.
    pub(crate) fn verify(
        &self,
        token: &str,
        now: Duration,
    ) -> Result<Option<Arc<Verified>>, String> {
        let key = expiring_cache::key([token.as_bytes()]);
        let verified = if let Some(known) = self.signed.get(&key) {
            known
        } else {
            let Some(verified) = self.verify_signature(token)? else {
                return Ok(None);
            };
            let verified = Arc::new(verified);
            self.signed.put(key, Arc::clone(&verified), SIGNATURE_TTL);
            verified
        };
        if let Verified::Bound(claims) = &*verified {
            check_times(claims, now.as_secs())?;
        }
        Ok(Some(verified))
    }

    /// Returns the claims of a token that one of these issuers signed, whatever its times.
    fn verify_signature(&self, token: &str) -> Result<Option<Verified>, String> {
        let Some(issuer) = untrusted_issuer(token) else {
            return Ok(None);
        };
        let is_legacy = issuer == LEGACY_ISSUER;
        if !is_legacy && !self.issuers.contains(&issuer) {
            return Ok(None);
        }
        let Ok(jwt) = CompactJwt::parse(token) else {
            return Ok(None);
        };
        // Without keys, nothing was signed.
        let keys = self.keys.get();
        let keys = keys.filter(|it| it.has(&jwt.key_id));
        let keys = keys.ok_or("invalid signature, no keys found")?;
        let key = Some(&*jwt.key_id).filter(|it| !it.is_empty());
        if !keys.verify(&jwt.algorithm, key, jwt.signed(), jwt.signature()) {
            return Err("go-jose/go-jose: error in cryptographic primitive".to_owned());
        }
        let claims = Value::Object(jwt.claims().map_err(|error| error.to_string())?);
        let malformed = |error: serde_json::Error| format!("json: {error}");
        let verified = if is_legacy {
            Verified::Legacy(serde_json::from_value(claims).map_err(malformed)?)
        } else {
            Verified::Bound(Box::new(serde_json::from_value(claims).map_err(malformed)?))
        };
        Ok(Some(verified))
    }
}

fn check_times(claims: &Claims, now: u64) -> Result<(), String> {
    let tolerated = now.saturating_add(LEEWAY_SECONDS);
    let why = if claims.not_before > tolerated {
        "service account token is not valid yet"
    } else if claims.expires.saturating_add(LEEWAY_SECONDS) <= now {
        "service account token has expired"
    } else if claims.issued > tolerated {
        "service account token is issued in the future"
    } else {
        return Ok(());
    };
    Err(why.to_owned())
}

/// One text, or a list of them.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(only) => vec![only],
        Texts::Many(all) => all,
    })
}

/// Omits the key.
impl fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenIssuer")
            .field("issuers", &self.issuers)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_authentication::TOKEN_BYTES_MAX;

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
        TokenIssuer::new(None, &ServiceAccounts::default())
    }

    fn bound(issuer: &TokenIssuer, token: &str, now: Duration) -> Option<Claims> {
        match &*issuer.verify(token, now).ok()?? {
            Verified::Bound(claims) => Some((**claims).clone()),
            Verified::Legacy(_) => None,
        }
    }

    #[test]
    fn a_token_is_good_between_its_times_and_for_its_issuer() {
        let issuer = new_issuer();
        let token = issuer.sign(&claims()).expect("there are random numbers");
        let at = |seconds| bound(&issuer, &token, Duration::from_secs(seconds));
        assert_eq!(at(1_000), Some(claims()));
        assert_eq!(at(1_999), Some(claims()));
        // Including the tolerated minute.
        assert_eq!(at(940), Some(claims()));
        assert_eq!(at(939), None);
        assert_eq!(at(2_059), Some(claims()));
        assert_eq!(at(2_060), None);
        let other = new_issuer();
        assert_eq!(bound(&other, &token, Duration::from_secs(1_500)), None);
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
            assert_eq!(bound(&issuer, &bad, now), None, "{bad:.80}");
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
                TokenIssuer::new(Some(Arc::new(keys)), &ServiceAccounts::default())
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
                assert_eq!(
                    bound(&verifying, &token, now).is_some(),
                    good,
                    "{algorithm}"
                );
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
