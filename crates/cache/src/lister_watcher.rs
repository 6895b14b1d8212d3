//! `ListerWatcher`: the trait through which a reflector lists and watches one resource.
//!
//! `kubist-client` implements it over HTTP, the API server's watch cache over its storage, and
//! tests by scripts. Objects arrive in the form `K` that the cache stores; this module knows no
//! encoding, connection or clock.

use crate::FetchError;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use kubist_apimachinery::wire::WireError;
use kubist_apimachinery::{ObjectName, ResourceVersion, Str};
use std::time::Duration;

/// Lists and watches the objects of one resource in one [`Selection`](crate::Selection).
///
/// Dropping a future or stream cancels it and closes its request.
pub trait ListerWatcher<K>: Send + Sync + 'static {
    /// Fetches one page, or everything if the limit is 0.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>>;

    /// Starts a watch. The future completes when the server has accepted the request.
    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>>;

    /// Reports whether to try streaming lists; false for servers known not to support them.
    fn supports_streaming_list(&self) -> bool {
        true
    }

    /// Called after a streaming list was rejected as invalid, so that other reflectors of the same
    /// server need not try.
    fn streaming_list_refused(&self) {}

    /// Returns a seed for the pauses of what follows this source, where runs are to be repeatable.
    /// Default: none, and they are random.
    fn seed(&self) -> Option<u64> {
        None
    }

    /// Reports whether an event of some version implies that all earlier events were delivered.
    /// This is false for a source that merges several watches: then only lists and bookmarks imply
    /// it.
    fn is_ordered(&self) -> bool {
        true
    }
}

/// The items of one page, in batches as they arrive, and [`ListBatch::End`] last. An error is the
/// last item; a stream that ends without `End` was interrupted.
pub type ListStream<K> = BoxStream<'static, Result<ListBatch<K>, FetchError>>;

/// The events of a watch, in batches as they arrive. An error, including the server's `ERROR`
/// event, is the last item; a stream that ends without one ended normally.
pub type WatchStream<K> = BoxStream<'static, Result<Vec<WatchItem<K>>, FetchError>>;

/// The parameters of a list request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; new fields are breaking anyway"
)]
pub struct ListRequest {
    /// Unset: the newest state. `0`: any state that the server has cached.
    pub resource_version: ResourceVersion,
    /// How to interpret the resource version; `None` leaves it to the server.
    pub version_match: Option<VersionMatch>,
    /// The page size; 0 means unlimited.
    pub limit: u32,
    /// The continue token of the previous page; empty for the first.
    pub continue_token: Str,
}

/// The parameters of a watch request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; new fields are breaking anyway"
)]
pub struct WatchRequest {
    /// Events after this version. Unset: from the newest state; `0`: from any.
    pub resource_version: ResourceVersion,
    /// How to interpret the resource version; `NotOlderThan` with `send_initial_events`.
    pub version_match: Option<VersionMatch>,
    /// When the server should end the watch, sent in whole seconds; `None` leaves it to the server.
    pub timeout: Option<Duration>,
    /// Whether to request bookmarks.
    pub bookmarks: bool,
    /// Whether to begin with the state as `Added` events, followed by a bookmark with
    /// `initial_events_end`.
    pub send_initial_events: bool,
}

/// How to interpret a resource version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum VersionMatch {
    /// Exactly this version.
    Exact,
    /// This version or a later one.
    NotOlderThan,
}

impl VersionMatch {
    /// Returns the value of the query parameter `resourceVersionMatch`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::NotOlderThan => "NotOlderThan",
        }
    }
}

/// A part of a list response.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum ListBatch<K> {
    /// Items, in the server's order.
    Items(Vec<ListItem<K>>),
    /// The page is complete.
    End(ListEnd),
}

/// The metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct ListEnd {
    /// The resource version of the list.
    pub resource_version: ResourceVersion,
    /// The continue token of the next page; empty on the last.
    pub continue_token: Str,
    /// The number of items on later pages, if the server reports it.
    pub remaining: Option<u64>,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum ListItem<K> {
    /// An object.
    Object(K),
    /// An item that cannot be decoded.
    Invalid(InvalidItem),
}

/// One watch event.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum WatchItem<K> {
    /// The object is new, or newly selected.
    Added(K),
    /// The object changed.
    Modified(K),
    /// The object was deleted, or is no longer selected. Its last state, with the version of the
    /// event.
    Deleted(K),
    /// Everything up to this version was delivered.
    Bookmark {
        /// The version.
        resource_version: ResourceVersion,
        /// Whether it has the annotation `k8s.io/initial-events-end: "true"`.
        initial_events_end: bool,
    },
    /// An event whose object cannot be decoded. The watch goes on.
    Invalid(InvalidEvent),
}

/// The type of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these")]
pub enum EventType {
    /// The object is new, or newly selected.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted, or is no longer selected.
    Deleted,
    /// A bookmark.
    Bookmark,
}

/// An event whose object cannot be decoded. The event type and the name are usually known even
/// then, because they can be read without decoding the object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct InvalidEvent {
    /// The event type for the object named in [`item`](Self::item); `None` if the type or the name
    /// could not be determined reliably.
    pub event: Option<EventType>,
    /// The version of the event; unset if it cannot be decoded.
    pub resource_version: ResourceVersion,
    /// The name, at least for reports, and the error.
    pub item: InvalidItem,
}

impl InvalidEvent {
    /// Returns the name of an object that was added or modified.
    pub fn saved(&self) -> Option<&ObjectName> {
        let saved = matches!(self.event, Some(EventType::Added | EventType::Modified));
        self.item.name.as_ref().filter(|_| saved)
    }

    /// Returns the name of an object that was deleted.
    pub fn deleted(&self) -> Option<&ObjectName> {
        let deleted = self.event == Some(EventType::Deleted);
        self.item.name.as_ref().filter(|_| deleted)
    }
}

/// An item that could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct InvalidItem {
    /// The name, if it could be decoded.
    pub name: Option<ObjectName>,
    /// The decoding error.
    pub error: WireError,
}
