//! Scanning: an object's metadata cut out of its bytes, without decoding the object.
//!
//! A cache that decodes late needs to know of each object its name, version, labels and owners,
//! and that the rest is worth keeping. [`scan`] finds these as [`Span`]s, in one pass, and checks
//! the structure of the whole object on the way (protobuf: lengths, wire types and nesting by the
//! schema; JSON: the type of each field). [`ScalarField`] looks up one further field in the same
//! bytes.
//!
//! Usually nothing is allocated. Where metadata cannot be borrowed from the bytes (JSON strings
//! with escapes, keys that are not sorted, labels spread over two `metadata` fields), that part is
//! written again in plain form into [`Scan::tail`], which belongs behind the bytes.
//!
//! It is not validation of values: a quantity that is none is found by decoding alone.

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

use super::{DecodeContext, Encoding, Schema, WireError, WireErrorKind};
use crate::{KeyValues, ObjectMeta, ObjectName, Owners, ResourceVersion};

/// A range of an object's bytes (with the tail behind them).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    length: u32,
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two halves of one result")]
pub struct Scan {
    /// Where the metadata is.
    pub spans: MetadataSpans,
    /// What must be appended to the bytes before the spans are used; mostly empty.
    pub tail: Vec<u8>,
}

/// Where the metadata of one object stands in its bytes.
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
    /// Which of the three composite parts are JSON text; the others are protobuf fields.
    json: Parts,
    terminating: bool,
}

/// Labels, annotations and owners, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    labels: bool,
    annotations: bool,
    owners: bool,
}

/// Scans one object. `schema` is that of its kind.
///
/// # Errors
/// The structure is broken, or a part of the metadata has another type than it must have.
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

/// The name in bytes that failed to scan or decode, as far as it can be made out, for reports.
pub fn name_in(bytes: &[u8], encoding: Encoding) -> Option<ObjectName> {
    let name = match encoding {
        Encoding::Json => json::name_in(bytes)?,
        Encoding::Protobuf => protobuf::name_in(bytes)?,
    };
    (!name.name.is_empty()).then_some(name)
}

/// The resource version in bytes that failed to scan or decode, as far as it can be made out.
pub fn version_in(bytes: &[u8], encoding: Encoding) -> Option<ResourceVersion> {
    let version = match encoding {
        Encoding::Json => json::version_in(bytes)?,
        Encoding::Protobuf => protobuf::version_in(bytes)?,
    };
    (!version.is_empty()).then(|| version.into())
}

/// Decodes the metadata of an object and nothing else of it.
///
/// # Errors
/// The structure of the object's top level is broken.
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
    /// Objects may not be longer (1 GiB), so that their bytes and a tail fit 32-bit offsets.
    pub const BYTES_MAX: usize = 1 << 30;

    /// Where `part`, a slice of `whole`, stands in it.
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

    /// The bytes of this range; empty if it is outside.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        let start = self.start as usize;
        bytes
            .get(start..start + self.length as usize)
            .unwrap_or_default()
    }

    /// The text of this range; empty if it is none.
    pub fn text(self, bytes: &[u8]) -> &str {
        std::str::from_utf8(self.of(bytes)).unwrap_or_default()
    }
}

/// The distance from the start of `whole` to that of its sub-slice `part`.
fn offset_of(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

/// In each method, `bytes` are those that were scanned, with the tail behind them.
impl MetadataSpans {
    /// `metadata.name`.
    pub fn name<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.name.text(bytes)
    }

    /// `metadata.namespace`.
    pub fn namespace<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.namespace.text(bytes)
    }

    /// `metadata.uid`.
    pub fn uid<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.uid.text(bytes)
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version<'b>(&self, bytes: &'b [u8]) -> &'b str {
        self.resource_version.text(bytes)
    }

    /// `metadata.labels`.
    pub fn labels<'b>(&self, bytes: &'b [u8]) -> KeyValues<'b> {
        KeyValues::Scanned(ScannedPairs::new(self.labels.of(bytes), self.json.labels))
    }

    /// `metadata.annotations`.
    pub fn annotations<'b>(&self, bytes: &'b [u8]) -> KeyValues<'b> {
        KeyValues::Scanned(ScannedPairs::new(
            self.annotations.of(bytes),
            self.json.annotations,
        ))
    }

    /// `metadata.ownerReferences`.
    pub fn owners<'b>(&self, bytes: &'b [u8]) -> Owners<'b> {
        Owners::Scanned(ScannedOwners::new(self.owners.of(bytes), self.json.owners))
    }

    /// Whether `metadata.deletionTimestamp` is set.
    pub fn is_terminating(&self) -> bool {
        self.terminating
    }

    /// The object's own bytes, without the tail.
    pub fn body<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(..self.body as usize).unwrap_or(bytes)
    }
}

/// What could not be borrowed from the bytes.
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
    /// Writes the irregular parts of `meta` into the tail, in protobuf form.
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

/// An error of a scan, boxed so that the way of success stays small; the path grows outwards.
type Failure = Box<WireError>;

#[expect(
    clippy::unnecessary_box_returns,
    reason = "a small result is faster where it is Ok"
)]
fn fail(kind: WireErrorKind) -> Failure {
    Box::new(kind.into())
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "a small result is faster where it is Ok"
)]
fn within(mut failure: Failure, field: &str) -> Failure {
    let path = &mut failure.path;
    if !path.is_empty() && !path.starts_with('[') {
        path.insert(0, '.');
    }
    path.insert_str(0, field);
    failure
}

#[cfg(test)]
mod tests;
