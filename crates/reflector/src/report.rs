//! `Report`: a problem of a reflector. `Stats`: its figures.

use crate::machine::Recovery;
use kubist_apimachinery::ResourceVersion;
use kubist_cache::{FetchError, InvalidItem};

/// A problem. The reflector continues.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// A list failed.
    ListFailed(FetchError),
    /// A list delivered nothing for longer than the server should be silent.
    ListSilent,
    /// A watch could not be opened, or ended with an error; with the recovery.
    WatchFailed(FetchError, Recovery),
    /// A watch ended at once, without an error and without an event.
    WatchTooShort,
    /// A watch delivered nothing for longer than the server should be silent.
    WatchSilent(Recovery),
    /// The server returned a state that is older than a version it had returned before. It was
    /// discarded; the newest state is requested.
    Stale {
        /// The requested version.
        floor: ResourceVersion,
    },
    /// The server does not serve the kind, or no longer does. Reported once until it is served
    /// again; until then it is retried periodically.
    NotServed(FetchError),
    /// An object could not be decoded. Its stored state is kept.
    Invalid(InvalidItem),
}

/// The figures of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Completed lists, paged or streaming.
    pub lists: u64,
    /// Opened watches, including streaming lists.
    pub watches: u64,
    /// Objects received in lists.
    pub listed: u64,
    /// Events received by watches, without bookmarks.
    pub events: u64,
    /// Bookmarks received.
    pub bookmarks: u64,
    /// Objects that could not be decoded.
    pub invalid: u64,
    /// Listed objects that the store already had in the same version.
    pub unchanged: u64,
    /// Failed lists and watches.
    pub failures: u64,
    /// Responses that the kind is not served.
    pub not_served: u64,
    /// Lists that were discarded because they were older than a known version.
    pub stale: u64,
}
