//! The start of a watch.

use super::{INITIAL_PAGE, Initial, State};
use crate::storage::error::StorageError;
use crate::storage::list::parse_version;
use crate::storage::predicate::Predicate;
use crate::storage::reader::{Interest, RequestedState, Snapshot, WatchSource};
use crate::storage::upstream_form::kind_lacks_watch_cache_upstream;
use kubist_api::Kind;
use kubist_apimachinery::{ListOptions, ResourceVersion, Status, WatchPosition};
use kubist_storage::{KeyRange, RangeRequest, RangeResponse, ReadError, Revision};

/// The initial state of a watch.
pub(super) struct Begin {
    pub(super) state: State,
    /// Events up to this revision are not delivered.
    pub(super) revision: u64,
}

/// Determines the start of a watch. Errors of the options are returned; errors that upstream finds
/// later arrive as the stream's only event.
pub(super) async fn begin(
    source: &dyn WatchSource,
    interest: &Interest,
    options: &ListOptions,
    kind: &Kind,
) -> Result<Begin, Status> {
    let position = options
        .watch_position()
        .map_err(|error| error.to_status())?;
    source.check_ready()?;
    let requested = match &position {
        WatchPosition::Initial { not_older_than, .. } => requested(not_older_than)?,
        WatchPosition::After(version) => {
            let after = parse_version(version)?;
            return Ok(live(source, interest, after, kind).await);
        }
        WatchPosition::MostRecent => RequestedState::MostRecent,
        WatchPosition::Any => RequestedState::Any,
    };
    let WatchPosition::Initial { end_bookmark, .. } = position else {
        let head = source.head(requested).await;
        let after = head.map_err(|error| Status::internal_error(&error))?;
        return Ok(live(source, interest, after, kind).await);
    };
    Ok(match source.snapshot(requested).await {
        Ok(snapshot) => Begin {
            revision: snapshot.revision,
            state: State::Initial(Initial {
                snapshot,
                rest: interest.range.clone(),
                end_bookmark,
            }),
        },
        Err(StorageError::TooLarge { requested, current }) => {
            // As in upstream's storage and in its cache.
            let seconds = if kind_lacks_watch_cache_upstream(kind) {
                2
            } else {
                1
            };
            let status = Status::too_large_resource_version(requested, current, seconds);
            Begin {
                revision: current,
                state: State::Failed(Box::new(status)),
            }
        }
        Err(StorageError::Refused(status)) => return Err(*status),
        Err(error) => return Err(Status::internal_error(&error)),
    })
}

fn requested(version: &ResourceVersion) -> Result<RequestedState, Status> {
    Ok(match parse_version(version)? {
        0 if version.is_unset() => RequestedState::MostRecent,
        0 => RequestedState::Any,
        revision => RequestedState::NotOlderThan(revision),
    })
}

async fn live(source: &dyn WatchSource, interest: &Interest, after: u64, kind: &Kind) -> Begin {
    let state = match source.follow(interest, after, None).await {
        Ok(watch) => State::Live(watch),
        Err(error) => State::Failed(Box::new(super::failure(&error, kind))),
    };
    Begin {
        state,
        revision: after,
    }
}

/// Reads one page of the objects in a snapshot that a predicate may select.
pub(super) async fn page(
    snapshot: &Snapshot,
    predicate: &Predicate,
    rest: KeyRange,
) -> Result<RangeResponse, Status> {
    // A conversion may change what the objects are selected by.
    if predicate.conversion().is_none()
        && let Some(view) = snapshot.reader.indexed()
        && let Some(found) = view.find(predicate, &rest, Some(snapshot.revision)).await
    {
        let count = found.kvs.len();
        let mut kvs = found.kvs;
        kvs.truncate(INITIAL_PAGE);
        return Ok(RangeResponse {
            more: kvs.len() < count,
            kvs,
            count,
            revision: Revision(snapshot.revision),
        });
    }
    let request = RangeRequest::new(rest)
        .at(Revision(snapshot.revision))
        .limit(INITIAL_PAGE);
    let page = snapshot.reader.range(request).await;
    page.map_err(|error| match error {
        ReadError::Compacted {
            requested,
            compacted,
        } => Status::too_old_resource_version(requested.0, compacted.0),
        other => Status::internal_error(StorageError::from(other)),
    })
}
