//! Listing by pages: which version to name, how large pages are, and what an error means.

use std::time::Duration;

use kubist_apimachinery::{ResourceVersion, Str};
use kubist_cache::{FetchError, ListEnd, ListRequest};

use super::{Consequence, Machine, State, no_token, watch};

/// Where a paged list stands.
#[derive(Debug)]
pub(super) struct Page {
    version: ResourceVersion,
    limit: u32,
    continue_token: Str,
    /// The list began again without pages, because a token expired.
    is_whole: bool,
}

impl Page {
    pub(super) fn request(&self) -> ListRequest {
        let first = self.continue_token.is_empty();
        ListRequest {
            // A token says of itself which version it belongs to.
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
    /// Any state will do at first; later never one before the last that was seen.
    pub(super) fn first_page(&self) -> Page {
        let version = if self.version.is_unset() && !self.version_unavailable {
            ResourceVersion::any()
        } else {
            self.floor()
        };
        // A server that could answer from its cache reads its storage when asked for pages.
        let from_cache = !version.is_unset() && !version.is_any();
        let limit = if from_cache && !self.paginates {
            0
        } else {
            self.config.page_size
        };
        Page {
            version,
            limit,
            continue_token: no_token(),
            is_whole: false,
        }
    }

    /// A page is complete. True: it was the last, and what all pages had is the state; watching
    /// comes next. False: further pages follow.
    pub fn page_complete(&mut self, end: &ListEnd) -> bool {
        let State::Listing { page, sent } = &mut self.state else {
            return false;
        };
        if !end.continue_token.is_empty() {
            self.paginates |= page.version.is_any();
            page.continue_token = end.continue_token.clone();
            *sent = false;
            return false;
        }
        self.fetched(end.resource_version.clone());
        self.state = State::Watching(watch::Watching::resuming());
        true
    }

    /// A page failed. Items of earlier pages are to be forgotten.
    pub fn list_failed(&mut self, now: Duration, error: &FetchError) -> Consequence {
        if let State::Listing { page, .. } = &self.state
            && matches!(error, FetchError::Expired { .. })
            && !page.continue_token.is_empty()
            && !page.is_whole
        {
            // The pages took longer than the server keeps a version: without pages none can expire.
            let mut page = self.first_page();
            (page.limit, page.is_whole) = (0, true);
            self.state = State::Listing { page, sent: false };
            return Consequence::Relist;
        }
        let named = matches!(&self.state, State::Listing { page, .. } if !page.version.is_unset());
        if error.is_version_unavailable() && named && !self.version_unavailable {
            self.version_unavailable = true;
            self.state = self.begin_list();
        } else {
            self.pause(now, Some(error));
            self.state = State::Fetch;
        }
        Consequence::Relist
    }
}
