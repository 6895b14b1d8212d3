//! Paged lists: the requested version, the page size, and the handling of errors.

use super::config::PAGE_SIZE;
use super::{Machine, Recovery, State, is_before, watch};
use kubist_apimachinery::{ResourceVersion, Str};
use kubist_cache::{FetchError, ListEnd, ListRequest};
use std::time::Duration;

/// The state of a paged list.
#[derive(Debug)]
pub(super) struct Page {
    version: ResourceVersion,
    limit: u32,
    continue_token: Str,
    /// The list was restarted without pages, because a token expired.
    is_whole: bool,
    /// When to give up, once it was requested.
    pub(super) deadline: Option<Duration>,
}

/// The outcome of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum PageEnd {
    /// Further pages follow.
    More,
    /// It was the last page and the state is complete; a watch is next.
    Complete,
    /// The list is older than the requested version. Discard the buffered objects; the newest state
    /// will be requested.
    Stale,
}

impl Page {
    pub(super) fn request(&self) -> ListRequest {
        let first = self.continue_token.is_empty();
        ListRequest {
            // A token contains its version.
            resource_version: if first {
                self.version.clone()
            } else {
                ResourceVersion::default()
            },
            version_match: None,
            limit: self.limit,
            continue_token: self.continue_token.clone(),
        }
    }
}

impl Machine {
    /// Any state is acceptable at first; later none that is older than the last version.
    pub(super) fn first_page(&self) -> Page {
        let version = if self.version.is_unset() && !self.version_unavailable {
            ResourceVersion::any()
        } else {
            self.floor()
        };
        // A server that could answer from its cache reads its storage if pages are requested.
        let from_cache = !version.is_unset() && !version.is_any();
        let limit = match self.config.page_size {
            Some(size) => size,
            None if from_cache && !self.paginates => 0,
            None => PAGE_SIZE,
        };
        Page {
            version,
            limit,
            continue_token: Str::default(),
            is_whole: false,
            deadline: None,
        }
    }

    /// Reports that a part of the list arrived.
    pub fn list_goes_on(&mut self, now: Duration) {
        let deadline = now.saturating_add(self.config.answer_max);
        if let State::Listing(page) = &mut self.state {
            page.deadline = Some(deadline);
        }
    }

    /// Reports that a page is complete.
    pub fn page_complete(&mut self, end: &ListEnd) -> PageEnd {
        let State::Listing(page) = &mut self.state else {
            return PageEnd::More;
        };
        if !end.continue_token.is_empty() {
            self.paginates |= page.version.is_any();
            page.continue_token = end.continue_token.clone();
            page.deadline = None;
            return PageEnd::More;
        }
        if is_before(&end.resource_version, &page.version) {
            self.version_unavailable = true;
            self.state = self.begin_list();
            return PageEnd::Stale;
        }
        // The server accepts the list but not the stream, so it does not support streaming lists.
        self.streaming_refused |= std::mem::take(&mut self.streaming_suspected);
        self.fetched(end.resource_version.clone());
        self.state = State::Watching(watch::Watching::resuming());
        PageEnd::Complete
    }

    /// Reports that a page failed. The objects of earlier pages must be discarded.
    pub fn list_failed(&mut self, now: Duration, error: &FetchError) -> Recovery {
        self.streaming_suspected = false;
        if matches!(error, FetchError::NotServed { .. }) {
            return self.note_not_served(now);
        }
        let State::Listing(page) = &self.state else {
            return Recovery::Relist;
        };
        let expired = matches!(error, FetchError::Expired { .. });
        if expired && !page.continue_token.is_empty() && !page.is_whole {
            // The pages took longer than the server keeps a version; a list without pages cannot
            // expire.
            let mut page = self.first_page();
            (page.limit, page.is_whole) = (0, true);
            self.state = State::Listing(page);
            return Recovery::Relist;
        }
        let named = !page.version.is_unset();
        if error.is_version_unavailable() && named && !self.version_unavailable {
            self.version_unavailable = true;
            self.state = self.begin_list();
        } else {
            self.pause(now, Some(error));
            self.state = State::Fetch;
        }
        Recovery::Relist
    }

    /// Reports that nothing of the list arrived before the deadline.
    pub fn list_silent(&mut self, now: Duration) -> Recovery {
        self.streaming_suspected = false;
        self.pause(now, None);
        self.state = State::Fetch;
        Recovery::Relist
    }
}
