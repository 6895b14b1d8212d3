//! `ListChunks`: the encoding of a list, piece by piece.
//!
//! JSON items are written from what is stored, or copied where others deliver the same object too.
//! Protobuf items are slices of what is stored with a resource version between them;
//! protobuf says the length of the whole first, and the lengths can be told without encoding.

use super::ListParts;
use bytes::Bytes;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::list_encoder::{ListEncoder, ListHead};
use kubist_registry::Stored;
use std::vec;

/// Bytes at which a chunk is complete.
const CHUNK_BYTES: usize = 64 << 10;
/// What a chunk of usual objects needs, so that it is allocated once.
const CHUNK_CAPACITY: usize = CHUNK_BYTES + (16 << 10);

/// A list in chunks.
pub(super) struct ListChunks {
    /// The head, until it is sent.
    chunk: Vec<u8>,
    /// None after the end.
    encoder: Option<ListEncoder>,
    items: Items,
}

/// Both are written when their turn comes.
enum Items {
    Json(vec::IntoIter<Stored>),
    /// With the lengths that were promised.
    Protobuf(vec::IntoIter<(Stored, usize)>),
}

/// An item turned out longer or shorter than its list has promised.
const BROKEN_PROMISE: &str = "an object changed its length while its list was being sent";

impl ListChunks {
    pub(super) fn json(list: ListParts) -> Self {
        let mut chunk = Vec::new();
        let encoder =
            ListEncoder::start(Encoding::Json, head(&list), std::iter::empty(), &mut chunk);
        if list.custom && list.metadata.continue_.is_empty() {
            chunk = with_continue(&chunk);
        }
        Self {
            chunk,
            encoder: Some(encoder),
            items: Items::Json(list.items.into_iter()),
        }
    }

    pub(super) fn protobuf(list: ListParts) -> Result<Self, Status> {
        let head = ListHead {
            api_version: list.api_version,
            kind: &list.kind,
            metadata: &list.metadata,
        };
        let with_length = |item: Stored| -> Result<(Stored, usize), Status> {
            let length = item.protobuf_length()?;
            Ok((item, length))
        };
        let items: Result<Vec<_>, Status> = list.items.into_iter().map(with_length).collect();
        let items = items?;
        let mut chunk = Vec::with_capacity(CHUNK_CAPACITY);
        let lengths = items.iter().map(|(_, length)| *length);
        let encoder = ListEncoder::start(Encoding::Protobuf, head, lengths, &mut chunk);
        Ok(Self {
            chunk,
            encoder: Some(encoder),
            items: Items::Protobuf(items.into_iter()),
        })
    }

    /// Appends the next item to the chunk. False after the last.
    fn step(&mut self, encoder: &mut ListEncoder) -> Result<bool, Status> {
        match &mut self.items {
            Items::Json(items) => {
                let Some(item) = items.next() else {
                    return Ok(false);
                };
                // JSON says no lengths.
                encoder.before_item(0, &mut self.chunk);
                item.push_json(&mut self.chunk)?;
            }
            Items::Protobuf(items) => {
                let Some((item, length)) = items.next() else {
                    return Ok(false);
                };
                encoder.before_item(length, &mut self.chunk);
                let end = self.chunk.len() + length;
                item.push_protobuf(&mut self.chunk)?;
                if self.chunk.len() != end {
                    return Err(Status::internal_error(BROKEN_PROMISE));
                }
            }
        }
        Ok(true)
    }
}

/// The head of a list that says that nothing is left: lists of custom resources do.
fn with_continue(head: &[u8]) -> Vec<u8> {
    let head = String::from_utf8_lossy(head);
    let metadata = "\"metadata\":{";
    let with = format!("{metadata}\"continue\":\"\",");
    head.replacen(metadata, &with, 1).into_bytes()
}

fn head(list: &ListParts) -> ListHead<'_> {
    ListHead {
        api_version: list.api_version,
        kind: &list.kind,
        metadata: &list.metadata,
    }
}

impl Iterator for ListChunks {
    type Item = Result<Bytes, Status>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut encoder = self.encoder.take()?;
        loop {
            match self.step(&mut encoder) {
                Err(status) => return Some(Err(status)),
                Ok(false) => {
                    encoder.finish(&mut self.chunk);
                    break;
                }
                Ok(true) if self.chunk.len() >= CHUNK_BYTES => {
                    self.encoder = Some(encoder);
                    break;
                }
                Ok(true) => {}
            }
        }
        let next = match self.encoder {
            Some(_) => Vec::with_capacity(CHUNK_CAPACITY),
            None => Vec::new(),
        };
        Some(Ok(std::mem::replace(&mut self.chunk, next).into()))
    }
}
