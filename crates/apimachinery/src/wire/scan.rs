//! Scanning: locates an object's metadata in its bytes, without decoding the object.
//!
//! A cache that decodes late needs the name, version, labels and owners of each object, and an
//! assurance that the rest is worth keeping. [`scan`] finds these as [`Span`]s in one pass, and
//! checks the structure of the whole object (protobuf: lengths, wire types and nesting by the
//! schema; JSON: the type of each field). [`ScalarField`] looks up one more field in the same
//! bytes.
//!
//! Usually nothing is allocated. Metadata that cannot be borrowed from the bytes (JSON strings with
//! escapes, unsorted keys, labels spread over two `metadata` fields) is rewritten in plain form
//! into [`Scan::tail`], which must be appended to the bytes.
//!
//! Values are not validated: only decoding finds an invalid quantity.

mod json;
mod json_shape;
mod json_skim;
mod owners;
mod pairs;
mod protobuf;
mod scalar_field;
mod structure;
mod trim;

pub use owners::ScannedOwners;
pub use pairs::{PairsIter, ScannedPairs};
pub use scalar_field::{ScalarField, ScalarFieldError};
pub use trim::drop_managed_fields;

use super::failure::{Failure, fail, within};
use super::{DecodeContext, Encoding, Schema, WireError, WireErrorKind};
use crate::{KeyValues, ObjectMeta, ObjectName, Owners, ResourceVersion};

/// A range of an object's bytes, including the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    length: u32,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two halves of one result")]
pub struct Scan {
    /// The positions of the metadata.
    pub spans: MetadataSpans,
    /// The bytes to append before the spans are used; usually empty.
    pub tail: Vec<u8>,
}

/// The positions of an object's metadata in its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetadataSpans {
    name: Span,
    namespace: Span,
    uid: Span,
    resource_version: Span,
    labels: Span,
    annotations: Span,
    owners: Span,
    body: u32,
    /// Which of the composite parts are JSON text; the others are protobuf fields.
    json: Parts,
    terminating: bool,
}

/// A set of labels, annotations and owners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    labels: bool,
    annotations: bool,
    owners: bool,
}

/// Scans one object of the kind described by `schema`.
///
/// # Errors
/// The structure is malformed, or a part of the metadata has the wrong type.
pub fn scan(
    bytes: &[u8],
    encoding: Encoding,
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    if bytes.len() > Span::BYTES_MAX {
        let (length, max) = (bytes.len(), Span::BYTES_MAX);
        return Err(WireErrorKind::TooLong { length, max }.into());
    }
    match encoding {
        Encoding::Json => json::scan(bytes, schema, cx),
        Encoding::Protobuf => protobuf::scan(bytes, schema, cx),
    }
}

/// Returns the name in bytes that failed to scan or decode, if it can be read, for reports.
pub fn name_in(bytes: &[u8], encoding: Encoding) -> Option<ObjectName> {
    let name = match encoding {
        Encoding::Json => json::name_in(bytes)?,
        Encoding::Protobuf => protobuf::name_in(bytes)?,
    };
    (!name.name.is_empty()).then_some(name)
}

/// Returns the resource version in bytes that failed to scan or decode, if it can be read.
pub fn version_in(bytes: &[u8], encoding: Encoding) -> Option<ResourceVersion> {
    let version = match encoding {
        Encoding::Json => json::version_in(bytes)?,
        Encoding::Protobuf => protobuf::version_in(bytes)?,
    };
    (!version.is_empty()).then(|| version.into())
}

/// Decodes only the metadata of an object.
///
/// # Errors
/// The top-level structure of the object is malformed.
pub fn metadata(
    bytes: &[u8],
    encoding: Encoding,
    cx: &mut DecodeContext,
) -> Result<ObjectMeta, WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    match encoding {
        Encoding::Json => json::metadata(bytes, cx),
        Encoding::Protobuf => protobuf::metadata(bytes, cx),
    }
}

impl Span {
    /// The most bytes of an object (1 GiB), so that its bytes and a tail fit 32-bit offsets.
    pub const BYTES_MAX: usize = 1 << 30;

    /// Returns the span of `part`, which is a slice of `whole`.
    fn within(whole: &[u8], part: &[u8]) -> Self {
        Self::new(offset_of(whole, part), part.len())
    }

    fn new(start: usize, length: usize) -> Self {
        let small = |it| u32::try_from(it).unwrap_or(u32::MAX);
        Self {
            start: small(start),
            length: small(length),
        }
    }

    /// Returns the bytes of this range; empty if it is out of bounds.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        let start = self.start as usize;
        bytes
            .get(start..start + self.length as usize)
            .unwrap_or_default()
    }

    /// Returns the text of this range; empty if it is not UTF-8.
    pub fn text(self, bytes: &[u8]) -> &str {
        std::str::from_utf8(self.of(bytes)).unwrap_or_default()
    }
}

/// Returns the offset of `part`, which is a slice of `whole`.
fn offset_of(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

/// In each method, `bytes` are the scanned bytes followed by the tail.
impl MetadataSpans {
    /// Returns `metadata.name`.
    pub fn name<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.name.text(bytes)
    }

    /// Returns `metadata.namespace`.
    pub fn namespace<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.namespace.text(bytes)
    }

    /// Returns `metadata.uid`.
    pub fn uid<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.uid.text(bytes)
    }

    /// Returns `metadata.resourceVersion`.
    pub fn resource_version<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.resource_version.text(bytes)
    }

    /// Returns `metadata.labels`.
    pub fn labels<'b>(&self, bytes: &'b [u8]) -> KeyValues<'b> {
        KeyValues::Scanned(ScannedPairs::new(self.labels.of(bytes), self.json.labels))
    }

    /// Returns `metadata.annotations`.
    pub fn annotations<'b>(&self, bytes: &'b [u8]) -> KeyValues<'b> {
        KeyValues::Scanned(ScannedPairs::new(
            self.annotations.of(bytes),
            self.json.annotations,
        ))
    }

    /// Returns `metadata.ownerReferences`.
    pub fn owners<'b>(&self, bytes: &'b [u8]) -> Owners<'b> {
        Owners::Scanned(ScannedOwners::new(self.owners.of(bytes), self.json.owners))
    }

    /// Reports whether `metadata.deletionTimestamp` is set.
    pub fn is_terminating(&self) -> bool {
        self.terminating
    }

    /// Returns the object's own bytes, without the tail.
    pub fn body<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(..self.body as usize).unwrap_or(bytes)
    }
}

/// The parts that cannot be borrowed from the bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Irregular {
    scalars: bool,
    parts: Parts,
}

impl Irregular {
    fn any(self) -> bool {
        self.scalars || self.parts.labels || self.parts.annotations || self.parts.owners
    }
}

impl Scan {
    /// Writes the irregular parts of `meta` into the tail as protobuf.
    fn rewrite(&mut self, body: usize, irregular: Irregular, meta: &ObjectMeta) {
        let tail = &mut self.tail;
        let spans = &mut self.spans;
        let mut part = |span: &mut Span, write: &mut dyn FnMut(&mut Vec<u8>)| {
            let start = tail.len();
            write(tail);
            *span = Span::new(body + start, tail.len() - start);
        };
        if irregular.scalars {
            part(&mut spans.name, &mut |out| out.extend(meta.name.bytes()));
            part(&mut spans.namespace, &mut |out| {
                out.extend(meta.namespace.bytes());
            });
            part(&mut spans.uid, &mut |out| out.extend(meta.uid.bytes()));
            let version = &meta.resource_version;
            part(&mut spans.resource_version, &mut |out| {
                out.extend(version.bytes());
            });
        }
        if irregular.parts.labels {
            part(&mut spans.labels, &mut |out| {
                pairs::write(&meta.labels, out);
            });
            spans.json.labels = false;
        }
        if irregular.parts.annotations {
            part(&mut spans.annotations, &mut |out| {
                pairs::write(&meta.annotations, out);
            });
            spans.json.annotations = false;
        }
        if irregular.parts.owners {
            part(&mut spans.owners, &mut |out| {
                owners::write(&meta.owner_references, out);
            });
            spans.json.owners = false;
        }
    }
}

#[cfg(test)]
mod tests;
