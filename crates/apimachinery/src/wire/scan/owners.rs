//! `ScannedOwners`: owner references in an object's bytes.

use super::json::{self, Cursor};
use crate::wire::raw_field::{delimited, tag};
use crate::wire::{push_delimited, raw_fields};
use crate::{Owner, OwnerReference};

/// Encoded owner references: adjacent protobuf messages, or a JSON array without escapes. Copying
/// it copies a reference.
#[derive(Clone, Copy, Debug)]
pub struct ScannedOwners<'b> {
    bytes: &'b [u8],
    json: bool,
}

impl<'b> ScannedOwners<'b> {
    pub(super) fn new(bytes: &'b [u8], json: bool) -> Self {
        Self { bytes, json }
    }

    /// Returns the owner at an index.
    pub fn at(self, index: usize) -> Option<Owner<'b>> {
        if self.json {
            let mut cursor = Cursor::new(self.bytes);
            let item = (0..=index).map_while(|_| cursor.next_item()).nth(index)?;
            return Some(from_json(item));
        }
        let mut rest = self.bytes;
        for position in 0.. {
            let (_, _, after) = tag(rest).ok()?;
            let (message, after) = delimited(after).ok()?;
            if position == index {
                return Some(from_protobuf(message));
            }
            rest = after;
        }
        None
    }
}

const NOBODY: Owner<'static> = Owner {
    api_version: "",
    kind: "",
    name: "",
    uid: "",
    controller: false,
};

fn from_json(item: &[u8]) -> Owner<'_> {
    let mut owner = NOBODY;
    let mut cursor = Cursor::new(item);
    while let Some((key, value)) = cursor.next_member() {
        let text = json::plain(value).unwrap_or_default();
        match json::plain(key) {
            Some("apiVersion") => owner.api_version = text,
            Some("kind") => owner.kind = text,
            Some("name") => owner.name = text,
            Some("uid") => owner.uid = text,
            Some("controller") => owner.controller = value == b"true",
            _ => {}
        }
    }
    owner
}

fn from_protobuf(message: &[u8]) -> Owner<'_> {
    let mut owner = NOBODY;
    for field in raw_fields(message) {
        let Ok(field) = field else { break };
        let text = std::str::from_utf8(field.bytes).unwrap_or_default();
        match field.number {
            1 => owner.kind = text,
            3 => owner.name = text,
            4 => owner.uid = text,
            5 => owner.api_version = text,
            6 => owner.controller = field.varint != 0,
            _ => {}
        }
    }
    owner
}

/// Writes owners in the protobuf form that [`ScannedOwners`] reads.
pub(super) fn write(owners: &[OwnerReference], out: &mut Vec<u8>) {
    use crate::wire::Wire as _;
    for owner in owners {
        push_delimited(13, &owner.to_protobuf(), out);
    }
}
