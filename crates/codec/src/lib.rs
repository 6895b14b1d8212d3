//! What is around an object on the wire: the protobuf envelope, content negotiation, YAML, lists
//! and watches cut while they arrive, and patches.
//!
//! It is not a codec of API types (`kubist_apimachinery::wire` is), knows no HTTP beyond the values
//! of two headers, does no I/O and reads no clock.
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
//! - Nothing panics on outside input; every buffer has a named limit.
//! - Streams hold one chunk and at most one item. Items are slices of the chunk where they can be;
//!   whoever keeps one copies it.
//! - A stream ends with an error at the first broken border between items. What is inside an item
//!   is its decoder's business, so one corrupt item costs that item only.
//! - Errors carry the place: byte offset and index, or line and column.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

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
