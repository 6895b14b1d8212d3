//! `Expected`: bodies in CBOR into JSON, of at most the length that a body may have. Refusals are
//! in upstream's words.

use crate::negotiation::decode::unrecognized;
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::Status;
use kubist_codec::cbor::{CborError, to_json_within, type_name};

/// What a body is expected to be, for the errors of one that is not.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// An object of this kind.
    Object(&'static Kind),
    /// The options of a deletion, or nothing.
    Options,
    /// A configuration to apply.
    Configuration,
}

impl Expected {
    /// Returns the JSON of a body in CBOR, of at most `max` bytes.
    ///
    /// # Errors
    /// 400 if it is not CBOR, or has no JSON form; 413 if that is longer.
    pub(crate) fn read(self, body: Bytes, max: usize) -> Result<Bytes, Status> {
        if body.is_empty() && matches!(self, Self::Options) {
            return Ok(body);
        }
        let json = to_json_within(&body, max).map_err(|error| match error {
            CborError::TooLong { max } => Status::body_too_large(max),
            error => self.refusal(&error.to_string(), &body),
        })?;
        match json.first() {
            Some(b'{') => Ok(json.into()),
            // As in JSON, it means an empty object.
            _ if json == b"null" => Ok(json.into()),
            _ => Err(self.refusal(&self.mismatch(type_name(&body)), &body)),
        }
    }

    fn mismatch(self, found: &str) -> String {
        let (into, how) = match self {
            Self::Configuration => ("map[string]interface {}", ""),
            Self::Object(_) | Self::Options if found == "array" => (
                "v1.TypeMeta",
                " (cannot decode CBOR array to struct without toarray option)",
            ),
            Self::Object(_) | Self::Options => ("v1.TypeMeta", ""),
        };
        format!("cbor: cannot unmarshal {found} into Go value of type {into}{how}")
    }

    fn refusal(self, why: &str, body: &[u8]) -> Status {
        let of_kind = || format!("unable to determine group/version/kind: {why}");
        match self {
            Self::Object(kind) => unrecognized(kind, &of_kind(), body),
            Self::Options => Status::bad_request(of_kind()),
            Self::Configuration => Status::bad_request(format!("error decoding YAML: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_longer_as_json_than_a_body_may_be_is_too_large() {
        let times = [&[0xa1, 0x61, b'a', 0x98, 200][..], &[0xc1, 0].repeat(200)].concat();
        let read = |max| Expected::Options.read(times.clone().into(), max);
        let refused = read(1_000).unwrap_err();
        assert_eq!(
            (refused.code, &*refused.message),
            (413, "Request entity too large: limit is 1000")
        );
        assert_eq!(read(10_000).unwrap().len(), 200 * 23 + 7);
    }
}
