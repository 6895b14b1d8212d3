//! Scanning protobuf.

use super::structure::{check_field, expect_type};
use super::{Failure, Irregular, Plan, Scan, Span, fail, offset_of, within};
use crate::wire::{DecodeContext, Schema, WireError, WireErrorKind, merge_protobuf, skip_field};
use crate::{ObjectMeta, ObjectName};

/// The number of `metadata` in every kind.
const METADATA: u32 = 1;
/// In the metadata.
const RESOURCE_VERSION: u32 = 6;

/// A varint and what follows it.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireErrorKind> {
    match bytes.split_first() {
        Some((&byte, rest)) if byte < 0x80 => Ok((u64::from(byte), rest)),
        _ => crate::wire::varint(bytes),
    }
}

/// The contents of a length-delimited field and what follows it.
#[inline]
pub(super) fn delimited(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireErrorKind> {
    let (length, rest) = varint(bytes)?;
    usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or(WireErrorKind::Truncated)
}

/// The number and wire type of the next field, and what follows.
#[inline]
pub(super) fn tag(bytes: &[u8]) -> Result<(u32, u8, &[u8]), WireErrorKind> {
    let (tag, rest) = varint(bytes)?;
    match u32::try_from(tag >> 3) {
        Ok(number) if number != 0 => Ok((number, (tag & 7) as u8, rest)),
        _ => Err(WireErrorKind::BadVarint),
    }
}

/// One field of a message.
pub(super) struct RawField<'b> {
    pub(super) number: u32,
    pub(super) wire_type: u8,
    /// The value of a varint; 0 for others.
    pub(super) varint: u64,
    /// The contents of a length-delimited field; empty for others.
    pub(super) bytes: &'b [u8],
    /// The whole field, with its tag.
    pub(super) whole: &'b [u8],
}

/// The fields of a message, in order; after an error nothing follows.
pub(super) fn fields(mut rest: &[u8]) -> impl Iterator<Item = Result<RawField<'_>, WireErrorKind>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = next_field(rest);
        rest = match &field {
            Ok(field) => &rest[field.whole.len()..],
            Err(_) => &[],
        };
        Some(field)
    })
}

#[inline]
fn next_field(start: &[u8]) -> Result<RawField<'_>, WireErrorKind> {
    let (number, wire_type, rest) = tag(start)?;
    let mut field = RawField {
        number,
        wire_type,
        varint: 0,
        bytes: &[],
        whole: &[],
    };
    let rest = match wire_type {
        0 => {
            let (value, rest) = varint(rest)?;
            field.varint = value;
            rest
        }
        2 => {
            let (inner, rest) = delimited(rest)?;
            field.bytes = inner;
            rest
        }
        _ => skip_field(number, wire_type, rest)?,
    };
    field.whole = &start[..start.len() - rest.len()];
    Ok(field)
}

/// Key and value of a map entry; either may be absent, which means empty.
pub(super) fn entry(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireErrorKind> {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    for field in fields(bytes) {
        let field = field?;
        match (field.number, field.wire_type) {
            (1, 2) => key = field.bytes,
            (2, 2) => value = field.bytes,
            (number @ (1 | 2), found) => return Err(WireErrorKind::WireType { number, found }),
            _ => {}
        }
    }
    Ok((key, value))
}

/// Appends a length-delimited field.
pub(super) fn put(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(number << 3 | 2);
    let mut length = [0; 5];
    let size = put_varint(bytes.len(), &mut length);
    out.extend_from_slice(&length[..size]);
    out.extend_from_slice(bytes);
}

/// Writes a length, which is below 32 GiB; gives the number of its bytes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "varints take seven bits at a time"
)]
pub(super) fn put_varint(mut length: usize, out: &mut [u8; 5]) -> usize {
    let mut size = 0;
    while length >= 0x80 && size < 4 {
        out[size] = (length & 0x7f) as u8 | 0x80;
        length >>= 7;
        size += 1;
    }
    out[size] = (length & 0x7f) as u8;
    size + 1
}

pub(super) fn scan(
    bytes: &[u8],
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    let depth_max = cx.limits().depth_max;
    let plan = cx.plan.take().filter(|plan| plan.is_for(schema));
    let plan = plan.unwrap_or_else(|| Plan::new(schema));
    // A plan that holds leaves nothing to check; else the schema says what is wrong, and where.
    let check_depth = if plan.holds(bytes, depth_max) {
        None
    } else {
        Some(depth_max)
    };
    cx.plan = Some(plan);
    let mut metadata = MetadataScan {
        whole: bytes,
        check_depth,
        ..MetadataScan::default()
    };
    let mut hint = 0;
    for field in fields(bytes) {
        let field = field?;
        if field.number == METADATA {
            metadata
                .take(&field)
                .map_err(|failure| *within(failure, "metadata"))?;
        } else if let Some(depth_max) = check_depth {
            check_field(&field, schema, schema.order, &mut hint, depth_max)
                .map_err(|failure| *failure)?;
        }
    }
    let mut scan = metadata.scan;
    scan.spans.body = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    scan.spans.labels = metadata.labels.span;
    scan.spans.annotations = metadata.annotations.span;
    scan.spans.owners = metadata.owners.span;
    let mut irregular = Irregular::default();
    irregular.parts.labels = metadata.labels.broken;
    irregular.parts.annotations = metadata.annotations.broken;
    irregular.parts.owners = metadata.owners.broken;
    if irregular.any() {
        let meta = self::metadata(bytes, cx)?;
        scan.rewrite(bytes.len(), irregular, &meta);
    }
    Ok(scan)
}

pub(super) fn metadata(bytes: &[u8], cx: &mut DecodeContext) -> Result<ObjectMeta, WireError> {
    let mut meta = ObjectMeta::default();
    for field in fields(bytes) {
        let field = field?;
        if field.number == METADATA {
            merge_protobuf(&mut meta, field.bytes, cx)
                .map_err(|error| *within(Box::new(error), "metadata"))?;
        }
    }
    Ok(meta)
}

/// Namespace and name; stops quietly where the bytes break.
pub(super) fn name_in(bytes: &[u8]) -> Option<ObjectName> {
    let (mut namespace, mut name) = ("", "");
    for top in fields(bytes)
        .map_while(Result::ok)
        .filter(|field| field.number == METADATA)
    {
        for field in fields(top.bytes).map_while(Result::ok) {
            match field.number {
                1 => name = std::str::from_utf8(field.bytes).ok()?,
                3 => namespace = std::str::from_utf8(field.bytes).ok()?,
                _ => {}
            }
        }
    }
    Some(ObjectName::new(namespace, name))
}

/// The resource version; stops quietly where the bytes break.
pub(super) fn version_in(bytes: &[u8]) -> Option<String> {
    let metadata = fields(bytes)
        .map_while(Result::ok)
        .filter(|field| field.number == METADATA);
    let version = metadata
        .flat_map(|field| fields(field.bytes).map_while(Result::ok))
        .filter(|field| field.number == RESOURCE_VERSION)
        .last()?;
    std::str::from_utf8(version.bytes).ok().map(str::to_owned)
}

/// The state of scanning `metadata`, over all the fields of that number.
#[derive(Default)]
struct MetadataScan<'b> {
    whole: &'b [u8],
    /// Set if the structure is still to be checked, to this depth.
    check_depth: Option<usize>,
    scan: Scan,
    labels: Run<'b>,
    annotations: Run<'b>,
    owners: Run<'b>,
}

/// Fields of one number, as long as they stand in a row.
#[derive(Default)]
struct Run<'b> {
    span: Span,
    last_key: &'b [u8],
    broken: bool,
}

impl<'b> Run<'b> {
    fn extend(&mut self, whole: &'b [u8], field: &'b [u8]) {
        let start = offset_of(whole, field);
        if self.span.length == 0 {
            self.span = Span::within(whole, field);
        } else if (self.span.start + self.span.length) as usize == start {
            self.span = Span::new(
                self.span.start as usize,
                self.span.length as usize + field.len(),
            );
        } else {
            self.broken = true;
        }
    }

    fn take_pair(&mut self, whole: &'b [u8], field: &RawField<'b>) -> Result<(), Failure> {
        let (key, value) = entry(field.bytes).map_err(fail)?;
        text(key)?;
        text(value)?;
        self.broken |= self.span.length != 0 && key <= self.last_key;
        self.last_key = key;
        self.extend(whole, field.whole);
        Ok(())
    }
}

fn text(bytes: &[u8]) -> Result<(), Failure> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(fail(WireErrorKind::NotUtf8)),
    }
}

impl<'b> MetadataScan<'b> {
    fn check(&self, field: &RawField<'b>, hint: &mut usize) -> Result<(), Failure> {
        let Some(depth_max) = self.check_depth else {
            return Ok(());
        };
        let schema = &crate::OBJECT_META;
        check_field(field, schema, schema.order, hint, depth_max)
    }

    fn take(&mut self, metadata: &RawField<'b>) -> Result<(), Failure> {
        expect_type(metadata, 2)?;
        let mut hint = 0;
        for field in fields(metadata.bytes) {
            let field = field.map_err(fail)?;
            let spans = &mut self.scan.spans;
            let scalar = match field.number {
                1 => &mut spans.name,
                3 => &mut spans.namespace,
                5 => &mut spans.uid,
                6 => &mut spans.resource_version,
                9 => {
                    spans.terminating = true;
                    self.check(&field, &mut hint)?;
                    continue;
                }
                number @ (11 | 12) => {
                    expect_type(&field, 2)?;
                    let (run, name) = if number == 11 {
                        (&mut self.labels, "labels")
                    } else {
                        (&mut self.annotations, "annotations")
                    };
                    run.take_pair(self.whole, &field)
                        .map_err(|it| within(it, name))?;
                    continue;
                }
                13 => {
                    self.check(&field, &mut hint)?;
                    self.owners.extend(self.whole, field.whole);
                    continue;
                }
                _ => {
                    self.check(&field, &mut hint)?;
                    continue;
                }
            };
            expect_type(&field, 2)?;
            text(field.bytes)?;
            *scalar = Span::within(self.whole, field.bytes);
        }
        Ok(())
    }
}
