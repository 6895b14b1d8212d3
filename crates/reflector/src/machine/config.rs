//! `Config`: how a reflector lists and watches, and its fixed limits.

use super::Backoff;
use std::time::Duration;

/// The number of consecutive watches that may fail without an event before the state is listed
/// again.
pub const RESUMES_MAX: u32 = 3;

/// The number of consecutive streaming lists that may end, or become silent, without the annotated
/// bookmark before the server counts as not supporting them.
pub const UNFINISHED_MAX: u32 = 3;

/// The page size of lists, as upstream.
pub const PAGE_SIZE: u32 = 500;

/// The maximum pause that a server can request.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// Internal errors further apart than this are unrelated. As upstream.
pub const RETRY_WINDOW_RESET: Duration = Duration::from_secs(60);

/// How a reflector lists and watches. `Default` suits clients of any API server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Config {
    /// How the initial state is fetched. Default: [`InitialSync::StreamingList`].
    pub initial_sync: InitialSync,
    /// The page size of lists; 0 requests everything at once. Default: `None`, which is
    /// [`PAGE_SIZE`], but everything at once if the server can answer from its cache (a version is
    /// specified, and lists of version 0 were not paged).
    pub page_size: Option<u32>,
    /// The server ends a watch after a random time between this and twice this. Default 5 min.
    /// Unlike in client-go, a shorter time than the default is honoured.
    pub watch_timeout: Duration,
    /// How long a watch may be silent after its server should have ended it. Default 30 s.
    pub watch_grace: Duration,
    /// How long a request may go unanswered, and a list response may stall. Default 90 s, so that a
    /// server's own limit of 60 s comes first.
    pub answer_max: Duration,
    /// How long a streaming list may be silent before it is replaced by a paged one. Default 60 s.
    pub streaming_silence_max: Duration,
    /// The pauses after failures. Default 800 ms, doubling up to 30 s, each plus up to as much
    /// again.
    pub backoff: Backoff,
    /// A watch that lasted this long was healthy: the next failure counts as the first. Default 10
    /// s.
    pub healthy_after: Duration,
    /// A watch that ends sooner without any event counts as failed. If watches deliver something
    /// and then end or are cut, the first is resumed at once, and later ones at most this often.
    /// Default 1 s.
    pub watch_min: Duration,
    /// How long after a first internal error (500) watches are resumed, however often they fail
    /// this way, instead of listing again after [`RESUMES_MAX`]. Default 0: not at all. Upstream:
    /// `MaxInternalErrorRetryDuration`.
    pub internal_error_retry: Duration,
    /// How often a kind that the server does not serve is retried at last, plus up to as much
    /// again; it begins with 1 s, and doubles. Default 30 s.
    pub not_served_pause: Duration,
}

/// How the initial state, and the state after an expired version, is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum InitialSync {
    /// By a watch that begins with the state; by pages if the server does not support that.
    StreamingList,
    /// By pages, followed by a watch.
    ListThenWatch,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            initial_sync: InitialSync::StreamingList,
            page_size: None,
            watch_timeout: Duration::from_secs(5 * 60),
            watch_grace: Duration::from_secs(30),
            answer_max: Duration::from_secs(90),
            streaming_silence_max: Duration::from_secs(60),
            backoff: Backoff::default(),
            healthy_after: Duration::from_secs(10),
            watch_min: Duration::from_secs(1),
            internal_error_retry: Duration::ZERO,
            not_served_pause: Duration::from_secs(30),
        }
    }
}
