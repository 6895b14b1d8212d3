//! `WatchStream`: the requests and responses of one stream.
//!
//! A response of progress for the whole stream is sent once every watch has delivered all events up
//! to the revision of the request.

use super::open::{Open, Wishes, range_of};
use crate::header::number;
use crate::refusal;
use crate::service::Etcd;
use futures_util::stream::{BoxStream, SelectAll, StreamExt as _, abortable};
use kubist_etcd_api as api;
use kubist_etcd_api::WatchRequestUnion;
use kubist_storage::{Revision, WatchBatch, WatchError};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use tonic::{Status, Streaming};

/// The id of responses that are of no watch, or of all.
const NO_WATCH: i64 = -1;

/// A batch of a watch, or its end.
type Batch = (i64, Result<WatchBatch, WatchError>);

pub(super) struct WatchStream {
    etcd: Etcd,
    requests: Streaming<api::WatchRequest>,
    open: BTreeMap<i64, Open>,
    batches: SelectAll<BoxStream<'static, Batch>>,
    /// Responses to send; few, because nothing is asked for while there are any.
    out: VecDeque<api::WatchResponse>,
    last_id: i64,
    /// The revision whose progress was requested.
    progress: Option<Revision>,
    /// Whether progress was requested again meanwhile.
    again: bool,
    ended: bool,
}

impl WatchStream {
    pub(super) fn new(etcd: Etcd, requests: Streaming<api::WatchRequest>) -> Self {
        Self {
            etcd,
            requests,
            open: BTreeMap::new(),
            batches: SelectAll::new(),
            out: VecDeque::new(),
            last_id: 0,
            progress: None,
            again: false,
            ended: false,
        }
    }

    /// Returns the next response; `None` after the end.
    pub(super) async fn next(&mut self) -> Option<Result<api::WatchResponse, Status>> {
        while !self.ended {
            if let Some(response) = self.out.pop_front() {
                return Some(Ok(response));
            }
            if let Err(status) = self.step().await {
                self.ended = true;
                return Some(Err(status));
            }
        }
        None
    }

    async fn step(&mut self) -> Result<(), Status> {
        tokio::select! {
            request = self.requests.message() => match request?.map(|it| it.request) {
                Some(Some(WatchRequestUnion::Create(create))) => self.create(create).await,
                Some(Some(WatchRequestUnion::Cancel(cancel))) => self.cancel(cancel.watch_id).await,
                Some(Some(WatchRequestUnion::Progress(_))) => self.request_progress().await,
                // etcd ignores a request of a kind that it does not know.
                Some(None) => Ok(()),
                None => {
                    self.ended = true;
                    Ok(())
                }
            },
            Some((id, batch)) = self.batches.next(), if !self.batches.is_empty() => match batch {
                Ok(batch) => {
                    self.deliver(id, &batch);
                    self.answer_progress().await
                }
                Err(error) => self.end(id, error).await,
            },
        }
    }

    async fn create(&mut self, request: api::WatchCreateRequest) -> Result<(), Status> {
        let revision = current_revision(&self.etcd).await?;
        let wishes = Wishes::of(&request);
        let taken = self.open.contains_key(&request.watch_id);
        let Some(range) = range_of(&request) else {
            return self.refuse(revision, "mvcc: watcher range is empty");
        };
        if taken {
            let why = "mvcc: duplicate watch ID provided on the WatchStream";
            return self.refuse(revision, why);
        }
        if self.open.len() >= self.etcd.config().stream_watches_max {
            return self.refuse(revision, "too many watches on the stream");
        }
        let id = match request.watch_id {
            0 | NO_WATCH => self.free_id(),
            id => id,
        };
        // The revision of the response, not a later one: a client that has seen nothing else
        // resumes after it.
        let from = match u64::try_from(request.start_revision) {
            Ok(from) if from > 0 => Revision(from),
            _ => revision.next(),
        };
        let watch = self.etcd.kv().watch(wishes.request(range, from)).await;
        let watch = watch.map_err(refusal::of_watch)?;
        let progress = watch.progress_requester();
        let (watch, abort) = abortable(watch);
        let open = Open::new(self.etcd.clone(), wishes, (progress, abort), from);
        self.open.insert(id, open);
        self.batches
            .push(watch.map(move |batch| (id, batch)).boxed());
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(revision)),
            watch_id: id,
            created: true,
            ..api::WatchResponse::default()
        });
        Ok(())
    }

    /// A creation that is refused is answered as created and canceled.
    #[expect(clippy::unnecessary_wraps, reason = "the outcome of a request")]
    fn refuse(&mut self, revision: Revision, why: &str) -> Result<(), Status> {
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(revision)),
            watch_id: NO_WATCH,
            created: true,
            canceled: true,
            cancel_reason: why.to_owned(),
            ..api::WatchResponse::default()
        });
        Ok(())
    }

    async fn cancel(&mut self, id: i64) -> Result<(), Status> {
        // etcd does not answer for a watch that does not exist.
        if self.open.remove(&id).is_none() {
            return Ok(());
        }
        let revision = current_revision(&self.etcd).await?;
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(revision)),
            watch_id: id,
            canceled: true,
            ..api::WatchResponse::default()
        });
        self.answer_progress().await
    }

    fn deliver(&mut self, id: i64, batch: &WatchBatch) {
        let Some(open) = self.open.get_mut(&id) else {
            return;
        };
        open.reached = open.reached.max(batch.revision);
        let events: Vec<_> = batch
            .events
            .iter()
            .filter_map(|it| open.wishes.event(it))
            .collect();
        let sent = events.len() as u64;
        self.etcd
            .counters()
            .events
            .fetch_add(sent, Ordering::Relaxed);
        let is_notification =
            batch.is_progress() && open.wishes.progress && self.progress.is_none();
        if events.is_empty() && !is_notification {
            return;
        }
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(batch.revision)),
            watch_id: id,
            events,
            ..api::WatchResponse::default()
        });
    }

    async fn end(&mut self, id: i64, error: WatchError) -> Result<(), Status> {
        let WatchError::Compacted { compacted, .. } = error else {
            return Err(refusal::of_watch(error));
        };
        self.open.remove(&id);
        let revision = current_revision(&self.etcd).await?;
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(revision)),
            watch_id: id,
            canceled: true,
            compact_revision: number(compacted),
            cancel_reason: refusal::COMPACTED.to_owned(),
            ..api::WatchResponse::default()
        });
        self.answer_progress().await
    }

    async fn request_progress(&mut self) -> Result<(), Status> {
        if self.progress.is_some() {
            self.again = true;
            return Ok(());
        }
        let revision = current_revision(&self.etcd).await?;
        self.progress = Some(revision);
        for open in self.open.values().filter(|it| it.reached < revision) {
            open.progress.request();
        }
        self.answer_progress().await
    }

    /// Answers a request for progress once all watches are there.
    async fn answer_progress(&mut self) -> Result<(), Status> {
        let Some(revision) = self.progress else {
            return Ok(());
        };
        if self.open.values().any(|it| it.reached < revision) {
            return Ok(());
        }
        self.progress = None;
        self.out.push_back(api::WatchResponse {
            header: Some(self.etcd.header(revision)),
            watch_id: NO_WATCH,
            ..api::WatchResponse::default()
        });
        if std::mem::take(&mut self.again) {
            return Box::pin(self.request_progress()).await;
        }
        Ok(())
    }

    fn free_id(&mut self) -> i64 {
        loop {
            self.last_id = self.last_id.wrapping_add(1).max(1);
            if !self.open.contains_key(&self.last_id) {
                return self.last_id;
            }
        }
    }
}

async fn current_revision(etcd: &Etcd) -> Result<Revision, Status> {
    etcd.kv().revision().await.map_err(refusal::of_read)
}
