//! Decides which lists the cache serves, and which go to storage. Pure.
//!
//! | version | match | limit | continue | answered by |
//! |---|---|---|---|---|
//! | unset | | any | | the cache, once it is as new as storage; storage, if that takes too long |
//! | 0 | | ignored | | the cache, as it is |
//! | N | none, `NotOlderThan` | none | | the cache, once it is at N |
//! | N | `Exact`, or none with a limit | any | | the cache, if it has that state; else storage |
//! | unset, 0 | | any | at N | the cache, if it has that state; else storage |
//! | unset, 0 | | any | at the newest | as unset |
//!
//! If the engine reports no progress, storage serves all but version 0.
//!
//! Storage serves reads of one object at an exact version. While the cache is not ready, lists of
//! an exact state, and lists with a limit and no selectors, go to storage; others are rejected.

use crate::storage::ListRequest;
use crate::storage::continue_token::ContinueToken;
use crate::storage::list::list_version;
use kubist_apimachinery::{ListPosition, Status};

/// The source that serves a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSource {
    /// Storage.
    Storage,
    /// The cache in its current state.
    Any,
    /// The cache, once it is as new as storage.
    MostRecent,
    /// The cache, once it is at this revision.
    NotOlderThan(u64),
    /// The cache, if it has this state.
    Exact(u64),
}

/// Returns the source that serves a list. 400 for an invalid version or token.
pub(super) fn of_list(
    position: &ListPosition,
    request: &ListRequest<'_>,
) -> Result<ListSource, Status> {
    let exact = |revision| {
        if request.is_single() {
            ListSource::Storage
        } else {
            ListSource::Exact(revision)
        }
    };
    Ok(match position {
        ListPosition::Any => ListSource::Any,
        ListPosition::MostRecent => ListSource::MostRecent,
        ListPosition::NotOlderThan(version) => ListSource::NotOlderThan(list_version(version)?),
        ListPosition::Exact { version, .. } => exact(list_version(version)?),
        ListPosition::Continue(token) => match ContinueToken::decode(token)?.revision {
            Some(revision) => exact(revision),
            None => ListSource::MostRecent,
        },
    })
}

/// Reports whether storage serves the list while the cache is not ready.
pub(super) fn without_cache(list_source: ListSource, request: &ListRequest<'_>) -> bool {
    match list_source {
        ListSource::Storage | ListSource::Exact(_) => true,
        ListSource::Any | ListSource::MostRecent | ListSource::NotOlderThan(_) => {
            request.options.limit > 0 && request.predicate.is_everything()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Scope;
    use crate::storage::predicate::Predicate;
    use crate::strategy::PlainStrategy;
    use kubist_apimachinery::{GroupResource, ListOptions};
    use std::sync::Arc;

    fn rule(query: &str, name: Option<&str>) -> (Result<ListSource, i32>, bool) {
        let pairs = query.split('&').filter_map(|it| it.split_once('='));
        let options = ListOptions::from_query(pairs).expect("a valid query");
        let strategy = Arc::new(PlainStrategy::default());
        let (labels, fields) = (&options.label_selector, &options.field_selector);
        let predicate = Predicate::new(labels.clone(), fields.clone(), strategy).expect("known");
        let request = ListRequest {
            resource: &GroupResource::new("", "pods"),
            scope: Scope {
                namespace: "ns",
                name,
            },
            predicate: &predicate,
            options: &options,
        };
        let position = crate::storage::list::position(&options).expect("valid options");
        let list_source = of_list(&position, &request).map_err(|it| it.code);
        let without = list_source.is_ok_and(|it| without_cache(it, &request));
        (list_source, without)
    }

    #[test]
    fn every_combination_of_options_has_its_answer() {
        let token = |revision| {
            let start = "a\0".to_owned();
            format!("continue={}", ContinueToken { revision, start }.encode())
        };
        let (at_seven, newest) = (token(Some(7)), token(None));
        for (version, without_limit, with_limit) in [
            ("", ListSource::MostRecent, ListSource::MostRecent),
            ("resourceVersion=0", ListSource::Any, ListSource::Any),
            (
                "resourceVersion=0&resourceVersionMatch=NotOlderThan",
                ListSource::Any,
                ListSource::Any,
            ),
            (
                "resourceVersion=7",
                ListSource::NotOlderThan(7),
                ListSource::Exact(7),
            ),
            (
                "resourceVersion=7&resourceVersionMatch=NotOlderThan",
                ListSource::NotOlderThan(7),
                ListSource::NotOlderThan(7),
            ),
            (
                "resourceVersion=7&resourceVersionMatch=Exact",
                ListSource::Exact(7),
                ListSource::Exact(7),
            ),
            (
                at_seven.as_str(),
                ListSource::Exact(7),
                ListSource::Exact(7),
            ),
            (
                newest.as_str(),
                ListSource::MostRecent,
                ListSource::MostRecent,
            ),
        ] {
            for (limit, expected) in [("", without_limit), ("&limit=5", with_limit)] {
                for selector in ["", "&labelSelector=a=b", "&fieldSelector=metadata.name!=x"] {
                    let query = format!("{version}{limit}{selector}");
                    let exact = matches!(expected, ListSource::Exact(_));
                    let plain = !limit.is_empty() && selector.is_empty();
                    assert_eq!(
                        rule(&query, None),
                        (Ok(expected), exact || plain),
                        "{query}"
                    );
                }
                let single = match expected {
                    ListSource::Exact(_) => ListSource::Storage,
                    other => other,
                };
                let query = format!("{version}{limit}");
                assert_eq!(rule(&query, Some("a")).0, Ok(single), "{query}");
                let query = format!("{query}&fieldSelector=metadata.name=a");
                assert_eq!(rule(&query, None).0, Ok(single), "{query}");
            }
        }
    }

    #[test]
    fn invalid_versions_and_tokens_are_rejected() {
        assert_eq!(rule("resourceVersion=x", None).0, Err(400));
        assert_eq!(rule("continue=x", None).0, Err(400));
    }
}
