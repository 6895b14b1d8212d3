//! `ListStream`: cuts the answer to a list request into items while it arrives.
//!
//! Chunks go in, split at any byte; the bytes of each item come out as soon as they are complete;
//! at the end comes the list's metadata. The body is never held: memory is one chunk and at most
//! one item. Items are not decoded here, so a corrupt one is its decoder's to report, and those
//! after it still come.

mod error;
mod json;
mod protobuf;

use bytes::Bytes;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Wire};
use kubist_apimachinery::{ListMeta, Str};

use crate::input::Input;
pub use error::{ListStreamError, Place};
use json::JsonList;
use protobuf::ProtobufList;

/// Limits of a list stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ListLimits {
    /// Bytes of one item. Default 64 MiB; upstream stores at most 1.5 MiB.
    pub item_bytes_max: usize,
    /// Bytes of `metadata`, `apiVersion` or `kind`. Default 1 MiB.
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

/// What a list says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListFacts {
    /// `apiVersion` of the list; empty if it was not said.
    pub api_version: Str,
    /// `kind` of the list; empty if it was not said.
    pub kind: Str,
    /// Its version and paging.
    pub metadata: ListMeta,
    /// How many items there were.
    pub items: u64,
}

#[derive(Debug)]
enum Cutter {
    Json(JsonList),
    Protobuf(ProtobufList),
}

/// Cuts one list. Feed it with [`push`](Self::push), drain it with [`next_item`](Self::next_item)
/// after each chunk, and [`finish`](Self::finish) it when the body ends.
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
    /// With the default limits.
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limits(encoding, ListLimits::default())
    }

    /// With other limits.
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

    /// The encoding of the items: what to tell `Ingest`.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Takes the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    /// The next item that is complete; none when more input is needed.
    ///
    /// Most items are slices that share the chunk's memory.
    ///
    /// # Errors
    /// The body is not a list, is broken, or breaks a limit. The stream cannot go on, and says the
    /// same error again.
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

    /// How many items have come so far.
    pub fn items(&self) -> u64 {
        self.facts.items
    }

    /// Ends the list. Items that were not drained are counted, but lost.
    ///
    /// # Errors
    /// As [`next_item`](Self::next_item), or the body ended too early.
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

/// Where the input stands.
fn place(input: &Input, facts: &ListFacts) -> Place {
    Place {
        offset: input.offset(),
        item: facts.items,
    }
}

/// A `Table` or anything else that is not a list is refused as soon as its kind is known.
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
