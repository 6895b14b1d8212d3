//! The token of the next page of a list: where to go on, and at which version.
//!
//! Upstream's form, so that a client may change servers between two pages.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use kubist_apimachinery::{Status, Str};
use serde::{Deserialize, Serialize};

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    /// The version of the list; None goes on at the newest.
    pub(crate) revision: Option<u64>,
    /// The first key, relative to the prefix of the list.
    pub(crate) start: String,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

const VERSION: &str = "meta.k8s.io/v1";
/// As lenient as Go's: the last character may carry bits that mean nothing.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

impl ContinueToken {
    /// The token as clients get it.
    pub(crate) fn encode(&self) -> Str {
        let wire = Wire {
            v: VERSION.to_owned(),
            rv: self
                .revision
                .map_or(-1, |it| i64::try_from(it).unwrap_or(i64::MAX)),
            start: self.start.clone(),
        };
        let json = serde_json::to_vec(&wire).expect("numbers and strings are JSON");
        BASE64.encode(json).into()
    }

    /// Reads what a client sent. 400 if it is none of ours.
    pub(crate) fn decode(token: &str) -> Result<Self, Status> {
        let invalid = |why: &str| {
            Status::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let json = BASE64
            .decode(token)
            .map_err(|_| invalid(&no_base64(token)))?;
        if let Some(&first) = json.first()
            && first != b'{'
        {
            // As upstream's JSON reader says it, byte by byte.
            let first = char::from(first);
            let why = format!("invalid character '{first}' looking for beginning of value");
            return Err(invalid(&why));
        }
        let wire: Wire =
            serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        if wire.v != VERSION {
            let why = format!(
                "server does not recognize this encoded version {:?}",
                wire.v
            );
            return Err(invalid(&why));
        }
        if wire.rv == 0 {
            return Err(invalid(
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        // Upstream's cache writes a slash in front, its storage does not.
        let start = wire.start.strip_prefix('/').unwrap_or(&wire.start);
        if start.is_empty() {
            return Err(invalid("no start key"));
        }
        let within = |segment: &str| !matches!(segment, "" | "." | "..");
        if !start.split('/').all(within) {
            return Err(invalid(&format!("invalid start key {:?}", wire.start)));
        }
        Ok(Self {
            revision: u64::try_from(wire.rv).ok(),
            start: start.to_owned(),
        })
    }
}

/// Go's words for a text that is no base64, which name where it stops reading.
fn no_base64(token: &str) -> String {
    let unknown = |byte: u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let last = token.len().saturating_sub(1);
    let stop = token.bytes().position(unknown).unwrap_or(last);
    format!("illegal base64 data at input byte {stop}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(json: &str) -> Result<ContinueToken, i32> {
        ContinueToken::decode(&BASE64.encode(json)).map_err(|status| status.code)
    }

    #[test]
    fn tokens_are_read_back() {
        for revision in [Some(7), None] {
            let start = "ns/name\0".to_owned();
            let token = ContinueToken { revision, start };
            assert_eq!(ContinueToken::decode(&token.encode()), Ok(token));
        }
        let json = r#"{"v":"meta.k8s.io/v1","rv":7,"start":"/c1\u0000"}"#;
        assert_eq!(decode(json).map(|it| it.start).as_deref(), Ok("c1\0"));
    }

    #[test]
    fn a_token_that_is_none_or_leads_elsewhere_is_refused() {
        for json in [
            "",
            "{}",
            r#"{"v":"meta.k8s.io/v2","rv":7,"start":"a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":0,"start":"a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":7,"start":""}"#,
            r#"{"v":"meta.k8s.io/v1","rv":7,"start":"../secrets/a"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a//b"}"#,
        ] {
            assert_eq!(decode(json), Err(400), "{json}");
        }
        for (token, byte) in [
            ("?", 0),
            ("x", 0),
            ("x!", 1),
            ("xx!", 2),
            ("a=b", 1),
            ("abcd=", 4),
            ("YQ==", 2),
        ] {
            let status = ContinueToken::decode(token).expect_err("it is no base64");
            assert_eq!(
                (status.code, &*status.message),
                (
                    400,
                    format!(
                        "invalid continue token: continue key is not valid: illegal base64 data \
                         at input byte {byte}"
                    )
                    .as_str()
                ),
                "{token}"
            );
        }
        let status = ContinueToken::decode("xx").expect_err("it is no JSON");
        assert_eq!(
            status.message,
            "invalid continue token: continue key is not valid: invalid character 'Ç' looking for \
             beginning of value"
        );
    }
}
