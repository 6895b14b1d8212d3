//! `ListOptions`: what a list or a watch asks for.
//!
//! The fields are upstream's. Which of them go together is checked when they become a
//! [`ListPosition`] or a [`WatchPosition`]; these say in one value where to read.

mod position;

pub use position::{ListPosition, WatchPosition};

use crate::query::{OptionsError, Query, QueryPairs, push_some, push_text};
use crate::{FieldSelector, ResourceVersion, Selector, Str};

/// Options of list, watch and deletecollection. The default asks for everything, at once.
///
/// ```
/// use kubist_apimachinery::ListOptions;
/// let options =
///     ListOptions { label_selector: "app=web".parse()?, limit: 500, ..ListOptions::default() };
/// assert_eq!(
///     options.to_query(),
///     [("labelSelector", "app=web".to_owned()), ("limit", "500".to_owned())],
/// );
/// # Ok::<(), kubist_apimachinery::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers fill it in; the API defines the fields"
)]
pub struct ListOptions {
    /// Which labels objects must have. Default: any.
    pub label_selector: Selector,
    /// Which values fields must have. Default: any.
    pub field_selector: FieldSelector,
    /// Whether to watch. Default: list.
    pub watch: bool,
    /// Whether the server may send bookmarks. Default: no.
    pub allow_watch_bookmarks: bool,
    /// From which version on; see `resource_version_match`. Default: unset, the most recent.
    pub resource_version: ResourceVersion,
    /// How the version is meant: `NotOlderThan`, `Exact` or unset, the default.
    pub resource_version_match: Str,
    /// Seconds after which the server ends the request. Default: the server's.
    pub timeout_seconds: Option<i64>,
    /// At most how many objects. 0, the default, means all.
    pub limit: i64,
    /// The token of the page before. Default: none, the first page.
    pub continue_: Str,
    /// Whether a watch begins with what is there. Default: as the server decides.
    pub send_initial_events: Option<bool>,
}

/// Not older than the version given.
pub const NOT_OLDER_THAN: &str = "NotOlderThan";
/// Exactly the version given.
pub const EXACT: &str = "Exact";

impl ListOptions {
    /// Reads the decoded pairs of a query. Unknown keys are ignored.
    pub fn from_query<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OptionsError> {
        let query = Query::new(pairs);
        // Upstream reads numbers before selectors; the first error is the answer.
        let timeout_seconds = query.number("timeoutSeconds")?;
        let limit = query.number("limit")?.unwrap_or(0);
        Ok(Self {
            label_selector: query.text("labelSelector").parse()?,
            field_selector: query.text("fieldSelector").parse()?,
            watch: query.flag("watch").unwrap_or(false),
            allow_watch_bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            resource_version: query.text("resourceVersion").into(),
            resource_version_match: query.text("resourceVersionMatch"),
            timeout_seconds,
            limit,
            continue_: query.text("continue"),
            send_initial_events: query.flag("sendInitialEvents"),
        })
    }

    /// The pairs of a query that says this.
    pub fn to_query(&self) -> QueryPairs {
        let mut pairs = QueryPairs::new();
        push_text(
            &mut pairs,
            "labelSelector",
            &self.label_selector.to_string(),
        );
        push_text(
            &mut pairs,
            "fieldSelector",
            &self.field_selector.to_string(),
        );
        push_some(&mut pairs, "watch", self.watch.then_some(true));
        push_some(
            &mut pairs,
            "allowWatchBookmarks",
            self.allow_watch_bookmarks.then_some(true),
        );
        push_text(
            &mut pairs,
            "resourceVersion",
            self.resource_version.as_str(),
        );
        push_text(
            &mut pairs,
            "resourceVersionMatch",
            &self.resource_version_match,
        );
        push_some(&mut pairs, "timeoutSeconds", self.timeout_seconds);
        push_some(&mut pairs, "limit", (self.limit != 0).then_some(self.limit));
        push_text(&mut pairs, "continue", &self.continue_);
        push_some(&mut pairs, "sendInitialEvents", self.send_initial_events);
        pairs
    }

    /// Where a list reads, or why these options are not those of a list.
    pub fn list_position(&self) -> Result<ListPosition, OptionsError> {
        position::list(self)
    }

    /// Where a watch begins, or why these options are not those of a watch.
    pub fn watch_position(&self) -> Result<WatchPosition, OptionsError> {
        position::watch(self)
    }
}

#[cfg(test)]
mod tests;
