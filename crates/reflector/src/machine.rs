//! `Machine`: what a reflector does next, as a pure state machine.
//!
//! It is told what happened ([`Machine::page_complete`], [`Machine::event`], …) and says what to
//! do ([`Machine::action`]): list, watch, read on, or pause. Time is an argument, measured from
//! any fixed moment; jitter comes from a seed. It holds no object and does no I/O.
//!
//! The recovery rules are readable as scripts in `testdata/`. In short: streaming list first, a
//! paged list where that fails; a watch that ends resumes from the last version; only an expired
//! version, or [`RESUMES_MAX`] watches in a row that bring nothing, make it list again. Pauses
//! grow, and start over only after a watch that was healthy.

mod backoff;
mod list;
mod watch;

use std::time::Duration;

use kubist_apimachinery::{ResourceVersion, Retry, Str};
use kubist_cache::{FetchError, ListRequest, WatchRequest};

pub use backoff::Backoff;
pub use watch::{Event, Verdict};

use backoff::Jitter;

/// Watches in a row that end without bringing anything before a list is made instead.
pub const RESUMES_MAX: u32 = 3;

/// How a reflector lists and watches. `Default` is right for a client of any API server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Config {
    /// How the first state is fetched. Default: [`InitialSync::StreamingList`].
    pub initial_sync: InitialSync,
    /// Objects on a page of a list. Default 500, as upstream; 0 asks for everything at once.
    pub page_size: u32,
    /// The server ends a watch after a random time between this and twice this. Default 5 min.
    pub watch_timeout: Duration,
    /// A watch that is silent for this long after its server should have ended it is given up.
    /// Default 30 s.
    pub watch_grace: Duration,
    /// A streaming list that is silent for this long is given up for a paged one. Default 60 s.
    pub streaming_silence_max: Duration,
    /// Pauses after failures. Default 800 ms, doubled up to 30 s, each plus up to as much again.
    pub backoff: Backoff,
    /// A watch that lasted this long was healthy: the next failure is a first one. Default 10 s.
    pub healthy_after: Duration,
    /// A watch that ends sooner, without any event, is a failure. Default 1 s.
    pub watch_min: Duration,
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
            page_size: 500,
            watch_timeout: Duration::from_mins(5),
            watch_grace: Duration::from_secs(30),
            streaming_silence_max: Duration::from_mins(1),
            backoff: Backoff::default(),
            healthy_after: Duration::from_secs(10),
            watch_min: Duration::from_secs(1),
        }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Action {
    /// List a page; then tell [`Machine::page_complete`] or [`Machine::list_failed`].
    List(ListRequest),
    /// Open a watch; then tell [`Machine::watch_opened`] or [`Machine::watch_ended`].
    Watch(WatchRequest),
    /// Read on from the open watch; at the deadline tell [`Machine::watch_ended`] with
    /// [`End::Silent`].
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
pub enum End<'a> {
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
pub enum Consequence {
    /// The watch goes on from where it was.
    Resume,
    /// The whole state is fetched again.
    Relist,
    /// The streaming list is given up for a paged one.
    FallBack,
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
    /// Watches in a row that brought nothing.
    resumes: u32,
    /// The last version seen; the floor of every request that may name a version.
    version: ResourceVersion,
    /// The floor is expired, or the server is behind it: ask for the newest state instead.
    version_unavailable: bool,
    /// The server splits even lists that could come from its cache, so that page sizes matter.
    paginates: bool,
    streaming_refused: bool,
}

/// What is going on.
#[derive(Debug)]
enum State {
    /// The state must be fetched.
    Fetch,
    /// A page must be asked for, or was.
    Listing { page: list::Page, sent: bool },
    /// A watch must be opened, or is being opened, or is open.
    Watching(watch::Watching),
}

impl Machine {
    /// A machine that has seen nothing. Equal seeds and equal news give equal actions.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            jitter: Jitter::new(seed),
            state: State::Fetch,
            not_before: Duration::ZERO,
            failures: 0,
            resumes: 0,
            version: ResourceVersion::default(),
            version_unavailable: false,
            paginates: false,
            streaming_refused: false,
        }
    }

    /// Never asks for a streaming list again.
    pub fn refuse_streaming(&mut self) {
        self.streaming_refused = true;
    }

    /// Whether the server refused a streaming list.
    pub fn is_streaming_refused(&self) -> bool {
        self.streaming_refused
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
            State::Listing { page, sent } => {
                *sent = true;
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
            State::Listing { sent, .. } => *sent,
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
        State::Listing {
            page: self.first_page(),
            sent: false,
        }
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
            Some(Retry::After(asked)) => asked.max(self.config.backoff.min),
            _ => backoff,
        };
        self.not_before = now.saturating_add(delay);
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
        self.resumes = 0;
    }
}

/// The token of a first page.
fn no_token() -> Str {
    Str::default()
}
