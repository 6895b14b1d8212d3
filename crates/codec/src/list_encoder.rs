//! `ListEncoder`: writes a list around items that are already encoded.
//!
//! Nothing is encoded twice or buffered: a server may flush at any time. Items are written
//! unchanged; in JSON, upstream's items of a typed list have neither `kind` nor `apiVersion`.

use crate::envelope;
use kubist_apimachinery::ListMeta;
use kubist_apimachinery::wire::{Encoding, Wire, delimited_length, push_delimited, push_header};

/// The list around the items.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ListHead<'a> {
    /// The `apiVersion` of the list.
    pub api_version: &'a str,
    /// The `kind` of the list.
    pub kind: &'a str,
    /// The list metadata: resource version and paging.
    pub metadata: &'a ListMeta,
}

/// Writes one list.
#[derive(Debug)]
#[must_use = "a list has an end: `finish`"]
pub struct ListEncoder {
    encoding: Encoding,
    first: bool,
}

impl ListEncoder {
    /// Appends the head. `item_lengths` are the lengths of all items: protobuf needs the length of
    /// the whole list first. JSON ignores them.
    pub fn start(
        encoding: Encoding,
        head: ListHead<'_>,
        item_lengths: impl Iterator<Item = usize>,
        out: &mut Vec<u8>,
    ) -> Self {
        if encoding == Encoding::Protobuf {
            let metadata = head.metadata.to_protobuf();
            let items = item_lengths.map(|length| delimited_length(2, length));
            let length = delimited_length(1, metadata.len()) + items.sum::<usize>();
            envelope::push_head(head.api_version, head.kind, length, out);
            push_delimited(1, &metadata, out);
        } else {
            out.extend_from_slice(b"{\"kind\":");
            push_text(head.kind, out);
            out.extend_from_slice(b",\"apiVersion\":");
            push_text(head.api_version, out);
            out.extend_from_slice(b",\"metadata\":");
            out.extend_from_slice(&head.metadata.to_json());
            out.extend_from_slice(b",\"items\":[");
        }
        Self {
            encoding,
            first: true,
        }
    }

    /// Appends the bytes before an item of `length` bytes; the caller writes the item next.
    pub fn before_item(&mut self, length: usize, out: &mut Vec<u8>) {
        if self.encoding == Encoding::Protobuf {
            push_header(2, length, out);
        } else if !self.first {
            out.push(b',');
        }
        self.first = false;
    }

    /// Appends an item.
    pub fn item(&mut self, item: &[u8], out: &mut Vec<u8>) {
        self.before_item(item.len(), out);
        out.extend_from_slice(item);
    }

    /// Appends the end; JSON ends with a line break, as in upstream.
    pub fn finish(self, out: &mut Vec<u8>) {
        if self.encoding == Encoding::Protobuf {
            out.extend_from_slice(&envelope::TAIL);
        } else {
            out.extend_from_slice(b"]}\n");
        }
    }
}

/// Appends a string as JSON.
fn push_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}

/// Encodes a whole list.
pub fn encode_list<I: AsRef<[u8]>>(encoding: Encoding, head: ListHead<'_>, items: &[I]) -> Vec<u8> {
    let size: usize = items.iter().map(|item| item.as_ref().len() + 5).sum();
    let mut out = Vec::with_capacity(size + 256);
    let lengths = items.iter().map(|item| item.as_ref().len());
    let mut encoder = ListEncoder::start(encoding, head, lengths, &mut out);
    for item in items {
        encoder.item(item.as_ref(), &mut out);
    }
    encoder.finish(&mut out);
    out
}
