//! `ScannedPairs`: labels or annotations in an object's bytes.

use super::json::{self, Cursor};
use crate::Str;
use crate::wire::push_delimited;
use crate::wire::raw_field::{delimited, map_entry, tag};
use std::collections::BTreeMap;

/// Encoded pairs, sorted by key: adjacent protobuf map fields, or a JSON object without escapes.
/// Copying it copies a reference.
#[derive(Clone, Copy, Debug)]
pub struct ScannedPairs<'b> {
    bytes: &'b [u8],
    json: bool,
}

impl<'b> ScannedPairs<'b> {
    pub(super) fn new(bytes: &'b [u8], json: bool) -> Self {
        Self { bytes, json }
    }

    /// Returns the value of a key.
    pub fn get(self, key: &str) -> Option<&'b str> {
        for (found, value) in self {
            if found >= key {
                return (found == key).then_some(value);
            }
        }
        None
    }

    /// Iterates over the pairs in key order.
    pub fn iter(self) -> PairsIter<'b> {
        let inner = if self.json {
            Inner::Json(Cursor::new(self.bytes))
        } else {
            Inner::Protobuf(self.bytes)
        };
        PairsIter { inner }
    }
}

impl<'b> IntoIterator for ScannedPairs<'b> {
    type Item = (&'b str, &'b str);
    type IntoIter = PairsIter<'b>;
    fn into_iter(self) -> PairsIter<'b> {
        self.iter()
    }
}

/// The pairs of [`ScannedPairs`].
#[derive(Clone, Debug)]
pub struct PairsIter<'b> {
    inner: Inner<'b>,
}

#[derive(Clone, Debug)]
enum Inner<'b> {
    Json(Cursor<'b>),
    Protobuf(&'b [u8]),
}

impl<'b> Iterator for PairsIter<'b> {
    type Item = (&'b str, &'b str);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.inner {
            Inner::Json(cursor) => {
                let (key, value) = cursor.next_member()?;
                Some((json::plain(key)?, json::plain(value)?))
            }
            Inner::Protobuf(bytes) => {
                let (_, _, rest) = tag(bytes).ok()?;
                let (entry, rest) = delimited(rest).ok()?;
                *bytes = rest;
                let (key, value) = map_entry(entry).ok()?;
                Some((
                    std::str::from_utf8(key).ok()?,
                    std::str::from_utf8(value).ok()?,
                ))
            }
        }
    }
}

/// Writes pairs in the protobuf form that [`ScannedPairs`] reads.
pub(super) fn write(pairs: &BTreeMap<Str, Str>, out: &mut Vec<u8>) {
    let mut entry = Vec::new();
    for (key, value) in pairs {
        entry.clear();
        push_delimited(1, key.as_bytes(), &mut entry);
        push_delimited(2, value.as_bytes(), &mut entry);
        push_delimited(1, &entry, out);
    }
}
