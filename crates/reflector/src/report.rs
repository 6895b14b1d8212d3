//! `Report`: what went wrong; `Stats`: what was done.

use crate::machine::Recovery;
use kubist_apimachinery::ResourceVersion;
use kubist_cache::{FetchError, InvalidItem};

/// Something that went wrong, or was not as it should be. The reflector goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// A list failed.
    ListFailed(FetchError),
    /// Nothing came of a list for longer than the server should be silent.
    ListSilent,
    /// A watch could not be opened, or ended with an error; and what is done about it.
    WatchFailed(FetchError, Recovery),
    /// A watch ended at once, without an error and without an event.
    WatchTooShort,
    /// Nothing came for longer than the server should be silent.
    WatchSilent(Recovery),
    /// The server answered with a state that is older than what it had said before. It was not
    /// used; the newest is asked for.
    Stale {
        /// The version that was asked for.
        floor: ResourceVersion,
    },
    /// The server does not serve the kind, or no longer. Told once, until it is served again;
    /// until then it is asked now and then.
    NotServed(FetchError),
    /// An object could not be read. Whatever was known of it stays.
    Invalid(InvalidItem),
}

/// What a reflector has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lists completed, by pages or streaming.
    pub lists: u64,
    /// Watches opened, streaming lists included.
    pub watches: u64,
    /// Objects received through lists.
    pub listed: u64,
    /// Events received through watches, bookmarks not counted.
    pub events: u64,
    /// Bookmarks received.
    pub bookmarks: u64,
    /// Objects that could not be read.
    pub invalid: u64,
    /// Listed objects that the store had already in the same version.
    pub unchanged: u64,
    /// Lists and watches that failed.
    pub failures: u64,
    /// Answers that the kind is not served.
    pub not_served: u64,
    /// Lists that were not used because they were older than what had been seen.
    pub stale: u64,
}
