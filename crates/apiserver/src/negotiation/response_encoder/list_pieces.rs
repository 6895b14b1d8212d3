//! `ListPieces`: encodes a list item by item.
//!
//! JSON items are written from the stored bytes, or copied if their encoding is already shared.
//! Protobuf items are slices of the stored bytes with a resource version between them. Protobuf
//! needs the total length first, which is known without encoding.

use super::ListParts;
use super::document::{Pieces, Step};
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::list_encoder::{ListEncoder, ListHead};
use kubist_registry::Stored;
use std::vec;

/// A list that is being written.
pub(super) struct ListPieces {
    /// The head, until it is written.
    head: Vec<u8>,
    /// None after the end.
    encoder: Option<ListEncoder>,
    items: Items,
}

/// Both are encoded when their turn comes.
enum Items {
    Json(vec::IntoIter<Stored>),
    /// With the announced lengths.
    Protobuf(vec::IntoIter<(Stored, usize)>, Part),
}

/// The part of each item that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The complete object.
    Whole,
    /// A `PartialObjectMetadata`.
    Metadata,
}

/// The encoding of an item does not have its announced length.
const BROKEN_PROMISE: &str = "an object changed its length while its list was being sent";

impl ListPieces {
    pub(super) fn json(list: ListParts) -> Self {
        let mut out = Vec::new();
        let encoder = ListEncoder::start(Encoding::Json, head(&list), std::iter::empty(), &mut out);
        if list.custom && list.metadata.continue_.is_empty() {
            out = with_continue(&out);
        }
        Self {
            head: out,
            encoder: Some(encoder),
            items: Items::Json(list.items.into_iter()),
        }
    }

    pub(super) fn protobuf(list: ListParts, part: Part) -> Result<Self, Status> {
        let head = ListHead {
            api_version: list.api_version,
            kind: &list.kind,
            metadata: &list.metadata,
        };
        let with_length = |item: Stored| -> Result<(Stored, usize), Status> {
            let length = match part {
                Part::Whole => item.protobuf_length()?,
                Part::Metadata => item.metadata_protobuf_length()?,
            };
            Ok((item, length))
        };
        let items: Result<Vec<_>, Status> = list.items.into_iter().map(with_length).collect();
        let items = items?;
        let mut out = Vec::new();
        let lengths = items.iter().map(|(_, length)| *length);
        let encoder = ListEncoder::start(Encoding::Protobuf, head, lengths, &mut out);
        Ok(Self {
            head: out,
            encoder: Some(encoder),
            items: Items::Protobuf(items.into_iter(), part),
        })
    }

    /// Appends the next item and returns the bytes read for it; `None` after the last.
    fn item(
        &mut self,
        encoder: &mut ListEncoder,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Status> {
        let before = out.len();
        match &mut self.items {
            Items::Json(items) => {
                let Some(item) = items.next() else {
                    return Ok(None);
                };
                // JSON needs no lengths.
                encoder.before_item(0, out);
                item.push_json(out)?;
            }
            Items::Protobuf(items, part) => {
                let Some((item, length)) = items.next() else {
                    return Ok(None);
                };
                encoder.before_item(length, out);
                let end = out.len() + length;
                match part {
                    Part::Whole => item.push_protobuf(out)?,
                    Part::Metadata => item.push_metadata_protobuf(out)?,
                }
                if out.len() != end {
                    return Err(Status::internal_error(BROKEN_PROMISE));
                }
            }
        }
        Ok(Some(out.len() - before))
    }
}

impl Pieces for ListPieces {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status> {
        out.append(&mut self.head);
        let Some(mut encoder) = self.encoder.take() else {
            return Ok(Step::Ended);
        };
        match self.item(&mut encoder, out)? {
            None => {
                encoder.finish(out);
                Ok(Step::Ended)
            }
            Some(read) => {
                self.encoder = Some(encoder);
                Ok(Step::Wrote(read))
            }
        }
    }
}

/// The head of a list with explicit null for an empty continue token, as for custom resources.
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
