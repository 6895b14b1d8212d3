//! `Cbor`: CBOR in requests, at the edge of the server, which has JSON inside.
//!
//! Upstream's gate `CBORServingAndStorage` offers it, and it is off by default there and here. The
//! media type of a body in CBOR becomes JSON's before anybody reads it, and the body becomes JSON
//! where it is read (`negotiation/cbor_body.rs`). What the client accepts is negotiated with
//! everything else; `response/cbor.rs` is the way back.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use kubist_codec::Format;
use kubist_codec::cbor::{APPLY_MEDIA_TYPE, MEDIA_TYPE};
use kubist_codec::negotiate::PatchType;

/// What of CBOR there is in a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cbor {
    offered: bool,
    body: bool,
}

impl Cbor {
    /// Offers CBOR to a request whose responses this server makes.
    pub(crate) fn offered() -> Self {
        Self {
            offered: true,
            body: false,
        }
    }

    /// The same for one whose body this server reads. Finds out whether that is CBOR, and says JSON
    /// in the head instead.
    pub(crate) fn taken(headers: &mut HeaderMap) -> Self {
        Self {
            offered: true,
            body: take_content_type(headers),
        }
    }

    /// Reports whether responses may be CBOR.
    pub(crate) fn is_offered(self) -> bool {
        self.offered
    }

    /// Reports whether the body was CBOR.
    pub(crate) fn is_body(self) -> bool {
        self.body
    }
}

/// Replaces CBOR's media type by JSON's, and leaves its parameters.
fn take_content_type(headers: &mut HeaderMap) -> bool {
    let Some(found) = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()) else {
        return false;
    };
    let (name, parameters) = found.split_at(found.find(';').unwrap_or(found.len()));
    let is = |of: &str| name.trim().eq_ignore_ascii_case(of);
    let json = if is(MEDIA_TYPE) {
        Format::Json.media_type()
    } else if is(APPLY_MEDIA_TYPE) {
        PatchType::Apply.media_type()
    } else {
        return false;
    };
    let Ok(json) = HeaderValue::from_str(&format!("{json}{parameters}")) else {
        return false;
    };
    headers.insert(CONTENT_TYPE, json);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_bodies_in_cbor_speak_json_afterwards() {
        for (content_type, is_cbor, expected) in [
            ("application/cbor", true, "application/json"),
            ("Application/CBOR", true, "application/json"),
            ("application/cbor ; a=b", true, "application/json; a=b"),
            ("application/cbor; a", true, "application/json; a"),
            (
                "application/apply-patch+cbor",
                true,
                "application/apply-patch+yaml",
            ),
            ("application/cbor-seq", false, "application/cbor-seq"),
            ("application/yaml", false, "application/yaml"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
            let cbor = Cbor::taken(&mut headers);
            assert_eq!(cbor.is_body(), is_cbor, "{content_type}");
            assert_eq!(headers[CONTENT_TYPE], expected);
        }
    }
}
