//! `ListOptions`: the options of a list or a watch.
//!
//! The fields are upstream's. Their combination is validated by conversion to a [`ListPosition`] or
//! a [`WatchPosition`], which say where to read.

mod position;

pub use position::{ListPosition, WatchPosition};

use crate::query::{OptionsError, Query, QueryPairs, push_some, push_text};
use crate::{
    FieldSelector, ParseFieldSelectorError, ParseSelectorError, ResourceVersion, Selector, Str,
};

/// The options of list, watch and deletecollection. By default everything is returned at once.
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
    /// The label selector. Default: any.
    pub label_selector: Selector,
    /// The field selector. Default: any.
    pub field_selector: FieldSelector,
    /// Whether to watch. Default: list.
    pub watch: bool,
    /// Whether the server may send bookmarks. Default: no.
    pub allow_watch_bookmarks: bool,
    /// The resource version; see `resource_version_match`. Default: unset, the most recent.
    pub resource_version: ResourceVersion,
    /// How the resource version matches: `NotOlderThan`, `Exact` or unset, the default.
    pub resource_version_match: Str,
    /// The request timeout in seconds. Default: the server's.
    pub timeout_seconds: Option<i64>,
    /// The most objects to return. 0, the default, means all.
    pub limit: i64,
    /// The continue token of the previous page. Default: none, the first page.
    pub continue_: Str,
    /// Whether a watch begins with the existing objects. Default: the server decides.
    pub send_initial_events: Option<bool>,
}

/// The selectors of a query, or why they are none.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "queries have two selectors")]
pub struct ParsedSelectors {
    /// That of `labelSelector`.
    pub labels: Result<Selector, ParseSelectorError>,
    /// That of `fieldSelector`.
    pub fields: Result<FieldSelector, ParseFieldSelectorError>,
}

/// Matches the given version or a newer one.
pub const NOT_OLDER_THAN: &str = "NotOlderThan";
/// Matches exactly the given version.
pub const EXACT: &str = "Exact";

impl ListOptions {
    /// Parses the decoded pairs of a query. Unknown keys are ignored.
    pub fn from_query<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OptionsError> {
        Self::read(&Query::new(pairs), None)
    }

    /// The same, with the selectors of the query as they were parsed before.
    pub fn from_query_with<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
        selectors: ParsedSelectors,
    ) -> Result<Self, OptionsError> {
        Self::read(&Query::new(pairs), Some(selectors))
    }

    fn read(query: &Query, selectors: Option<ParsedSelectors>) -> Result<Self, OptionsError> {
        // Upstream parses numbers before selectors and reports the first error.
        let timeout_seconds = query.number("timeoutSeconds")?;
        let limit = query.number("limit")?.unwrap_or(0);
        let (labels, fields) = match selectors {
            Some(selectors) => (selectors.labels, selectors.fields),
            None => (
                query.text("labelSelector").parse(),
                query.text("fieldSelector").parse(),
            ),
        };
        Ok(Self {
            label_selector: labels?,
            field_selector: fields?,
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

    /// Returns the options as query pairs.
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

    /// Validates the options of a list; returns where it reads.
    pub fn list_position(&self) -> Result<ListPosition, OptionsError> {
        position::list(self)
    }

    /// Validates the options of a watch; returns where it begins.
    pub fn watch_position(&self) -> Result<WatchPosition, OptionsError> {
        position::watch(self)
    }
}

#[cfg(test)]
mod tests;
