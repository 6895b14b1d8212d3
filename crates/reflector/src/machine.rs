//! `Machine`: decides what a reflector does next, as a pure state machine.
//!
//! It receives what happened ([`Machine::page_complete`], [`Machine::event`], …) and returns what
//! to do ([`Machine::action`]): list, watch, read on, or pause. Time is an argument, measured from
//! any fixed moment; jitter comes from a seed. It holds no objects and does no I/O.
//!
//! The recovery rules are in `testdata/` as scripts. In short: it starts with a streaming list, and
//! falls back to a paged list. A watch that ends is resumed from the last version. Only an expired
//! version, or [`RESUMES_MAX`] consecutive watches that fail without an event, cause a new list.
//! Pauses grow, and start over only after a healthy watch. A watch that delivered something before
//! its connection was cut is resumed at once, but at most once a second.

mod backoff;
mod config;
mod list;
mod retry_window;
mod watch;

pub use backoff::Backoff;
use backoff::Jitter;
pub use config::{
    Config, InitialSync, PAGE_SIZE, RESUMES_MAX, RETRY_AFTER_MAX, RETRY_WINDOW_RESET,
    UNFINISHED_MAX,
};
use kubist_apimachinery::{ResourceVersion, Retry};
use kubist_cache::{FetchError, ListRequest, WatchRequest};
pub use list::PageEnd;
use retry_window::RetryWindow;
use std::cmp::Ordering;
use std::time::Duration;
pub use watch::{Event, EventAction, WatchOutcome};

/// The first pause of a kind that is not served.
const NOT_SERVED_PAUSE_MIN: Duration = Duration::from_secs(1);

/// The next action of a reflector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Action {
    /// List a page, then report [`Machine::list_goes_on`] as it arrives, and
    /// [`Machine::page_complete`] or [`Machine::list_failed`].
    List(ListRequest),
    /// Open a watch, then report [`Machine::watch_opened`] or [`Machine::watch_ended`].
    Watch(WatchRequest),
    /// Read on; at the deadline report [`Machine::list_silent`], or [`Machine::watch_ended`] with
    /// [`WatchEnd::Silent`].
    Read {
        /// The time by which something should arrive.
        deadline: Duration,
    },
    /// Wait.
    Pause {
        /// The time at which to ask again.
        until: Duration,
    },
}

/// How a watch ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a machine must handle each")]
pub enum WatchEnd<'a> {
    /// The stream ended.
    Clean,
    /// The watch could not be opened, or failed.
    Failed(&'a FetchError),
    /// Nothing arrived before the deadline.
    Silent,
}

/// How a reflector recovers from a failure, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// The watch is resumed from the last version.
    Resume,
    /// The whole state is listed again.
    Relist,
    /// A paged list replaces the streaming list.
    FallBack,
    /// The server does not serve the kind; it is retried periodically.
    NotServed,
}

/// The state of one reflector.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    jitter: Jitter,
    state: State,
    /// The earliest time of the next request.
    not_before: Duration,
    /// The number of failures since the last healthy watch.
    failures: u32,
    /// The number of consecutive watches that failed without an event.
    resumes: u32,
    /// When a watch that had delivered something was last resumed without backoff.
    resumed: Option<Duration>,
    /// The number of consecutive streaming lists that did not complete.
    unfinished: u32,
    internal_errors: RetryWindow,
    /// The last version received; the lower bound of every request that may specify a version.
    version: ResourceVersion,
    /// The lower bound has expired, or the server is behind it: request the newest state instead.
    version_unavailable: bool,
    /// The server pages even lists that could come from its cache, so the page size matters.
    paginates: bool,
    streaming_refused: bool,
    /// A streaming list was rejected as invalid. If the same paged list is not, the server does not
    /// support streaming lists.
    streaming_suspected: bool,
    /// The last pause, without its variation, if the last response was that the kind is not served.
    not_served: Option<Duration>,
}

/// The current phase.
#[derive(Debug)]
enum State {
    /// The state is to be fetched.
    Fetch,
    /// A page is to be requested, or was.
    Listing(list::Page),
    /// A watch is to be opened, is being opened, or is open.
    Watching(watch::Watching),
}

impl Machine {
    /// Creates a machine. Equal seeds and equal inputs give equal actions.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            internal_errors: RetryWindow::new(config.internal_error_retry),
            config,
            jitter: Jitter::new(seed),
            state: State::Fetch,
            not_before: Duration::ZERO,
            failures: 0,
            resumes: 0,
            resumed: None,
            unfinished: 0,
            version: ResourceVersion::default(),
            version_unavailable: false,
            paginates: false,
            streaming_refused: false,
            streaming_suspected: false,
            not_served: None,
        }
    }

    /// Never requests a streaming list again.
    pub fn refuse_streaming(&mut self) {
        self.streaming_refused = true;
    }

    /// Reports whether the server is known not to support streaming lists.
    pub fn is_streaming_refused(&self) -> bool {
        self.streaming_refused
    }

    /// Reports whether the server currently does not serve the kind.
    pub fn is_not_served(&self) -> bool {
        self.not_served.is_some()
    }

    /// Returns the last version received.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// Reports whether the next request must wait.
    pub fn is_pausing(&self, now: Duration) -> bool {
        now < self.not_before && !self.is_busy()
    }

    /// Returns what to do now. Without new input it returns [`Action::Read`] or [`Action::Pause`]
    /// again, but each request only once.
    pub fn action(&mut self, now: Duration) -> Action {
        if self.is_pausing(now) {
            return Action::Pause {
                until: self.not_before,
            };
        }
        if matches!(self.state, State::Fetch) {
            self.state = self.begin_fetch();
        }
        match &mut self.state {
            State::Listing(list::Page {
                deadline: Some(deadline),
                ..
            }) => Action::Read {
                deadline: *deadline,
            },
            State::Listing(page) => {
                page.deadline = Some(now.saturating_add(self.config.answer_max));
                Action::List(page.request())
            }
            State::Watching(watching) if watching.is_open() => Action::Read {
                deadline: watching.deadline(),
            },
            State::Watching(_) => Action::Watch(self.open_watch(now)),
            State::Fetch => Action::Pause {
                until: self.not_before,
            },
        }
    }

    fn is_busy(&self) -> bool {
        match &self.state {
            State::Fetch => false,
            State::Listing(page) => page.deadline.is_some(),
            State::Watching(watching) => watching.is_open(),
        }
    }

    fn begin_fetch(&self) -> State {
        let streaming = self.config.initial_sync == InitialSync::StreamingList;
        if streaming && !self.streaming_refused {
            State::Watching(watch::Watching::streaming())
        } else {
            self.begin_list()
        }
    }

    fn begin_list(&self) -> State {
        State::Listing(self.first_page())
    }

    /// Returns the version that a request for the state may specify.
    fn floor(&self) -> ResourceVersion {
        if self.version_unavailable {
            ResourceVersion::default()
        } else {
            self.version.clone()
        }
    }

    /// Pauses before the next request, for the time that the error requests or the backoff.
    fn pause(&mut self, now: Duration, error: Option<&FetchError>) {
        let backoff = self.config.backoff.delay(self.failures, &mut self.jitter);
        self.failures = self.failures.saturating_add(1);
        let delay = match error.map(FetchError::retry) {
            Some(Retry::After(asked)) => asked.clamp(self.config.backoff.min, RETRY_AFTER_MAX),
            _ => backoff,
        };
        self.not_before = now.saturating_add(delay);
    }

    /// Records that the kind is not served. This is no failure; the pauses grow with the time that
    /// has passed, because definitions are mostly created beside the program that needs them.
    fn note_not_served(&mut self, now: Duration) -> Recovery {
        let pause = self
            .not_served
            .map_or(NOT_SERVED_PAUSE_MIN, |last| last.saturating_mul(2))
            .min(self.config.not_served_pause);
        self.not_served = Some(pause);
        let pause = pause.saturating_add(self.jitter.below(pause));
        self.not_before = now.saturating_add(pause);
        self.resumes = 0;
        self.state = State::Fetch;
        Recovery::NotServed
    }

    /// Fetches the state again: at once with the newest version if the specified version was the
    /// problem, else after a pause.
    fn fetch_again(&mut self, now: Duration, error: Option<&FetchError>) {
        self.resumes = 0;
        let unavailable = error.is_some_and(FetchError::is_version_unavailable);
        if unavailable && !self.version_unavailable && !self.version.is_unset() {
            self.version_unavailable = true;
        } else {
            self.pause(now, error);
        }
        self.state = State::Fetch;
    }

    /// Records that the state is complete up to this version.
    fn fetched(&mut self, version: ResourceVersion) {
        self.version = version;
        self.version_unavailable = false;
        self.not_served = None;
        self.resumes = 0;
    }
}

/// Reports whether `version` is known to be older than `floor`.
fn is_before(version: &ResourceVersion, floor: &ResourceVersion) -> bool {
    version.compare(floor) == Some(Ordering::Less)
}
