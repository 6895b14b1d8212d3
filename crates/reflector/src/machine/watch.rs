//! Watches and streaming lists, which are watches that begin with the state.

use super::config::{RESUMES_MAX, UNFINISHED_MAX};
use super::{Machine, Recovery, State, WatchEnd, is_before};
use kubist_apimachinery::ResourceVersion;
use kubist_cache::{FetchError, VersionMatch, WatchRequest};
use std::time::Duration;

/// A watch from its request to its end.
#[derive(Debug)]
pub(super) struct Watching {
    phase: Phase,
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The initial state arrives; the annotated bookmark completes it.
    Streaming,
    /// Changes arrive.
    Following,
}

/// A requested watch.
#[derive(Debug)]
struct Open {
    since: Duration,
    deadline: Duration,
    /// When the server should have ended it.
    timeout: Duration,
    /// The requested version.
    floor: ResourceVersion,
    events: u64,
    /// Whether it advanced the version or delivered an event, so that a resumed watch continues
    /// from there.
    progressed: bool,
    /// Whether it delivered an event for an unknown object.
    lost: bool,
    /// The watch began at no particular version: until an event other than `Added` arrives,
    /// versions are those of existing objects, in no order.
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

/// A watch event, as far as the machine needs it.
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
        /// Whether the initial state is complete.
        initial_events_end: bool,
    },
    /// An event without a change that could not be decoded.
    Nothing,
    /// An event whose object and type could not be determined. When this watch ends, the state is
    /// listed again.
    Lost,
}

/// What to do with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum EventAction {
    /// Buffer it: the state is not complete yet.
    Buffer,
    /// The buffered state is complete, at [`Machine::version`].
    Complete,
    /// The buffered state is older than the requested version: discard it and close the watch. The
    /// newest state will be requested.
    Stale,
    /// Deliver it.
    Deliver,
    /// Ignore it.
    Ignore,
}

/// The outcome of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a driver reads both")]
pub struct WatchOutcome {
    /// The next step.
    pub recovery: Recovery,
    /// Whether the watch failed.
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

    /// Reports that the server accepted the watch.
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
        self.not_served = None;
    }

    /// Reports a watch event.
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
                // From here on it is an ordinary watch, whose end the server determines.
                open.deadline = open.end_at(self.config.watch_grace);
                self.fetched(version);
                self.unfinished = 0;
                EventAction::Complete
            }
            // It says nothing about the state: the server may not support the request.
            Event::Bookmark { .. } | Event::Nothing => EventAction::Ignore,
            Event::Added(_) | Event::Lost => {
                open.deadline = now.saturating_add(self.config.streaming_silence_max);
                EventAction::Buffer
            }
            Event::Modified(_) | Event::Deleted(_) => EventAction::Buffer,
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

    /// Reports that the watch could not be opened, or ended. Buffered objects must be discarded.
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

    /// Fetches the state after an event for an unknown object.
    fn find_lost(&mut self, now: Duration, healthy: bool) -> Recovery {
        if !healthy {
            self.pause(now, None);
        }
        self.state = State::Fetch;
        Recovery::Relist
    }

    /// Resumes a watch that delivered something and ended without an error: the first at once,
    /// later ones at most every [`Config::watch_min`](super::Config::watch_min).
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
        // An overloaded server does not mean that the version is invalid.
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
    /// Reports whether the stream ended or was cut without an error of the server.
    fn is_of_the_connection(&self) -> bool {
        matches!(
            self,
            WatchEnd::Clean | WatchEnd::Failed(FetchError::Connection { .. })
        )
    }
}

impl Open {
    /// Returns the latest time at which the server should have ended it.
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
