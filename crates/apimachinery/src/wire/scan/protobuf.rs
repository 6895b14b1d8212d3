//! Scanning of protobuf.

use super::structure::{check_field, expect_type};
use super::{Failure, Irregular, Scan, Span, fail, offset_of, within};
use crate::wire::raw_field::map_entry;
use crate::wire::schema::Place;
use crate::wire::structure_plan::StructurePlan;
use crate::wire::{
    DecodeContext, RawField, Schema, WireError, WireErrorKind, merge_protobuf, raw_fields,
};
use crate::{ObjectMeta, ObjectName};

/// The field number of `metadata` in every kind.
const METADATA: u32 = 1;
/// The field number of the resource version in the metadata.
const RESOURCE_VERSION: u32 = 6;

pub(super) fn scan(
    bytes: &[u8],
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    let depth_max = cx.limits().depth_max;
    let plan = cx.plan.take().filter(|plan| plan.is_for(schema));
    let plan = plan.unwrap_or_else(|| StructurePlan::new(schema));
    // If the plan accepts the bytes, nothing else needs checking; otherwise the schema locates the
    // error.
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
    let mut place = Place::default();
    for field in raw_fields(bytes) {
        let field = field?;
        if field.number == METADATA {
            metadata
                .take(&field)
                .map_err(|failure| *within(failure, "metadata"))?;
        } else if let Some(depth_max) = check_depth {
            check_field(&field, schema, schema.order, &mut place, depth_max)
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
    for field in raw_fields(bytes) {
        let field = field?;
        if field.number == METADATA {
            merge_protobuf(&mut meta, field.bytes, cx)
                .map_err(|error| *within(Box::new(error), "metadata"))?;
        }
    }
    Ok(meta)
}

/// Returns the namespace and name; stops silently at malformed bytes.
pub(super) fn name_in(bytes: &[u8]) -> Option<ObjectName> {
    let (mut namespace, mut name) = ("", "");
    for top in raw_fields(bytes)
        .map_while(Result::ok)
        .filter(|field| field.number == METADATA)
    {
        for field in raw_fields(top.bytes).map_while(Result::ok) {
            match field.number {
                1 => name = std::str::from_utf8(field.bytes).ok()?,
                3 => namespace = std::str::from_utf8(field.bytes).ok()?,
                _ => {}
            }
        }
    }
    Some(ObjectName::new(namespace, name))
}

/// Returns the resource version; stops silently at malformed bytes.
pub(super) fn version_in(bytes: &[u8]) -> Option<String> {
    let metadata = raw_fields(bytes)
        .map_while(Result::ok)
        .filter(|field| field.number == METADATA);
    let version = metadata
        .flat_map(|field| raw_fields(field.bytes).map_while(Result::ok))
        .filter(|field| field.number == RESOURCE_VERSION)
        .last()?;
    std::str::from_utf8(version.bytes).ok().map(str::to_owned)
}

/// The state of scanning `metadata`, across all fields with that number.
#[derive(Default)]
struct MetadataScan<'b> {
    whole: &'b [u8],
    /// Set if the structure must still be checked, to this depth.
    check_depth: Option<usize>,
    scan: Scan,
    labels: Run<'b>,
    annotations: Run<'b>,
    owners: Run<'b>,
}

/// Adjacent fields with one number.
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
        let (key, value) = map_entry(field.bytes).map_err(fail)?;
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
    fn check(&self, field: &RawField<'b>, place: &mut Place) -> Result<(), Failure> {
        let Some(depth_max) = self.check_depth else {
            return Ok(());
        };
        let schema = &crate::OBJECT_META;
        check_field(field, schema, schema.order, place, depth_max)
    }

    fn take(&mut self, metadata: &RawField<'b>) -> Result<(), Failure> {
        expect_type(metadata, 2)?;
        let mut place = Place::default();
        for field in raw_fields(metadata.bytes) {
            let field = field.map_err(fail)?;
            let spans = &mut self.scan.spans;
            let scalar = match field.number {
                1 => &mut spans.name,
                3 => &mut spans.namespace,
                5 => &mut spans.uid,
                6 => &mut spans.resource_version,
                9 => {
                    spans.terminating = true;
                    self.check(&field, &mut place)?;
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
                    self.check(&field, &mut place)?;
                    self.owners.extend(self.whole, field.whole);
                    continue;
                }
                _ => {
                    self.check(&field, &mut place)?;
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
