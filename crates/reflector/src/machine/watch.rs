//! Watching, and streaming lists, which are watches that begin with the state.

use std::time::Duration;

use kubist_apimachinery::ResourceVersion;
use kubist_cache::{FetchError, VersionMatch, WatchRequest};

use super::{Consequence, End, Machine, RESUMES_MAX, State};

/// A watch, from the wish to open it to its end.
#[derive(Debug)]
pub(super) struct Watching {
    phase: Phase,
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The state comes; it is whole at the annotated bookmark.
    Streaming,
    /// Changes come.
    Following,
}

/// A watch that was asked for.
#[derive(Debug)]
struct Open {
    since: Duration,
    deadline: Duration,
    events: u64,
    /// The watch began at no version in particular: until something else than `Added` comes,
    /// versions are those of old objects, in no order.
    unordered: bool,
}

impl Watching {
    pub(super) fn streaming() -> Self {
        Self {
            phase: Phase::Streaming,
            open: None,
        }
    }

    pub(super) fn resuming() -> Self {
        Self {
            phase: Phase::Following,
            open: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn deadline(&self) -> Duration {
        self.open
            .as_ref()
            .map_or(Duration::ZERO, |open| open.deadline)
    }
}

/// What came through a watch, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a machine must handle each")]
pub enum Event<'a> {
    /// A new object, with its version.
    Added(&'a str),
    /// A changed object.
    Modified(&'a str),
    /// A deleted object.
    Deleted(&'a str),
    /// A bookmark.
    Bookmark {
        /// Its version.
        version: &'a str,
        /// Whether it says that the state is whole.
        initial_events_end: bool,
    },
    /// Something that could not be read.
    Invalid,
}

/// What to do with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Verdict {
    /// Gather it: the state is not whole yet.
    Gather,
    /// What was gathered is the state, at [`Machine::version`].
    Complete,
    /// Hand it on.
    Deliver,
    /// Nothing more to do.
    Ignore,
}

impl Machine {
    pub(super) fn open_watch(&mut self, now: Duration) -> WatchRequest {
        let timeout = self.config.watch_timeout;
        let timeout = timeout.saturating_add(self.jitter.below(timeout));
        let floor = self.floor();
        let State::Watching(watching) = &mut self.state else {
            return WatchRequest::default();
        };
        let streaming = watching.phase == Phase::Streaming;
        let resource_version = if streaming {
            floor
        } else {
            self.version.clone()
        };
        let silence_max = if streaming {
            self.config.streaming_silence_max
        } else {
            timeout.saturating_add(self.config.watch_grace)
        };
        watching.open = Some(Open {
            since: now,
            deadline: now.saturating_add(silence_max),
            events: 0,
            unordered: resource_version.is_unset() || resource_version.is_any(),
        });
        WatchRequest {
            resource_version,
            version_match: streaming.then_some(VersionMatch::NotOlderThan),
            timeout: Some(timeout),
            bookmarks: true,
            send_initial_events: streaming,
        }
    }

    /// The server accepted the watch.
    pub fn watch_opened(&mut self, now: Duration) {
        if let State::Watching(Watching {
            open: Some(open), ..
        }) = &mut self.state
        {
            open.since = now;
        }
    }

    /// Something came through the watch.
    pub fn event(&mut self, now: Duration, event: Event<'_>) -> Verdict {
        let State::Watching(Watching {
            phase,
            open: Some(open),
        }) = &mut self.state
        else {
            return Verdict::Ignore;
        };
        open.events += 1;
        if *phase == Phase::Streaming {
            open.deadline = now.saturating_add(self.config.streaming_silence_max);
            return match event {
                Event::Bookmark {
                    version,
                    initial_events_end: true,
                } => {
                    *phase = Phase::Following;
                    open.unordered = false;
                    // From here on it is a watch like any other, of which the server knows the end.
                    let longest = self.config.watch_timeout.saturating_mul(2);
                    let longest = longest.saturating_add(self.config.watch_grace);
                    open.deadline = open.since.saturating_add(longest);
                    self.fetched(version.into());
                    Verdict::Complete
                }
                Event::Bookmark { .. } => Verdict::Ignore,
                _ => Verdict::Gather,
            };
        }
        let (version, verdict) = match event {
            Event::Added(version) => (version, Verdict::Deliver),
            Event::Modified(version)
            | Event::Deleted(version)
            | Event::Bookmark { version, .. } => {
                open.unordered = false;
                (version, Verdict::Deliver)
            }
            Event::Invalid => ("", Verdict::Ignore),
        };
        if !open.unordered && !version.is_empty() {
            self.resumes = 0;
            if self.version != *version {
                self.version = ResourceVersion::from(version);
            }
        }
        verdict
    }

    /// The watch could not be opened, or is over. Whatever was gathered is to be forgotten.
    pub fn watch_ended(&mut self, now: Duration, end: &End<'_>) -> Consequence {
        let State::Watching(watching) = &mut self.state else {
            return Consequence::Relist;
        };
        let phase = watching.phase;
        let (lasted, events) = watching.open.take().map_or((Duration::ZERO, 0), |open| {
            (now.saturating_sub(open.since), open.events)
        });
        let failed = match end {
            End::Clean => lasted < self.config.watch_min && events == 0,
            End::Failed(_) | End::Silent => true,
        };
        let healthy = lasted >= self.config.healthy_after && phase == Phase::Following;
        if healthy {
            self.failures = 0;
        }
        if phase == Phase::Streaming {
            return self.streaming_ended(now, end, failed);
        }
        if !failed {
            return Consequence::Resume;
        }
        let error = match end {
            End::Failed(error) => Some(*error),
            End::Clean | End::Silent => None,
        };
        if error.is_some_and(FetchError::is_version_unavailable) {
            if !healthy {
                self.pause(now, error);
            }
            self.resumes = 0;
            self.state = State::Fetch;
            return Consequence::Relist;
        }
        if error.is_some_and(FetchError::is_overload) {
            // Nothing is wrong with the version, however often this happens.
            self.pause(now, error);
            return Consequence::Resume;
        }
        self.resumes += 1;
        if self.resumes >= RESUMES_MAX {
            self.fetch_again(now, error);
            return Consequence::Relist;
        }
        if !(healthy && self.resumes == 1) {
            self.pause(now, error);
        }
        Consequence::Resume
    }

    fn streaming_ended(&mut self, now: Duration, end: &End<'_>, failed: bool) -> Consequence {
        match end {
            End::Clean => {
                if failed {
                    self.pause(now, None);
                }
                Consequence::Relist
            }
            End::Silent => {
                self.state = self.begin_list();
                Consequence::FallBack
            }
            End::Failed(error) if error.is_overload() => {
                self.pause(now, Some(error));
                Consequence::Relist
            }
            End::Failed(error) if error.is_version_unavailable() => {
                self.fetch_again(now, Some(error));
                Consequence::Relist
            }
            End::Failed(error) => {
                self.streaming_refused |= matches!(error, FetchError::Invalid { .. });
                self.state = self.begin_list();
                Consequence::FallBack
            }
        }
    }
}
