//! A watch: a stream to one member, resumed on another when it breaks.
//!
//! It resumes at the revision after the last one delivered, so nothing is lost or repeated. It ends
//! if that revision was compacted, or if it cannot be resumed in time.

mod progress;
mod stream;

use self::progress::ProgressSender;
use self::stream::{Stream, StreamEnd};
use crate::cluster::Pauses;
use crate::engine::Shared;
use crate::refusal::Refusal;
use crate::translate::{event, head, revision};
use futures_util::stream::unfold;
use kubist_etcd_api as api;
use kubist_storage::{Event, Fault, FaultKind, ReadError, Revision, Watch, WatchBatch};
use kubist_storage::{WatchError, WatchRangeRequest};
use std::sync::Arc;
use tokio::time::Instant;

/// Starts a watch that sees every write acknowledged after this returns.
pub(crate) async fn start(
    shared: Arc<Shared>,
    request: WatchRangeRequest,
) -> Result<Watch, WatchError> {
    let next = match request.from {
        // Zero means before all history; to etcd it means from now on.
        Some(from) => from.max(Revision::EMPTY_STORE),
        // The current revision of that member may be behind the cluster's.
        None => shared.revision().await.map_err(watch_error)?.next(),
    };
    let asker = Arc::new(ProgressSender::default());
    let mut follower = Follower {
        deadline: shared.cluster.deadline(),
        asker: Arc::clone(&asker),
        stream: None,
        ended: false,
        shared,
        request,
        next,
    };
    follower.open().await?;
    let batches = unfold(follower, |mut follower| async {
        let item = follower.item().await?;
        Some((item, follower))
    });
    Ok(Watch::new(batches, move || asker.ask()))
}

struct Follower {
    shared: Arc<Shared>,
    request: WatchRangeRequest,
    /// The next revision to deliver.
    next: Revision,
    /// `None` while the watch is interrupted.
    stream: Option<Stream>,
    /// Deadline for an interrupted watch to resume.
    deadline: Instant,
    asker: Arc<ProgressSender>,
    ended: bool,
}

impl Follower {
    /// Returns the next item; `None` after the end.
    async fn item(&mut self) -> Option<Result<WatchBatch, WatchError>> {
        if self.ended {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let item = tokio::select! {
            biased;
            () = shared.closed() => Err(WatchError::Closed),
            item = self.batch() => item,
        };
        if item.is_err() {
            self.ended = true;
            self.stream = None;
            self.asker.forget();
        }
        Some(item)
    }

    async fn batch(&mut self) -> Result<WatchBatch, WatchError> {
        loop {
            let Some(stream) = &mut self.stream else {
                self.open().await?;
                continue;
            };
            match stream.next().await {
                Ok(response) => {
                    if let Some(batch) = self.take(response) {
                        return Ok(batch);
                    }
                }
                Err(ended) => self.broke(ended)?,
            }
        }
    }

    /// Opens a stream at `next`, on any member.
    async fn open(&mut self) -> Result<(), WatchError> {
        let mut pauses = Pauses::until(self.deadline);
        let mut before = None;
        loop {
            let opened = Stream::open(&self.shared, &self.request, self.next, self.deadline);
            match opened.await {
                Ok(stream) => {
                    self.asker.switch_to(&stream);
                    self.stream = Some(stream);
                    return Ok(());
                }
                Err(ended) => {
                    let ended = match ended {
                        StreamEnd::Refused(refusal) if self.deadline <= Instant::now() => {
                            StreamEnd::Refused(refusal.cut_after(before.take()))
                        }
                        ended => ended,
                    };
                    let fault = self.fault(ended)?;
                    if !pauses.wait().await {
                        return Err(fault.into());
                    }
                    before = Some(fault);
                }
            }
        }
    }

    /// The stream ended: so does the watch, or it has until the deadline to resume.
    fn broke(&mut self, ended: StreamEnd) -> Result<(), WatchError> {
        if let Some(stream) = self.stream.take()
            && ended.blames_member()
        {
            self.shared.cluster.leave(stream.member());
        }
        self.deadline = Instant::now() + self.shared.config.resume_timeout;
        let fault = self.fault(ended)?;
        tracing::debug!(%fault, next = self.next.0, "a watch broke and is taken up again");
        Ok(())
    }

    /// Returns why a stream ended if the watch can resume, or why the watch ends.
    fn fault(&self, ended: StreamEnd) -> Result<Fault, WatchError> {
        match ended {
            StreamEnd::Compacted(compacted) => {
                let compacted = revision(compacted);
                self.shared.note_compacted(compacted);
                Err(WatchError::Compacted {
                    requested: self.next,
                    compacted,
                })
            }
            StreamEnd::Refused(refusal) => {
                let deadline = self.deadline <= Instant::now();
                let transient = refusal.blames_member() && !deadline;
                let fault = refusal.into_fault();
                if transient {
                    Ok(fault)
                } else {
                    Err(fault.into())
                }
            }
            StreamEnd::Quietly => {
                let why = "etcd ended the stream";
                Ok(Fault::new(FaultKind::Unavailable, why))
            }
        }
    }

    /// Converts a response to a batch; `None` if there is nothing to deliver.
    fn take(&mut self, response: api::WatchResponse) -> Option<WatchBatch> {
        if response.events.is_empty() {
            let revision = head(response.header.as_ref());
            if response.created || revision.next() < self.next {
                return None; // Behind what was delivered, or where the watch begins.
            }
            self.next = revision.next();
            return Some(WatchBatch {
                revision,
                events: Vec::new(),
            });
        }
        let events: Vec<Arc<Event>> = response
            .events
            .into_iter()
            .filter_map(event)
            .filter(|it| it.revision >= self.next && self.request.range.contains(&it.key))
            .collect();
        let revision = events.last()?.revision;
        self.next = revision.next();
        Some(WatchBatch { revision, events })
    }
}

fn watch_error(error: ReadError) -> WatchError {
    match error {
        ReadError::Closed => WatchError::Closed,
        ReadError::Fault(fault) => fault.into(),
        other => Refusal::unexpected(&other).into(),
    }
}
