//! `ListerWatcher`: the seam between a reflector and whoever can list and watch one resource.
//!
//! `kubist-client` implements it over HTTP, the API server's watch cache over its storage, tests
//! by script. Objects come out in the form `K` that the cache holds; nothing here knows an
//! encoding, a connection or a clock.

use crate::FetchError;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use kubist_apimachinery::wire::WireError;
use kubist_apimachinery::{ObjectName, ResourceVersion, Str};
use std::time::Duration;

/// Lists and watches the objects of one resource in one [`Selection`](crate::Selection).
///
/// Futures and streams are cancelled by dropping them; a dropped stream closes its request.
pub trait ListerWatcher<K>: Send + Sync + 'static {
    /// Fetches one page (or everything, if the limit is 0).
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>>;

    /// Begins to watch. The future is done when the server has accepted the request.
    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>>;

    /// Whether to ask for streaming lists at all. False for servers known not to have them.
    fn supports_streaming_list(&self) -> bool {
        true
    }

    /// Told once a streaming list was refused as invalid, so that the server's other reflectors
    /// need not try.
    fn streaming_list_refused(&self) {}

    /// Whether an event of some version says that everything before it has come. False for what
    /// merges several watches: then only lists and bookmarks say so.
    fn is_ordered(&self) -> bool {
        true
    }
}

/// The items of one page, in batches as they arrive, and [`ListBatch::End`] last. After an error
/// nothing follows; a stream that ends without `End` was cut.
pub type ListStream<K> = BoxStream<'static, Result<ListBatch<K>, FetchError>>;

/// The events of a watch, in batches as they arrive. An error (the server's `ERROR` event
/// included) is the last item; a stream that ends without one ended cleanly.
pub type WatchStream<K> = BoxStream<'static, Result<Vec<WatchItem<K>>, FetchError>>;

/// What to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; new fields are breaking anyway"
)]
pub struct ListRequest {
    /// Unset: the newest state. `0`: any state that the server has at hand.
    pub resource_version: ResourceVersion,
    /// How to take the resource version; `None` leaves it to the server.
    pub version_match: Option<VersionMatch>,
    /// Items on a page; 0 means all.
    pub limit: u32,
    /// Where the last page said to go on; empty for the first.
    pub continue_token: Str,
}

/// What to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; new fields are breaking anyway"
)]
pub struct WatchRequest {
    /// Events after this version. Unset: from the newest state on; `0`: from any.
    pub resource_version: ResourceVersion,
    /// How to take the resource version; `NotOlderThan` with `send_initial_events`.
    pub version_match: Option<VersionMatch>,
    /// After how long the server ends the watch (whole seconds are sent); `None` leaves it to it.
    pub timeout: Option<Duration>,
    /// Ask for bookmarks.
    pub bookmarks: bool,
    /// Begin with the state as `Added` events, then a bookmark with `initial_events_end`.
    pub send_initial_events: bool,
}

/// How a resource version is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum VersionMatch {
    /// Exactly this version.
    Exact,
    /// This version or any later.
    NotOlderThan,
}

impl VersionMatch {
    /// The value of the query parameter `resourceVersionMatch`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::NotOlderThan => "NotOlderThan",
        }
    }
}

/// A piece of a list.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum ListBatch<K> {
    /// Items, in the server's order.
    Items(Vec<ListItem<K>>),
    /// The page is complete.
    End(ListEnd),
}

/// What a list says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct ListEnd {
    /// The version of the list.
    pub resource_version: ResourceVersion,
    /// Where the next page begins; empty on the last.
    pub continue_token: Str,
    /// How many items follow on later pages, if the server says so.
    pub remaining: Option<u64>,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum ListItem<K> {
    /// An object.
    Object(K),
    /// Bytes that are not one.
    Invalid(InvalidItem),
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a reflector must handle each")]
pub enum WatchItem<K> {
    /// The object is new, or newly selected.
    Added(K),
    /// The object changed.
    Modified(K),
    /// The object is gone, or no longer selected; its last state, with the version of the event.
    Deleted(K),
    /// Nothing happened up to this version.
    Bookmark {
        /// The version.
        resource_version: ResourceVersion,
        /// Whether it is annotated `k8s.io/initial-events-end: "true"`.
        initial_events_end: bool,
    },
    /// An event whose object could not be read. The watch goes on.
    Invalid(InvalidEvent),
}

/// What an event of a watch says that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these")]
pub enum EventType {
    /// The object is new, or newly selected.
    Added,
    /// The object changed.
    Modified,
    /// The object is gone, or no longer selected.
    Deleted,
    /// Nothing happened.
    Bookmark,
}

/// An event whose object could not be read. What happened to whom is known all the same, as a rule:
/// neither needs more than a glance at the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct InvalidEvent {
    /// What happened to the object of the name in [`item`](Self::item); none if either could not be
    /// made out for sure.
    pub event: Option<EventType>,
    /// The version of the event, if that much could be read; otherwise unset.
    pub resource_version: ResourceVersion,
    /// The name, for reports at least, and what was wrong.
    pub item: InvalidItem,
}

impl InvalidEvent {
    /// The name of an object that was added or changed.
    pub fn saved(&self) -> Option<&ObjectName> {
        let saved = matches!(self.event, Some(EventType::Added | EventType::Modified));
        self.item.name.as_ref().filter(|_| saved)
    }

    /// The name of an object that is gone.
    pub fn deleted(&self) -> Option<&ObjectName> {
        let deleted = self.event == Some(EventType::Deleted);
        self.item.name.as_ref().filter(|_| deleted)
    }
}

/// An item that could not be made into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "implementers outside build it")]
pub struct InvalidItem {
    /// Its name, if that much could be read.
    pub name: Option<ObjectName>,
    /// What was wrong.
    pub error: WireError,
}
