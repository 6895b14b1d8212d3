//! Where a watch begins.

use super::{INITIAL_PAGE, Initial, State};
use crate::raw::{RawStorage, parse_version};
use crate::storage_error::StorageError;
use kubist_apimachinery::{ListOptions, Status, WatchPosition};
use kubist_storage::{
    KeyRange, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchRequest,
};

/// The first state of a watch.
pub(super) struct Begin {
    pub(super) state: State,
    /// Everything up to here needs no delivery.
    pub(super) revision: u64,
}

/// Works out where to begin. Errors of the options are errors here; what upstream finds out
/// later comes as the stream's only event.
pub(super) async fn begin(
    raw: &RawStorage,
    range: Option<&KeyRange>,
    options: &ListOptions,
) -> Result<Begin, Status> {
    let position = options
        .watch_position()
        .map_err(|error| error.to_status())?;
    let version = match &position {
        WatchPosition::Initial { not_older_than, .. } => parse_version(not_older_than)?,
        WatchPosition::After(version) => parse_version(version)?,
        WatchPosition::MostRecent | WatchPosition::Any => 0,
    };
    let head = raw.revision().await.map_err(|error| unavailable(&error))?;
    let empty = || KeyRange::between("", "");
    let range = range.cloned().unwrap_or_else(empty);
    let state = match position {
        WatchPosition::Initial { end_bookmark, .. } if version <= head => State::Initial(Initial {
            revision: head,
            rest: range,
            end_bookmark,
        }),
        WatchPosition::Initial { .. } => {
            let status = Status::too_large_resource_version(version, head, 1);
            State::Failed(Box::new(status))
        }
        WatchPosition::After(_) => live(raw, range, Some(version)).await,
        WatchPosition::MostRecent | WatchPosition::Any => live(raw, range, Some(head)).await,
    };
    Ok(Begin {
        state,
        revision: head,
    })
}

async fn live(raw: &RawStorage, range: KeyRange, after: Option<u64>) -> State {
    match follow(raw, range, after).await {
        Ok(watch) => State::Live(watch),
        Err(status) => State::Failed(Box::new(status)),
    }
}

/// The engine's events after a revision.
pub(super) async fn follow(
    raw: &RawStorage,
    range: KeyRange,
    after: Option<u64>,
) -> Result<Watch, Status> {
    let mut request = WatchRequest::new(range).previous();
    request.from = after.map(|revision| Revision(revision).next());
    raw.kv
        .watch(request)
        .await
        .map_err(|error| super::failure(&error))
}

/// One page of what exists at a revision.
pub(super) async fn page(
    raw: &RawStorage,
    rest: KeyRange,
    revision: u64,
) -> Result<RangeResponse, Status> {
    let request = RangeRequest::new(rest)
        .at(Revision(revision))
        .limit(INITIAL_PAGE);
    raw.kv.range(request).await.map_err(|error| match error {
        ReadError::Compacted {
            requested,
            compacted,
        } => Status::too_old_resource_version(requested.0, compacted.0),
        other => unavailable(&other.into()),
    })
}

fn unavailable(error: &StorageError) -> Status {
    Status::internal_error(error)
}
