//! The protobuf envelope: `k8s\0` and a message that names the kind of the message inside.
//!
//! `runtime.Unknown { typeMeta { apiVersion = 1, kind = 2 } = 1, raw = 2, contentEncoding = 3,
//! contentType = 4 }`; all fields are always written, as upstream does. Opening an envelope borrows
//! from the bytes and does not decode the message inside.

use kubist_apimachinery::wire::{
    Message, WireErrorKind, delimited_length, push_delimited, push_header, raw_fields, to_protobuf,
};

/// The first four bytes of every protobuf object, in HTTP bodies and in storage.
pub const MAGIC: [u8; 4] = *b"k8s\0";

/// The end of every envelope: `contentEncoding` and `contentType`, both empty.
pub(crate) const TAIL: [u8; 4] = [0x1a, 0, 0x22, 0];

/// The number of bytes that follow the message in a written envelope.
pub const END_BYTES: usize = TAIL.len();

/// An opened envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The group and version as `group/version`, or the version alone for core.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The message, as bare protobuf.
    pub raw: &'a [u8],
}

/// Why bytes are not an envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The first four bytes are not [`MAGIC`].
    #[error("no protobuf envelope: it does not begin with k8s\\0")]
    NoMagic,
    /// A field of the envelope is malformed.
    #[error("malformed protobuf envelope at byte {offset}: {kind}")]
    Malformed {
        /// The byte offset in the envelope.
        offset: usize,
        /// The problem.
        kind: WireErrorKind,
    },
    /// The contents are compressed or not protobuf.
    #[error("the envelope contains `{found}`, not plain protobuf")]
    Contents {
        /// The `contentEncoding` or `contentType`.
        found: String,
    },
}

impl<'a> Envelope<'a> {
    /// Opens an envelope. Unknown fields are skipped; absent ones are empty.
    pub fn open(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let body = bytes.strip_prefix(&MAGIC).ok_or(EnvelopeError::NoMagic)?;
        let mut envelope = Self::default();
        each_delimited(body, MAGIC.len(), |number, contents, offset| {
            match number {
                1 => envelope.read_type_meta(contents, offset)?,
                2 => envelope.raw = contents,
                3 | 4 if !contents.is_empty() && !is_protobuf(contents) => {
                    let found = String::from_utf8_lossy(contents).into_owned();
                    return Err(EnvelopeError::Contents { found });
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(envelope)
    }

    /// Returns the end of the message within the opened bytes; none for other bytes.
    pub fn end_in(&self, bytes: &[u8]) -> Option<usize> {
        let start = self
            .raw
            .as_ptr()
            .addr()
            .checked_sub(bytes.as_ptr().addr())?;
        let end = start.checked_add(self.raw.len())?;
        (end <= bytes.len()).then_some(end)
    }

    fn read_type_meta(&mut self, bytes: &'a [u8], offset: usize) -> Result<(), EnvelopeError> {
        (self.api_version, self.kind) = type_meta(bytes, offset)?;
        Ok(())
    }
}

fn is_protobuf(content_type: &[u8]) -> bool {
    content_type == crate::Format::Protobuf.media_type().as_bytes()
}

/// Reads the `apiVersion` and `kind` of a `runtime.TypeMeta`.
pub(crate) fn type_meta(bytes: &[u8], offset: usize) -> Result<(&str, &str), EnvelopeError> {
    let (mut api_version, mut kind) = ("", "");
    each_delimited(bytes, offset, |number, contents, offset| {
        let text = || {
            std::str::from_utf8(contents).map_err(|_| EnvelopeError::Malformed {
                offset,
                kind: WireErrorKind::NotUtf8,
            })
        };
        match number {
            1 => api_version = text()?,
            2 => kind = text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((api_version, kind))
}

/// Calls `take` with the number, contents and offset of each length-delimited field; skips other
/// fields.
pub(crate) fn each_delimited<'b>(
    bytes: &'b [u8],
    base: usize,
    mut take: impl FnMut(u32, &'b [u8], usize) -> Result<(), EnvelopeError>,
) -> Result<(), EnvelopeError> {
    let mut end = base;
    for field in raw_fields(bytes) {
        let field = field.map_err(|kind| EnvelopeError::Malformed { offset: end, kind })?;
        end += field.whole.len();
        if field.wire_type == 2 {
            take(field.number, field.bytes, end - field.bytes.len())?;
        }
    }
    Ok(())
}

/// Appends the head of an envelope for a message of `raw_length` bytes.
pub(crate) fn push_head(api_version: &str, kind: &str, raw_length: usize, out: &mut Vec<u8>) {
    let type_meta = delimited_length(1, api_version.len()) + delimited_length(2, kind.len());
    out.extend_from_slice(&MAGIC);
    push_header(1, type_meta, out);
    push_delimited(1, api_version.as_bytes(), out);
    push_delimited(2, kind.as_bytes(), out);
    push_header(2, raw_length, out);
}

/// Returns the head and the tail of an envelope for a message of `length` bytes, so that the
/// message need not be copied.
pub fn around(api_version: &str, kind: &str, length: usize) -> (Vec<u8>, &'static [u8]) {
    let mut head = Vec::with_capacity(api_version.len() + kind.len() + 32);
    push_head(api_version, kind, length, &mut head);
    (head, &TAIL)
}

/// Wraps an encoded message in an envelope.
pub fn wrap(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() + api_version.len() + kind.len() + 32);
    push_head(api_version, kind, raw.len(), &mut out);
    out.extend_from_slice(raw);
    out.extend_from_slice(&TAIL);
    out
}

/// Encodes a message into an envelope of its kind. A message that is not a kind gets an envelope
/// without names.
///
/// ```
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_codec::envelope::{Envelope, encode};
/// let bytes = encode(&ObjectMeta { name: "web".into(), ..Default::default() });
/// assert!(Envelope::open(&bytes)?.raw.starts_with(b"\x0a\x03web"));
/// # Ok::<(), kubist_codec::envelope::EnvelopeError>(())
/// ```
pub fn encode(message: &dyn Message) -> Vec<u8> {
    let raw = to_protobuf(message);
    match &message.schema().kind {
        Some(kind) => wrap(kind.api_version, kind.kind, &raw),
        None => wrap("", "", &raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_has_the_bytes_that_upstream_writes() {
        let bytes = wrap("v1", "ConfigMap", b"\x0a\x00");
        assert_eq!(
            bytes,
            b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x02\x0a\x00\x1a\x00\x22\x00"
        );
        let envelope = Envelope::open(&bytes).unwrap();
        assert_eq!(
            envelope,
            Envelope {
                api_version: "v1",
                kind: "ConfigMap",
                raw: b"\x0a\x00"
            }
        );
    }

    #[test]
    fn every_truncation_is_an_error_or_a_shorter_envelope() {
        let bytes = wrap("apps/v1", "Deployment", &[7; 300]);
        for length in 0..bytes.len() {
            if let Ok(envelope) = Envelope::open(&bytes[..length]) {
                assert!(
                    envelope.raw.is_empty() || envelope.raw.len() == 300,
                    "{length}"
                );
            }
        }
        assert_eq!(Envelope::open(b"{}"), Err(EnvelopeError::NoMagic));
    }

    #[test]
    fn compressed_contents_are_refused_by_name() {
        let mut bytes = wrap("v1", "Pod", b"");
        bytes.truncate(bytes.len() - 4);
        bytes.extend_from_slice(b"\x1a\x04gzip");
        assert_eq!(
            Envelope::open(&bytes),
            Err(EnvelopeError::Contents {
                found: "gzip".into()
            })
        );
    }

    #[test]
    fn malformed_fields_are_named_by_offset() {
        let error = Envelope::open(b"k8s\0\x0a\x7f").unwrap_err();
        assert_eq!(
            error,
            EnvelopeError::Malformed {
                offset: 4,
                kind: WireErrorKind::Truncated
            }
        );
    }
}
