//! The continue token of a list: its next key and its version.
//!
//! Upstream's form, so that a client may change servers between two pages.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use kubist_apimachinery::{Status, Str};
use kubist_codec::go_json;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// The position at which a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    /// The list version; `None` continues at the newest.
    pub(crate) revision: Option<u64>,
    /// The next key, relative to the prefix of the list.
    pub(crate) start: String,
}

#[derive(Debug, Default, Serialize)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

const VERSION: &str = "meta.k8s.io/v1";
/// Upstream's name of the message, in error texts that clients compare.
const GO_STRUCT: &str = "continueToken";
/// The same with its package.
const GO_TYPE: &str = "storage.continueToken";
/// As lenient as Go's: unused bits of the last character are ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

impl ContinueToken {
    /// Returns the encoded token.
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

    /// Decodes a client's token. 400 if it is invalid.
    pub(crate) fn decode(token: &str) -> Result<Self, Status> {
        Self::read(token).map_err(|why| {
            Status::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        })
    }

    /// Decodes a token, or returns upstream's error text.
    fn read(token: &str) -> Result<Self, String> {
        let json = json_of(token)?;
        let wire = Wire::read(&json)?;
        if wire.v != VERSION {
            let v = wire.v;
            return Err(format!(
                "server does not recognize this encoded version {v}"
            ));
        }
        if wire.rv == 0 {
            return Err(format!(
                "incorrect encoded start resourceVersion (version {VERSION})"
            ));
        }
        if wire.start.is_empty() {
            return Err(format!("encoded start key empty (version {VERSION})"));
        }
        // Upstream's cache puts a slash in front, its storage does not.
        let start = wire.start.strip_prefix('/').unwrap_or(&wire.start);
        let within = |segment: &str| !matches!(segment, "" | "." | "..");
        if !start.is_empty() && !start.split('/').all(within) {
            return Err(wire.start);
        }
        Ok(Self {
            revision: u64::try_from(wire.rv).ok(),
            start: start.to_owned(),
        })
    }
}

impl Wire {
    /// Reads JSON as Go does: field names in any case, the last duplicate counts, and null is no
    /// value. Upstream reports the first value of a wrong type, after all syntax errors.
    fn read(json: &[u8]) -> Result<Self, String> {
        if let Some(words) = go_json::mistake(json) {
            return Err(words);
        }
        let json = String::from_utf8_lossy(json);
        let members: Members<'_> =
            serde_json::from_str(&json).map_err(|error| match go_kind(json.trim_start()) {
                Some(kind @ ("array" | "bool" | "number" | "string")) => {
                    format!("json: cannot unmarshal {kind} into Go value of type {GO_TYPE}")
                }
                _ => error.to_string(),
            })?;
        let mut wire = Self::default();
        let mut first = None;
        for (name, value) in members.0 {
            let value = value.get();
            let Some((field, go_type)) = wire.set(&name, value) else {
                continue;
            };
            first.get_or_insert_with(|| {
                let kind = go_kind(value).unwrap_or_default();
                // Go's error includes a number that does not fit.
                let shown = match (kind, go_type) {
                    ("number", "int64") => format!("number {value}"),
                    _ => kind.to_owned(),
                };
                format!(
                    "json: cannot unmarshal {shown} into Go struct field {GO_STRUCT}.{field} of \
                     type {go_type}"
                )
            });
        }
        first.map_or(Ok(wire), Err)
    }

    /// Sets a member. Returns the field and Go's name of its type if the value has another type.
    fn set(&mut self, name: &str, value: &str) -> Option<(&'static str, &'static str)> {
        let (field, text) = match name.to_ascii_lowercase().as_str() {
            "v" => ("v", &mut self.v),
            "start" => ("start", &mut self.start),
            "rv" => {
                return match value.parse() {
                    Ok(number) => {
                        self.rv = number;
                        None
                    }
                    Err(_) => (value != "null").then_some(("rv", "int64")),
                };
            }
            _ => return None,
        };
        match serde_json::from_str(value) {
            Ok(Some(read)) => *text = read,
            Ok(None) => {}
            Err(_) => return Some((field, "string")),
        }
        None
    }
}

/// The members of an object, in order.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Members<'de>, E> {
        Ok(Members(Vec::new()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Returns Go's name for a JSON value; `None` for null.
fn go_kind(value: &str) -> Option<&'static str> {
    Some(match value.bytes().next()? {
        b'{' => "object",
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "bool",
        b'n' => return None,
        _ => "number",
    })
}

/// Returns the JSON of a token, or Go's error for invalid base64, which includes the position. Go
/// skips line breaks.
fn json_of(token: &str) -> Result<Vec<u8>, String> {
    let read = |byte: &u8| !matches!(byte, b'\r' | b'\n');
    let text: Vec<u8> = token.bytes().filter(read).collect();
    BASE64.decode(text).map_err(|_| {
        let unknown = |byte: u8| !(byte.is_ascii_alphanumeric() || b"-_\r\n".contains(&byte));
        let last = token.len().saturating_sub(1);
        let stop = token.bytes().position(unknown).unwrap_or(last);
        format!("illegal base64 data at input byte {stop}")
    })
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
            r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a/"}"#,
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
    }

    #[test]
    fn a_token_is_read_as_go_reads_json() {
        let start = |json: &str| decode(json).map(|it| it.start);
        for json in [
            " {\"v\":\"meta.k8s.io/v1\",\"rv\":7,\"start\":\"c1\"}\n",
            r#"{"V":"meta.k8s.io/v1","RV":9,"Start":"c1"}"#,
            r#"{"v":"a","v":"meta.k8s.io/v1","rv":4,"start":"c1"}"#,
            r#"{"v":"meta.k8s.io/v1","rv":4,"start":"c1","start":null,"x":[{}]}"#,
        ] {
            assert_eq!(start(json).as_deref(), Ok("c1"), "{json}");
        }
        let broken = r#"{"v":"meta.k8s.io/v1","rv":4,"start":"/"}"#;
        assert_eq!(start(broken).as_deref(), Ok(""));
        let folded = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0\r\n";
        let token = ContinueToken::decode(folded).map(|it| it.start);
        assert_eq!(token.as_deref(), Ok("a"));
    }

    #[test]
    fn invalid_tokens_have_the_error_texts_of_go() {
        for (json, expected) in [
            (
                &b"\x9a\x01"[..],
                r"invalid character '\u009a' looking for beginning of value",
            ),
            (b"{}1", "invalid character '1' after top-level value"),
            (b"{", "unexpected end of JSON input"),
            (b"{}", "server does not recognize this encoded version "),
            (b"null", "server does not recognize this encoded version "),
            (
                b"[]",
                "json: cannot unmarshal array into Go value of type storage.continueToken",
            ),
            (
                br#"{"v":7,"rv":"x"}"#,
                "json: cannot unmarshal number into Go struct field continueToken.v of type string",
            ),
            (
                br#"{"RV":1.5}"#,
                "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type \
                 int64",
            ),
            (
                br#"{"v":"meta.k8s.io/v2"}"#,
                "server does not recognize this encoded version meta.k8s.io/v2",
            ),
            (
                b"{\"v\":\"\xe8\"}",
                "server does not recognize this encoded version \u{fffd}",
            ),
            (
                br#"{"v":"meta.k8s.io/v1"}"#,
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (
                br#"{"v":"meta.k8s.io/v1","rv":1}"#,
                "encoded start key empty (version meta.k8s.io/v1)",
            ),
            (
                br#"{"v":"meta.k8s.io/v1","rv":1,"start":"a/../b"}"#,
                "a/../b",
            ),
        ] {
            let status = ContinueToken::decode(&BASE64.encode(json)).expect_err(expected);
            let message = format!("invalid continue token: continue key is not valid: {expected}");
            assert_eq!((status.code, &*status.message), (400, &*message));
        }
    }
}
