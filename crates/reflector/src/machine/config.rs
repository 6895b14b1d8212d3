//! `Config`: how a reflector lists and watches, and the limits that are not for choice.

use super::Backoff;
use std::time::Duration;

/// Watches in a row that fail without having brought anything before a list is made instead.
pub const RESUMES_MAX: u32 = 3;

/// Streaming lists in a row that end, or fall silent, without the annotated bookmark before the
/// server is taken not to have streaming lists.
pub const UNFINISHED_MAX: u32 = 3;

/// Objects on a page of a list, as upstream.
pub const PAGE_SIZE: u32 = 500;

/// No server can ask for a longer pause.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// Internal errors further apart than this belong to different troubles. As upstream.
pub const RETRY_WINDOW_RESET: Duration = Duration::from_mins(1);

/// How a reflector lists and watches. `Default` is right for a client of any API server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Config {
    /// How the first state is fetched. Default: [`InitialSync::StreamingList`].
    pub initial_sync: InitialSync,
    /// Objects on a page of a list; 0 asks for everything at once. Default: `None`, which is
    /// [`PAGE_SIZE`], but everything at once where the server can answer from its cache (a
    /// version is named, and lists of version 0 were not split).
    pub page_size: Option<u32>,
    /// The server ends a watch after a random time between this and twice this. Default 5 min.
    /// Differs from client-go: a shorter time than the default is honoured.
    pub watch_timeout: Duration,
    /// A watch that is silent for this long after its server should have ended it is given up.
    /// Default 30 s.
    pub watch_grace: Duration,
    /// A request that is not answered for this long is given up, and so is a list of which
    /// nothing more comes. Default 90 s, so that a server's own limit of 60 s comes first.
    pub answer_max: Duration,
    /// A streaming list that brings no object for this long is given up for a paged one. Default
    /// 60 s.
    pub streaming_silence_max: Duration,
    /// Pauses after failures. Default 800 ms, doubled up to 30 s, each plus up to as much again.
    pub backoff: Backoff,
    /// A watch that lasted this long was healthy: the next failure is a first one. Default 10 s.
    pub healthy_after: Duration,
    /// A watch that ends sooner, without any event, is a failure. And where watches bring
    /// something and end or are cut, the first is resumed at once, later ones at most this often.
    /// Default 1 s.
    pub watch_min: Duration,
    /// For this long after a first internal error (500) watches resume, however often they fail
    /// so, instead of listing again after [`RESUMES_MAX`]. Default 0: no such window. Upstream:
    /// `MaxInternalErrorRetryDuration`.
    pub internal_error_retry: Duration,
    /// How often a kind that the server does not serve is asked for, plus up to as much again.
    /// Default 30 s.
    pub not_served_pause: Duration,
}

/// How the first state, and each later one after an expired version, is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum InitialSync {
    /// By a watch that begins with the state; by pages if the server cannot do that.
    StreamingList,
    /// By pages, then a watch.
    ListThenWatch,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            initial_sync: InitialSync::StreamingList,
            page_size: None,
            watch_timeout: Duration::from_mins(5),
            watch_grace: Duration::from_secs(30),
            answer_max: Duration::from_secs(90),
            streaming_silence_max: Duration::from_mins(1),
            backoff: Backoff::default(),
            healthy_after: Duration::from_secs(10),
            watch_min: Duration::from_secs(1),
            internal_error_retry: Duration::ZERO,
            not_served_pause: Duration::from_secs(30),
        }
    }
}
