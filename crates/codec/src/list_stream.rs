//! `ListStream`: splits a list response into items while it arrives.
//!
//! The caller pushes chunks, split at any byte, and takes the bytes of each item as soon as it is
//! complete; at the end it gets the list's metadata. Memory is one chunk and at most one item.
//! Items are not decoded here, so a corrupt item does not affect later ones.

mod error;
mod json;
mod protobuf;

use crate::input::Input;
use bytes::Bytes;
pub use error::{ListStreamError, Place};
use json::JsonList;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Wire};
use kubist_apimachinery::{ListMeta, Str};
use protobuf::ProtobufList;

/// Limits of a list stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ListLimits {
    /// The most bytes of one item. Default 64 MiB; upstream stores at most 1.5 MiB.
    pub item_bytes_max: usize,
    /// The most bytes of `metadata`, `apiVersion` or `kind`. Default 1 MiB.
    pub meta_bytes_max: usize,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self {
            item_bytes_max: 64 << 20,
            meta_bytes_max: 1 << 20,
        }
    }
}

/// The facts of a list besides its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListFacts {
    /// The `apiVersion` of the list; empty if absent.
    pub api_version: Str,
    /// The `kind` of the list; empty if absent.
    pub kind: Str,
    /// The resource version and paging.
    pub metadata: ListMeta,
    /// The number of items.
    pub items: u64,
}

#[derive(Debug)]
enum Cutter {
    Json(JsonList),
    Protobuf(ProtobufList),
}

/// Splits one list. Call [`push`](Self::push) for each chunk, then [`next_item`](Self::next_item)
/// until it returns none, and [`finish`](Self::finish) when the body ends.
///
/// ```
/// use kubist_apimachinery::wire::Encoding;
/// use kubist_codec::list_stream::ListStream;
///
/// let mut list = ListStream::new(Encoding::Json);
/// list.push(br#"{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"meta"#.to_vec().into());
/// assert_eq!(list.next_item()?.unwrap(), r#"{"metadata":{"name":"a"}}"#);
/// assert!(list.next_item()?.is_none());
/// list.push(br#"data":{}}],"metadata":{"resourceVersion":"7"}}"#.to_vec().into());
/// assert_eq!(list.next_item()?.unwrap(), r#"{"metadata":{}}"#);
/// assert!(list.next_item()?.is_none());
/// let facts = list.finish()?;
/// assert_eq!(facts.metadata.resource_version, "7");
/// # Ok::<(), kubist_codec::list_stream::ListStreamError>(())
/// ```
#[derive(Debug)]
pub struct ListStream {
    cutter: Cutter,
    encoding: Encoding,
    input: Input,
    facts: ListFacts,
    failed: Option<ListStreamError>,
}

impl ListStream {
    /// Creates a stream with the default limits.
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limits(encoding, ListLimits::default())
    }

    /// Creates a stream with other limits.
    pub fn with_limits(encoding: Encoding, limits: ListLimits) -> Self {
        let cutter = match encoding {
            Encoding::Protobuf => Cutter::Protobuf(ProtobufList::new(limits)),
            _ => Cutter::Json(JsonList::new(limits)),
        };
        Self {
            cutter,
            encoding,
            input: Input::default(),
            facts: ListFacts::default(),
            failed: None,
        }
    }

    /// Returns the encoding of the items, as `Ingest` needs it.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Adds the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    /// Returns the next complete item; none when more input is needed.
    ///
    /// Most items are slices that share memory with the chunk.
    ///
    /// # Errors
    /// The body is not a list, is malformed, or exceeds a limit. The stream then returns the same
    /// error again.
    pub fn next_item(&mut self) -> Result<Option<Bytes>, ListStreamError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let item = match &mut self.cutter {
            Cutter::Json(list) => list.step(&mut self.input, &mut self.facts),
            Cutter::Protobuf(list) => list.step(&mut self.input, &mut self.facts),
        };
        match &item {
            Ok(Some(_)) => self.facts.items += 1,
            Ok(None) => {}
            Err(error) => self.failed = Some(error.clone()),
        }
        item
    }

    /// Returns the number of items so far.
    pub fn items(&self) -> u64 {
        self.facts.items
    }

    /// Ends the list. Items that were not taken are counted and dropped.
    ///
    /// # Errors
    /// Same as [`next_item`](Self::next_item), or the body ended too early.
    pub fn finish(mut self) -> Result<ListFacts, ListStreamError> {
        while self.next_item()?.is_some() {}
        let complete = match &self.cutter {
            Cutter::Json(list) => list.is_complete(),
            Cutter::Protobuf(list) => list.is_complete(),
        };
        if !complete {
            return Err(ListStreamError::Truncated {
                place: place(&self.input, &self.facts),
            });
        }
        match &self.cutter {
            Cutter::Json(list) => list.check(&self.facts)?,
            Cutter::Protobuf(_) => refuse_other_kinds(&self.facts)?,
        }
        Ok(self.facts)
    }
}

/// Returns the current position.
fn place(input: &Input, facts: &ListFacts) -> Place {
    Place {
        offset: input.offset(),
        item: facts.items,
    }
}

/// Refuses a `Table` and anything else that is not a list, as soon as its kind is known.
fn refuse_other_kinds(facts: &ListFacts) -> Result<(), ListStreamError> {
    match facts.kind.as_str() {
        "Table" => Err(ListStreamError::Table),
        kind if kind.is_empty() || kind.ends_with("List") => Ok(()),
        _ => Err(ListStreamError::NotAList {
            api_version: facts.api_version.clone(),
            kind: facts.kind.clone(),
        }),
    }
}

fn decode_metadata(bytes: &[u8], encoding: Encoding) -> Result<ListMeta, ListStreamError> {
    let cx = &mut DecodeContext::new();
    match encoding {
        Encoding::Protobuf => ListMeta::from_protobuf(bytes, cx),
        _ => ListMeta::from_json(bytes, cx),
    }
    .map_err(ListStreamError::Metadata)
}
