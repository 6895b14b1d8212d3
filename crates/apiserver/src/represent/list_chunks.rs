//! `ListChunks`: the encoding of a list, piece by piece.
//!
//! JSON items are shared with everybody who delivers the same object, and copied into one chunk
//! at a time. Protobuf says the length of the whole first, so its items are encoded up front.

use super::ListParts;
use bytes::Bytes;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::list_encoder::{ListEncoder, ListHead};
use kubist_registry::Stored;
use std::vec;

/// Bytes at which a chunk is complete.
const CHUNK_BYTES: usize = 64 << 10;

/// A list in chunks.
pub(super) struct ListChunks {
    /// The head, until it is sent.
    chunk: Vec<u8>,
    /// None after the end.
    encoder: Option<ListEncoder>,
    items: Items,
}

enum Items {
    /// Encoded when their turn comes.
    Json(vec::IntoIter<Stored>),
    /// Encoded one after the other; the lengths tell where they end.
    Protobuf {
        encoded: Vec<u8>,
        at: usize,
        lengths: vec::IntoIter<usize>,
    },
}

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
        let mut encoded = Vec::new();
        let mut lengths = Vec::with_capacity(list.items.len());
        for item in &list.items {
            let before = encoded.len();
            item.push_protobuf(&mut encoded)?;
            lengths.push(encoded.len() - before);
        }
        let mut chunk = Vec::new();
        let encoder = ListEncoder::start(
            Encoding::Protobuf,
            head(&list),
            lengths.iter().copied(),
            &mut chunk,
        );
        Ok(Self {
            chunk,
            encoder: Some(encoder),
            items: Items::Protobuf {
                encoded,
                at: 0,
                lengths: lengths.into_iter(),
            },
        })
    }

    /// Appends the next item to the chunk. False after the last.
    fn step(&mut self, encoder: &mut ListEncoder) -> Result<bool, Status> {
        match &mut self.items {
            Items::Json(items) => {
                let Some(item) = items.next() else {
                    return Ok(false);
                };
                encoder.item(item.json_item()?, &mut self.chunk);
            }
            Items::Protobuf {
                encoded,
                at,
                lengths,
            } => {
                let Some(length) = lengths.next() else {
                    return Ok(false);
                };
                encoder.item(&encoded[*at..*at + length], &mut self.chunk);
                *at += length;
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
        Some(Ok(std::mem::take(&mut self.chunk).into()))
    }
}
