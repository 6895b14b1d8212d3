//! Wire formats around API objects: the protobuf envelope, content negotiation, YAML, incremental
//! lists and watches, and patches.
//!
//! It does not encode the API types themselves (`kubist_apimachinery::wire` does), knows no HTTP
//! beyond the values of two headers, does no I/O and reads no clock.
//!
//! ```
//! use kubist_apimachinery::wire::Encoding;
//! use kubist_codec::list_stream::ListStream;
//!
//! // Chunks may end anywhere; items leave as soon as they are complete.
//! let body = br#"{"metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":2}]}"#;
//! let mut list = ListStream::new(Encoding::Json);
//! let mut items = Vec::new();
//! for chunk in body.chunks(5) {
//!     list.push(chunk.to_vec().into());
//!     while let Some(item) = list.next_item()? {
//!         items.push(item);
//!     }
//! }
//! assert_eq!(items, [r#"{"a":1}"#, r#"{"b":2}"#]);
//! assert_eq!(list.finish()?.metadata.resource_version, "7");
//! # Ok::<(), kubist_codec::list_stream::ListStreamError>(())
//! ```
//!
//! # Contracts
//! - Nothing panics on untrusted input; every buffer has a named limit.
//! - Streams hold one chunk and at most one item. Items are slices of the chunk where possible; to
//!   keep one for long, copy it.
//! - A stream ends with an error at the first malformed border between items. The contents of an
//!   item are validated by its decoder, so a corrupt item costs only that item.
//! - Errors carry the position: byte offset and index, or line and column.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

#[cfg(feature = "cbor")]
pub mod cbor;
pub mod config_file;
pub mod envelope;
mod format;
mod go_float;
pub mod go_json;
mod input;
mod json_members;
mod json_value;
pub mod list_encoder;
pub mod list_stream;
pub mod negotiate;
pub mod patch;
mod protobuf_fields;
pub mod transcode;
pub mod watch_stream;
pub mod yaml;

pub use format::{Content, Format};
