//! Removes `metadata.managedFields` and the last-applied annotation from an encoded object.
//!
//! It relies on a scan: the bytes are well-formed, and the spans are shifted by the removed bytes,
//! so nothing is scanned again. Only lengths are rewritten; nothing is decoded. In JSON only the
//! first `metadata` member is trimmed; servers write no other.

use super::json::{Cursor, is_key};
use super::{MetadataSpans, Span, offset_of};
use crate::LAST_APPLIED;
use crate::wire::raw_field::{delimited, map_entry, tag};
use crate::wire::varint::{VARINT_BYTES_MAX, write_varint};
use crate::wire::{Encoding, raw_fields};

/// The field numbers in `ObjectMeta`.
const ANNOTATIONS: u32 = 12;
const MANAGED_FIELDS: u32 = 17;

/// A range to remove, and the (shorter) bytes that replace it: a new length.
#[derive(Debug)]
struct Cut {
    start: usize,
    end: usize,
    fill: [u8; VARINT_BYTES_MAX],
    filled: usize,
}

/// Reports whether to remove a member (given the object's whole bytes, its key and value); it may
/// cut within the value.
type IsCut = fn(&mut Cuts, &[u8], &[u8], &[u8]) -> bool;

/// Non-overlapping cuts in ascending order.
#[derive(Debug, Default)]
struct Cuts(Vec<Cut>);

/// Removes both from `bytes`, which were scanned into `spans` and are followed by the scan's tail.
pub fn drop_managed_fields(bytes: &mut Vec<u8>, spans: &mut MetadataSpans, encoding: Encoding) {
    let mut cuts = Cuts::default();
    let body = spans.body(bytes);
    match encoding {
        Encoding::Json => cuts.json(bytes, body),
        Encoding::Protobuf => cuts.protobuf(bytes, body),
    }
    if !spans.json.annotations && spans.annotations.start >= spans.body {
        // They were rewritten into the tail, which has the annotation too.
        cuts.protobuf_pairs(bytes, spans.annotations.of(bytes));
    }
    if cuts.0.is_empty() {
        return;
    }
    cuts.apply(bytes);
    for span in [
        &mut spans.name,
        &mut spans.namespace,
        &mut spans.uid,
        &mut spans.resource_version,
        &mut spans.labels,
        &mut spans.annotations,
        &mut spans.owners,
    ] {
        let (start, end) = (span.start as usize, (span.start + span.length) as usize);
        let start = cuts.moved(start);
        *span = Span::new(start, cuts.moved(end).saturating_sub(start));
    }
    spans.body = Span::new(cuts.moved(spans.body as usize), 0).start;
}

impl Cuts {
    fn cut(&mut self, start: usize, end: usize) {
        match self.0.last_mut() {
            Some(last) if last.end >= start && last.filled == 0 => last.end = end,
            _ => self.0.push(Cut {
                start,
                end,
                fill: [0; VARINT_BYTES_MAX],
                filled: 0,
            }),
        }
    }

    /// Returns the position of `position` after the cuts; a removed byte maps to its cut.
    fn moved(&self, position: usize) -> usize {
        let mut gone = 0;
        for cut in &self.0 {
            if position < cut.end {
                let within = position.saturating_sub(cut.start);
                return position - gone - within.saturating_sub(cut.filled);
            }
            gone += cut.end - cut.start - cut.filled;
        }
        position - gone
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let Some(first) = self.0.first() else { return };
        let mut to = first.start;
        for (index, cut) in self.0.iter().enumerate() {
            bytes[to..to + cut.filled].copy_from_slice(&cut.fill[..cut.filled]);
            to += cut.filled;
            let next = self.0.get(index + 1).map_or(bytes.len(), |it| it.start);
            bytes.copy_within(cut.end..next, to);
            to += next - cut.end;
        }
        bytes.truncate(to);
    }

    fn protobuf(&mut self, whole: &[u8], body: &[u8]) {
        for top in raw_fields(body).map_while(Result::ok) {
            if (top.number, top.wire_type) != (1, 2) {
                continue;
            }
            // The position of the length, which may become shorter.
            let Ok((_, _, after_tag)) = tag(top.whole) else {
                return;
            };
            let header = offset_of(whole, after_tag);
            let at = self.0.len();
            self.0.push(Cut {
                start: header,
                end: offset_of(whole, top.bytes),
                fill: [0; VARINT_BYTES_MAX],
                filled: 0,
            });
            for field in raw_fields(top.bytes).map_while(Result::ok) {
                let is_cut = match field.number {
                    MANAGED_FIELDS => true,
                    ANNOTATIONS => is_last_applied(field.bytes),
                    _ => false,
                };
                if is_cut {
                    let start = offset_of(whole, field.whole);
                    match self.0.get_mut(at + 1..).and_then(<[Cut]>::last_mut) {
                        Some(last) if last.end == start => last.end += field.whole.len(),
                        _ => self.0.push(Cut {
                            start,
                            end: start + field.whole.len(),
                            fill: [0; VARINT_BYTES_MAX],
                            filled: 0,
                        }),
                    }
                }
            }
            let gone: usize = self.0[at + 1..].iter().map(|it| it.end - it.start).sum();
            if gone == 0 {
                self.0.truncate(at);
            } else {
                let header = &mut self.0[at];
                header.filled = write_varint((top.bytes.len() - gone) as u64, &mut header.fill);
            }
        }
    }

    /// Cuts the annotation out of adjacent map entries, each with its tag.
    fn protobuf_pairs(&mut self, whole: &[u8], mut pairs: &[u8]) {
        while let Ok((_, _, rest)) = tag(pairs) {
            let Ok((pair, rest)) = delimited(rest) else {
                return;
            };
            if is_last_applied(pair) {
                self.cut(offset_of(whole, pairs), offset_of(whole, rest));
            }
            pairs = rest;
        }
    }

    fn json(&mut self, whole: &[u8], body: &[u8]) {
        let object = body.trim_ascii();
        if object.first() != Some(&b'{') {
            return;
        }
        let mut cursor = Cursor::new(object);
        while let Some((key, value)) = cursor.next_member() {
            if is_key(key, "metadata") {
                if value.first() == Some(&b'{') {
                    self.json_members(whole, value, json_metadata);
                }
                return;
            }
        }
    }

    /// Cuts members out of an object, with their commas.
    fn json_members(&mut self, whole: &[u8], object: &[u8], is_cut: IsCut) {
        let mut cursor = Cursor::new(object);
        let (mut kept_end, mut leading) = (None, None);
        while let Some((key, value)) = cursor.next_member() {
            let start = offset_of(whole, key);
            let end = offset_of(whole, value) + value.len();
            if let (None, Some(from)) = (kept_end, leading) {
                // If the members before were removed, the comma of this one goes too.
                self.cut(from, start);
            }
            if is_cut(self, whole, key, value) {
                if let Some(kept) = kept_end {
                    self.cut(kept, end);
                } else {
                    self.cut(*leading.get_or_insert(start), end);
                }
            } else {
                (kept_end, leading) = (Some(end), None);
            }
        }
    }
}

fn json_metadata(cuts: &mut Cuts, whole: &[u8], key: &[u8], value: &[u8]) -> bool {
    if is_key(key, "managedFields") {
        return true;
    }
    if !is_key(key, "annotations") || value.first() != Some(&b'{') {
        return false;
    }
    let (mut any, mut others) = (false, false);
    let mut cursor = Cursor::new(value);
    while let Some((key, _)) = cursor.next_member() {
        let is_last_applied = is_key(key, LAST_APPLIED);
        any |= is_last_applied;
        others |= !is_last_applied;
    }
    if any && others {
        cuts.json_members(whole, value, |_, _, key, _| is_key(key, LAST_APPLIED));
    }
    any && !others
}

fn is_last_applied(pair: &[u8]) -> bool {
    map_entry(pair).is_ok_and(|(key, _)| key == LAST_APPLIED.as_bytes())
}
