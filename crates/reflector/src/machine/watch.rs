//! Watching, and streaming lists, which are watches that begin with the state.

use super::config::{RESUMES_MAX, UNFINISHED_MAX};
use super::{Machine, Recovery, State, WatchEnd, is_before};
use kubist_apimachinery::ResourceVersion;
use kubist_cache::{FetchError, VersionMatch, WatchRequest};
use std::time::Duration;

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
    /// When the server should have ended it.
    timeout: Duration,
    /// The version that was asked for.
    floor: ResourceVersion,
    events: u64,
    /// It moved the version on, or brought an event in it: whoever resumes goes on from there.
    progressed: bool,
    /// It brought an event of which nobody knows whom it was about.
    lost: bool,
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
    /// Nothing, though it could not be read.
    Nothing,
    /// Something happened, and it could not be read to whom, or what. When this watch ends the
    /// state is fetched again, which tells.
    Lost,
}

/// What to do with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum EventAction {
    /// Gather it: the state is not whole yet.
    Gather,
    /// What was list_buffer is the state, at [`Machine::version`].
    Complete,
    /// What was list_buffer is older than the version that was asked for: forget it, and close the
    /// watch. The newest state will be asked for.
    Stale,
    /// Hand it on.
    Deliver,
    /// Nothing more to do.
    Ignore,
}

/// What the end of a watch means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a driver reads both")]
pub struct WatchOutcome {
    /// What comes next.
    pub recovery: Recovery,
    /// Whether that is not how a watch should end.
    pub is_failure: bool,
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
        watching.open = Some(Open {
            since: now,
            deadline: now.saturating_add(self.config.answer_max),
            timeout,
            floor: resource_version.clone(),
            events: 0,
            progressed: false,
            lost: false,
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
        let State::Watching(Watching {
            phase,
            open: Some(open),
        }) = &mut self.state
        else {
            return;
        };
        open.since = now;
        open.deadline = match phase {
            Phase::Streaming => now.saturating_add(self.config.streaming_silence_max),
            Phase::Following => open.end_at(self.config.watch_grace),
        };
        self.not_served = false;
    }

    /// Something came through the watch.
    pub fn event(&mut self, now: Duration, event: Event<'_>) -> EventAction {
        let State::Watching(Watching {
            phase,
            open: Some(open),
        }) = &mut self.state
        else {
            return EventAction::Ignore;
        };
        open.events += 1;
        open.lost |= event == Event::Lost;
        if *phase == Phase::Following {
            return self.followed(event);
        }
        match event {
            Event::Bookmark {
                version,
                initial_events_end: true,
            } => {
                let version = ResourceVersion::from(version);
                if is_before(&version, &open.floor) {
                    self.version_unavailable = true;
                    self.state = State::Fetch;
                    return EventAction::Stale;
                }
                *phase = Phase::Following;
                open.unordered = false;
                open.progressed = true;
                // From here on it is a watch like any other, of which the server knows the end.
                open.deadline = open.end_at(self.config.watch_grace);
                self.fetched(version);
                self.unfinished = 0;
                EventAction::Complete
            }
            // Says nothing about the state: perhaps the server does not know what was asked for.
            Event::Bookmark { .. } | Event::Nothing => EventAction::Ignore,
            Event::Added(_) | Event::Lost => {
                open.deadline = now.saturating_add(self.config.streaming_silence_max);
                EventAction::Gather
            }
            Event::Modified(_) | Event::Deleted(_) => EventAction::Gather,
        }
    }

    fn followed(&mut self, event: Event<'_>) -> EventAction {
        let State::Watching(Watching {
            open: Some(open), ..
        }) = &mut self.state
        else {
            return EventAction::Ignore;
        };
        let version = match event {
            Event::Added(version) => version,
            Event::Modified(version)
            | Event::Deleted(version)
            | Event::Bookmark { version, .. } => {
                open.unordered = false;
                version
            }
            Event::Nothing => return EventAction::Ignore,
            Event::Lost => return EventAction::Deliver,
        };
        if !open.unordered && !version.is_empty() {
            open.progressed = true;
            self.resumes = 0;
            if self.version != *version {
                let version = ResourceVersion::from(version);
                if !is_before(&version, &self.version) {
                    self.version = version;
                }
            }
        }
        EventAction::Deliver
    }

    /// The watch could not be opened, or is over. Whatever was list_buffer is to be forgotten.
    pub fn watch_ended(&mut self, now: Duration, end: &WatchEnd<'_>) -> WatchOutcome {
        let State::Watching(watching) = &mut self.state else {
            return failure(Recovery::Relist);
        };
        let phase = watching.phase;
        let open = watching.open.take();
        let since = open.as_ref().map_or(now, |open| open.since);
        let events = open.as_ref().map_or(0, |open| open.events);
        let lasted = now.saturating_sub(since);
        let too_short = lasted < self.config.watch_min && events == 0;
        let is_failure = !matches!(end, WatchEnd::Clean) || too_short;
        let healthy = lasted >= self.config.healthy_after && phase == Phase::Following;
        if healthy {
            self.failures = 0;
        }
        let lost = open.as_ref().is_some_and(|open| open.lost);
        let progressed = phase == Phase::Following && open.is_some_and(|open| open.progressed);
        if progressed && end.is_of_the_connection() {
            self.resume_soon(now);
        } else if matches!(end, WatchEnd::Clean) {
            let next = since.saturating_add(self.config.watch_min);
            self.not_before = self.not_before.max(next);
        }
        if let WatchEnd::Failed(FetchError::NotServed { .. }) = end {
            return failure(self.note_not_served(now));
        }
        let recovery = match phase {
            Phase::Streaming => self.streaming_ended(now, end, too_short),
            Phase::Following if progressed && end.is_of_the_connection() => Recovery::Resume,
            Phase::Following if is_failure => self.watch_failed(now, end, healthy),
            Phase::Following => Recovery::Resume,
        };
        let recovery = if lost && recovery == Recovery::Resume {
            self.find_lost(now, healthy)
        } else {
            recovery
        };
        WatchOutcome {
            recovery,
            is_failure,
        }
    }

    /// Only a list tells what an event was about that could not be read at all.
    fn find_lost(&mut self, now: Duration, healthy: bool) -> Recovery {
        if !healthy {
            self.pause(now, None);
        }
        self.state = State::Fetch;
        Recovery::Relist
    }

    /// A watch that brought something ended without a word against it: the next may begin at once,
    /// but where each ends so, only one in [`Config::watch_min`](super::Config::watch_min).
    fn resume_soon(&mut self, now: Duration) {
        let next = self.resumed.map_or(now, |resumed| {
            now.max(resumed.saturating_add(self.config.watch_min))
        });
        self.not_before = self.not_before.max(next);
        self.resumed = Some(next);
    }

    fn watch_failed(&mut self, now: Duration, end: &WatchEnd<'_>, healthy: bool) -> Recovery {
        let error = match end {
            WatchEnd::Failed(error) => Some(*error),
            WatchEnd::Clean | WatchEnd::Silent => None,
        };
        if error.is_some_and(FetchError::is_version_unavailable) {
            if !healthy {
                self.pause(now, error);
            }
            self.resumes = 0;
            self.state = State::Fetch;
            return Recovery::Relist;
        }
        let has_window = !self.config.internal_error_retry.is_zero();
        let internal = has_window && matches!(error, Some(FetchError::Internal { .. }));
        // With an overload nothing is wrong with the version, however often it happens.
        let overload = error.is_some_and(FetchError::is_overload);
        if overload || (internal && self.internal_errors.admits(now)) {
            self.pause(now, error);
            return Recovery::Resume;
        }
        self.resumes += 1;
        if internal || self.resumes >= RESUMES_MAX {
            self.fetch_again(now, error);
            return Recovery::Relist;
        }
        if !(healthy && self.resumes == 1) {
            self.pause(now, error);
        }
        Recovery::Resume
    }

    fn streaming_ended(&mut self, now: Duration, end: &WatchEnd<'_>, too_short: bool) -> Recovery {
        match end {
            WatchEnd::Clean | WatchEnd::Silent => {
                self.unfinished += 1;
                self.streaming_refused |= self.unfinished >= UNFINISHED_MAX;
                if self.unfinished == 1 && matches!(end, WatchEnd::Clean) {
                    if too_short {
                        self.pause(now, None);
                    }
                    return Recovery::Relist;
                }
                self.state = self.begin_list();
                Recovery::FallBack
            }
            WatchEnd::Failed(error) if error.is_overload() => {
                self.pause(now, Some(error));
                Recovery::Relist
            }
            WatchEnd::Failed(error) if error.is_version_unavailable() => {
                self.fetch_again(now, Some(error));
                Recovery::Relist
            }
            WatchEnd::Failed(error) => {
                self.streaming_suspected = matches!(error, FetchError::Invalid { .. });
                self.state = self.begin_list();
                Recovery::FallBack
            }
        }
    }
}

impl WatchEnd<'_> {
    /// Whether the stream ended, or was cut, and the server said nothing of trouble.
    fn is_of_the_connection(&self) -> bool {
        matches!(
            self,
            WatchEnd::Clean | WatchEnd::Failed(FetchError::Connection { .. })
        )
    }
}

impl Open {
    /// The latest time at which the server should have ended it.
    fn end_at(&self, grace: Duration) -> Duration {
        let longest = self.timeout.saturating_add(grace);
        self.since.saturating_add(longest)
    }
}

fn failure(recovery: Recovery) -> WatchOutcome {
    WatchOutcome {
        recovery,
        is_failure: true,
    }
}
