//! `Machine`: what a reflector does next, as a pure state machine.
//!
//! It is told what happened ([`Machine::page_complete`], [`Machine::event`], …) and says what to
//! do ([`Machine::action`]): list, watch, read on, or pause. Time is an argument, measured from
//! any fixed moment; jitter comes from a seed. It holds no object and does no I/O.
//!
//! The recovery rules are readable as scripts in `testdata/`. In short: streaming list first, a
//! paged list where that fails; a watch that ends resumes from the last version; only an expired
//! version, or [`RESUMES_MAX`] watches in a row that fail and bring nothing, make it list again.
//! Pauses grow, and start over only after a watch that was healthy. A watch that brought something
//! before its connection was cut is resumed at once, though not more often than once a second.

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
use std::time::Duration;
pub use watch::{Event, EventAction, WatchOutcome};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Action {
    /// List a page; then tell [`Machine::list_goes_on`] as it comes, and
    /// [`Machine::page_complete`] or [`Machine::list_failed`].
    List(ListRequest),
    /// Open a watch; then tell [`Machine::watch_opened`] or [`Machine::watch_ended`].
    Watch(WatchRequest),
    /// Read on; at the deadline tell [`Machine::list_silent`], or [`Machine::watch_ended`] with
    /// [`WatchEnd::Silent`].
    Read {
        /// The latest time at which something should have come.
        deadline: Duration,
    },
    /// Do nothing until then.
    Pause {
        /// The time at which to ask again.
        until: Duration,
    },
}

/// How a watch ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a machine must handle each")]
pub enum WatchEnd<'a> {
    /// The stream is over.
    Clean,
    /// It could not be opened, or broke.
    Failed(&'a FetchError),
    /// Nothing came until the deadline.
    Silent,
}

/// What a failure led to, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// The watch goes on from where it was.
    Resume,
    /// The whole state is fetched again.
    Relist,
    /// The streaming list is given up for a paged one.
    FallBack,
    /// The server does not serve the kind: it is asked again now and then.
    NotServed,
}

/// The state of one reflector.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    jitter: Jitter,
    state: State,
    /// Not before this time may the next request be sent.
    not_before: Duration,
    /// Failures since the last healthy watch.
    failures: u32,
    /// Watches in a row that failed and brought nothing.
    resumes: u32,
    /// When a watch that had brought something was last followed by another without backoff.
    resumed: Option<Duration>,
    /// Streaming lists in a row that never came to their end.
    unfinished: u32,
    internal_errors: RetryWindow,
    /// The last version seen; the floor of every request that may name a version.
    version: ResourceVersion,
    /// The floor is expired, or the server is behind it: ask for the newest state instead.
    version_unavailable: bool,
    /// The server splits even lists that could come from its cache, so that page sizes matter.
    paginates: bool,
    streaming_refused: bool,
    /// A streaming list was refused as invalid. If the same list by pages is not, the server has
    /// no streaming lists.
    streaming_suspected: bool,
    /// The last answer was that the kind is not served.
    not_served: bool,
}

/// What is going on.
#[derive(Debug)]
enum State {
    /// The state must be fetched.
    Fetch,
    /// A page must be asked for, or was.
    Listing(list::Page),
    /// A watch must be opened, or is being opened, or is open.
    Watching(watch::Watching),
}

impl Machine {
    /// A machine that has seen nothing. Equal seeds and equal news give equal actions.
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
            not_served: false,
        }
    }

    /// Never asks for a streaming list again.
    pub fn refuse_streaming(&mut self) {
        self.streaming_refused = true;
    }

    /// Whether the server is known to have no streaming lists.
    pub fn is_streaming_refused(&self) -> bool {
        self.streaming_refused
    }

    /// Whether the server's last word was that it does not serve the kind.
    pub fn is_not_served(&self) -> bool {
        self.not_served
    }

    /// The last version seen.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// Whether the next request must wait.
    pub fn is_pausing(&self, now: Duration) -> bool {
        now < self.not_before && !self.is_busy()
    }

    /// What to do now. Asking again without news gives [`Action::Read`] or [`Action::Pause`]
    /// again, but each request once.
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

    /// The version that a request for the state may name.
    fn floor(&self) -> ResourceVersion {
        if self.version_unavailable {
            ResourceVersion::default()
        } else {
            self.version.clone()
        }
    }

    /// Pauses before the next request, for as long as the error asks or the backoff says.
    fn pause(&mut self, now: Duration, error: Option<&FetchError>) {
        let backoff = self.config.backoff.delay(self.failures, &mut self.jitter);
        self.failures = self.failures.saturating_add(1);
        let delay = match error.map(FetchError::retry) {
            Some(Retry::After(asked)) => asked.clamp(self.config.backoff.min, RETRY_AFTER_MAX),
            _ => backoff,
        };
        self.not_before = now.saturating_add(delay);
    }

    /// There is nothing to list or watch. That is no failure, so pauses do not grow.
    fn note_not_served(&mut self, now: Duration) -> Recovery {
        let pause = self.config.not_served_pause;
        let pause = pause.saturating_add(self.jitter.below(pause));
        self.not_before = now.saturating_add(pause);
        self.not_served = true;
        self.resumes = 0;
        self.state = State::Fetch;
        Recovery::NotServed
    }

    /// Fetches the state again: at once with the newest version if naming one was the problem,
    /// else after a pause.
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

    /// The state is whole, up to this version.
    fn fetched(&mut self, version: ResourceVersion) {
        self.version = version;
        self.version_unavailable = false;
        self.not_served = false;
        self.resumes = 0;
    }
}

/// Reports whether `version` is known to be older than `floor`.
fn is_before(version: &ResourceVersion, floor: &ResourceVersion) -> bool {
    version.compare(floor) == Some(Ordering::Less)
}
