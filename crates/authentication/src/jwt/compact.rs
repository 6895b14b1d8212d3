//! `CompactJwt`: a token in the compact form, whose signature is not verified yet.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum length of a token.
pub const TOKEN_BYTES_MAX: usize = 64 << 10;

/// A token in the compact form: three parts in base64, separated by points.
#[derive(Debug)]
#[non_exhaustive]
pub struct CompactJwt<'t> {
    /// The algorithm that its header names.
    pub algorithm: String,
    /// The id of the key that its header names; empty for none.
    pub key_id: String,
    /// What is signed.
    signed: &'t str,
    signature: Vec<u8>,
    payload: Vec<u8>,
}

/// Why a text is not a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwtError {
    /// It has another form, or is too long.
    #[error("oidc: malformed jwt")]
    Form,
    /// Its header is not that of a signed token.
    #[error("oidc: malformed jwt: {reason}")]
    Header {
        /// What is wrong.
        reason: String,
    },
    /// Its claims are not an object.
    #[error("oidc: failed to unmarshal claims: {reason}")]
    Claims {
        /// What is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// What a verifier must understand.
    #[serde(default)]
    crit: Option<Value>,
}

impl<'t> CompactJwt<'t> {
    /// Splits a token, and decodes its parts.
    ///
    /// # Errors
    /// It is not a token in the compact form, or its header demands what nobody here understands.
    pub fn parse(token: &'t str) -> Result<Self, JwtError> {
        let (header, payload, signature, signed) = parts(token).ok_or(JwtError::Form)?;
        let decode = |text| URL_SAFE_NO_PAD.decode(text);
        let header = decode(header).map_err(|error| JwtError::Header {
            reason: error.to_string(),
        })?;
        let header: Header = serde_json::from_slice(&header).map_err(|error| JwtError::Header {
            reason: error.to_string(),
        })?;
        if header.crit.is_some() {
            return Err(JwtError::Header {
                reason: "unsupported crit header".to_owned(),
            });
        }
        Ok(Self {
            algorithm: header.alg,
            key_id: header.kid.unwrap_or_default(),
            signed,
            signature: decode(signature).map_err(|_| JwtError::Form)?,
            payload: decode(payload).map_err(|_| JwtError::Form)?,
        })
    }

    /// Returns what is signed.
    pub fn signed(&self) -> &[u8] {
        self.signed.as_bytes()
    }

    /// Returns the signature.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// Returns the claims. They are not to be believed before the signature is verified.
    ///
    /// # Errors
    /// They are not an object.
    pub fn claims(&self) -> Result<Map<String, Value>, JwtError> {
        serde_json::from_slice(&self.payload).map_err(|error| JwtError::Claims {
            reason: error.to_string(),
        })
    }
}

/// Returns header, payload, signature, and the first two together.
fn parts(token: &str) -> Option<(&str, &str, &str, &str)> {
    if token.len() > TOKEN_BYTES_MAX {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    (!payload.contains('.')).then_some((header, payload, signature, signed))
}

/// Returns the issuer that a token names. Nothing is verified: it only says who may be asked about
/// the token.
pub fn untrusted_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claims {
        #[serde(default)]
        iss: Option<String>,
    }
    let (_, payload, _, _) = parts(token)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    Some(claims.iss.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str, payload: &str) -> String {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", encode(header), encode(payload), encode("s"))
    }

    #[test]
    fn a_token_has_a_header_claims_and_a_signature() {
        let text = token(r#"{"alg":"RS256","kid":"k"}"#, r#"{"iss":"https://a"}"#);
        let jwt = CompactJwt::parse(&text).expect("it is one");
        assert_eq!((&*jwt.algorithm, &*jwt.key_id), ("RS256", "k"));
        assert_eq!(jwt.claims().expect("it is an object")["iss"], "https://a");
        assert_eq!(untrusted_issuer(&text).as_deref(), Some("https://a"));
    }

    #[test]
    fn everything_else_is_no_token() {
        let good = token(r#"{"alg":"RS256"}"#, "{}");
        let long = format!("{good}{}", "A".repeat(TOKEN_BYTES_MAX));
        for bad in ["", "a.b", "a.b.c.d", &long, &format!("{good}=")] {
            assert!(CompactJwt::parse(bad).is_err(), "{bad:.20}");
        }
        for header in ["[]", "{}", r#"{"alg":"RS256","crit":["b64"]}"#] {
            assert!(CompactJwt::parse(&token(header, "{}")).is_err(), "{header}");
        }
        let list = token(r#"{"alg":"RS256"}"#, "[]");
        assert!(
            CompactJwt::parse(&list)
                .expect("it has the form")
                .claims()
                .is_err()
        );
        assert_eq!(untrusted_issuer(&good).as_deref(), Some(""));
        assert_eq!(untrusted_issuer("opaque"), None);
    }
}
