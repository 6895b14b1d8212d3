//! The service `Watch`: one stream for any number of watches.

use crate::{KeyValue, ResponseHeader};
use bytes::Bytes;
use prost::{Enumeration, Message, Oneof};

/// A request on a watch stream.
#[derive(Clone, PartialEq, Message)]
pub struct WatchRequest {
    /// The request.
    #[prost(oneof = "WatchRequestUnion", tags = "1, 2, 3")]
    pub request: Option<WatchRequestUnion>,
}

/// The kinds of requests.
#[derive(Clone, PartialEq, Oneof)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no others")]
pub enum WatchRequestUnion {
    /// Starts a watch.
    #[prost(message, tag = "1")]
    Create(WatchCreateRequest),
    /// Ends a watch.
    #[prost(message, tag = "2")]
    Cancel(WatchCancelRequest),
    /// Asks for the progress of all watches.
    #[prost(message, tag = "3")]
    Progress(WatchProgressRequest),
}

/// Events that a watch leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum FilterType {
    /// Puts.
    NoPut = 0,
    /// Deletes.
    NoDelete = 1,
}

/// Starts a watch.
#[derive(Clone, PartialEq, Message)]
pub struct WatchCreateRequest {
    /// The key, or the first of the range.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The end of the range, as in a range request.
    #[prost(bytes = "bytes", tag = "2")]
    pub range_end: Bytes,
    /// The first revision; zero for those after the creation.
    #[prost(int64, tag = "3")]
    pub start_revision: i64,
    /// Whether progress is sent from time to time.
    #[prost(bool, tag = "4")]
    pub progress_notify: bool,
    /// Events that are left out.
    #[prost(enumeration = "FilterType", repeated, tag = "5")]
    pub filters: Vec<i32>,
    /// Whether events have the replaced version.
    #[prost(bool, tag = "6")]
    pub prev_kv: bool,
    /// The id; zero lets the server choose.
    #[prost(int64, tag = "7")]
    pub watch_id: i64,
    /// Whether large responses may be split.
    #[prost(bool, tag = "8")]
    pub fragment: bool,
}

/// Ends a watch.
#[derive(Clone, PartialEq, Message)]
pub struct WatchCancelRequest {
    /// The watch.
    #[prost(int64, tag = "1")]
    pub watch_id: i64,
}

/// Asks for the progress of all watches of the stream.
#[derive(Clone, PartialEq, Message)]
pub struct WatchProgressRequest {}

/// A response on a watch stream.
#[derive(Clone, PartialEq, Message)]
pub struct WatchResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The watch; -1 for progress of all of the stream.
    #[prost(int64, tag = "2")]
    pub watch_id: i64,
    /// Whether it answers a creation.
    #[prost(bool, tag = "3")]
    pub created: bool,
    /// Whether the watch has ended.
    #[prost(bool, tag = "4")]
    pub canceled: bool,
    /// The oldest revision that a watch can start at, if it ended for that.
    #[prost(int64, tag = "5")]
    pub compact_revision: i64,
    /// Why it ended.
    #[prost(string, tag = "6")]
    pub cancel_reason: String,
    /// Whether more events of the same response follow.
    #[prost(bool, tag = "7")]
    pub fragment: bool,
    /// The events.
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<Event>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum EventType {
    /// The key was written.
    Put = 0,
    /// The key was deleted.
    Delete = 1,
}

/// A write of a key.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Its kind.
    #[prost(enumeration = "EventType", tag = "1")]
    pub kind: i32,
    /// The version; of a delete, the key and the revision.
    #[prost(message, optional, tag = "2")]
    pub kv: Option<KeyValue>,
    /// The version before, if it was requested.
    #[prost(message, optional, tag = "3")]
    pub prev_kv: Option<KeyValue>,
}
