//! `GET /storage/backup`: everything in storage at one revision, for members of `system:masters`.
//!
//! The format is that of [`kubist_storage::backup`]. Values are as stored: what is encrypted at
//! rest stays encrypted. The response is streamed page by page and may take as long as the client
//! needs. A truncated response has no end marker and is not a valid backup.

use crate::authorization::non_resource;
use crate::response::ApiResponse;
use crate::response::body::{Body, Chunks, ResponseAborted};
use bytes::Bytes;
use http::StatusCode;
use kubist_apimachinery::Status;
use kubist_registry::{Registry, User};
use kubist_storage::backup::{Snapshot, Writer};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The path.
pub(crate) const PATH: &str = "/storage/backup";
/// The media type of the answer.
const MEDIA_TYPE: &str = "application/vnd.kubist.backup";
/// Limit of concurrent backups.
pub(crate) const BACKUPS_MAX: usize = 2;

/// A backup that is being sent.
struct BackupStream {
    snapshot: Snapshot,
    writer: Writer,
    /// Bytes that are written and not sent yet.
    chunk: Vec<u8>,
    _turn: OwnedSemaphorePermit,
}

/// Streams a backup to `user`; 403 without `system:masters`, 429 if too many are in progress.
pub(crate) async fn handle(
    registry: &Registry,
    user: &User,
    turns: &Arc<Semaphore>,
) -> Result<ApiResponse, Status> {
    if !non_resource::is_master(user) {
        return Err(non_resource::forbidden(user, PATH));
    }
    let Ok(turn) = Arc::clone(turns).try_acquire_owned() else {
        let why = "other backups are in progress, please try again later";
        return Err(Status::too_many_requests(why, 1));
    };
    let snapshot = registry.snapshot().await?;
    let mut chunk = Vec::new();
    let writer = Writer::begin(snapshot.revision(), &mut chunk);
    let sending = BackupStream {
        snapshot,
        writer,
        chunk,
        _turn: turn,
    };
    let body = Body::Chunks(chunks(sending));
    let mut response = ApiResponse::new(StatusCode::OK, MEDIA_TYPE, body);
    // Not compressed: the reader can do that.
    response.streaming = true;
    Ok(response)
}

fn chunks(sending: BackupStream) -> Chunks {
    let chunks = futures_util::stream::unfold(Some(sending), |sending| async move {
        let mut sending = sending?;
        let page = match sending.snapshot.page().await {
            Ok(page) => page,
            Err(error) => {
                let status = Status::internal_error(error);
                return Some((Err(ResponseAborted(status)), None));
            }
        };
        let mut chunk = std::mem::take(&mut sending.chunk);
        if page.is_empty() {
            sending.writer.finish(&mut chunk);
            return Some((Ok(Bytes::from(chunk)), None));
        }
        for kv in page {
            sending.writer.put(&kv, &mut chunk);
        }
        Some((Ok(Bytes::from(chunk)), Some(sending)))
    });
    Box::pin(chunks)
}
