//! One stream of a watch, to one member.

use crate::engine::Shared;
use crate::member::Member;
use crate::refusal::Refusal;
use crate::translate::{LOWEST_KEY, bounds, number};
use futures_util::stream::unfold;
use kubist_etcd_api::{self as api, WatchCreateRequest, WatchRequestUnion, WatchResponse};
use kubist_storage::{Revision, WatchRangeRequest};
use std::sync::Arc;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::{Instant, timeout_at};
use tonic::{Status, Streaming};

/// Limit of pending progress requests. A pending one serves all callers.
const PROGRESS_REQUESTS_MAX: usize = 4;

pub(super) struct Stream {
    member: Arc<Member>,
    responses: Streaming<WatchResponse>,
    /// Dropping it ends the watch at etcd.
    requests: Sender<api::WatchRequest>,
    progress_is_safe: bool,
    /// A response that came with the creation.
    first: Option<WatchResponse>,
}

/// Why a stream ended.
pub(super) enum StreamEnd {
    /// Canceled by etcd because history below this revision was compacted.
    Compacted(i64),
    /// It ended without a reason.
    Quietly,
    Refused(Refusal),
}

impl Stream {
    /// Opens a stream; returns when the member has created the watch.
    pub(super) async fn open(
        shared: &Shared,
        request: &WatchRangeRequest,
        from: Revision,
        deadline: Instant,
    ) -> Result<Self, StreamEnd> {
        let member = shared.cluster.member();
        let opening = Self::open_at(shared, Arc::clone(&member), request, from);
        let opened = match timeout_at(deadline.min(shared.cluster.deadline()), opening).await {
            Ok(opened) => opened,
            Err(_) => Err(StreamEnd::Refused(Refusal::deadline())),
        };
        if let Err(ended) = &opened
            && ended.blames_member()
        {
            shared.cluster.leave(&member);
        }
        opened
    }

    async fn open_at(
        shared: &Shared,
        member: Arc<Member>,
        request: &WatchRangeRequest,
        from: Revision,
    ) -> Result<Self, StreamEnd> {
        let progress_is_safe = shared.cluster.progress_is_safe(&member).await;
        let (requests, queue) = mpsc::channel(PROGRESS_REQUESTS_MAX);
        let create = api::WatchRequest {
            request: Some(WatchRequestUnion::Create(create(request, from))),
        };
        drop(requests.try_send(create)); // The channel is empty.
        let queue = unfold(queue, |mut queue| async {
            let ask = queue.recv().await?;
            Some((ask, queue))
        });
        let responses = member.watch(queue).await.map_err(StreamEnd::of)?;
        let mut stream = Self {
            member,
            responses,
            requests,
            progress_is_safe,
            first: None,
        };
        let created = stream.next().await?;
        if !created.created {
            stream.first = Some(created);
        }
        Ok(stream)
    }

    /// Returns the next response that is not the end.
    ///
    /// Cancel safety: dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<WatchResponse, StreamEnd> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        let response = match self.responses.message().await {
            Ok(Some(response)) => response,
            Ok(None) => return Err(StreamEnd::Quietly),
            Err(status) => return Err(StreamEnd::of(status)),
        };
        if response.compact_revision > 0 {
            return Err(StreamEnd::Compacted(response.compact_revision));
        }
        if response.canceled {
            let reason = Refusal::of_reason(&response.cancel_reason);
            return Err(StreamEnd::Refused(reason));
        }
        Ok(response)
    }

    pub(super) fn member(&self) -> &Arc<Member> {
        &self.member
    }

    /// Returns the sender for progress requests, where the responses can be trusted.
    pub(super) fn progress_asks(&self) -> Option<&Sender<api::WatchRequest>> {
        self.progress_is_safe.then_some(&self.requests)
    }
}

impl StreamEnd {
    fn of(status: Status) -> Self {
        Self::Refused(Refusal::of(status))
    }

    /// Reports whether to switch to another member.
    pub(super) fn blames_member(&self) -> bool {
        match self {
            Self::Compacted(_) => false,
            Self::Quietly => true,
            Self::Refused(refusal) => refusal.blames_member(),
        }
    }
}

fn create(request: &WatchRangeRequest, from: Revision) -> WatchCreateRequest {
    // For an empty range an arbitrary key is watched, and its events are not delivered.
    let nothing = || (LOWEST_KEY, Default::default());
    let (key, range_end) = bounds(&request.range).unwrap_or_else(nothing);
    WatchCreateRequest {
        key,
        range_end,
        start_revision: number(from),
        progress_notify: request.progress,
        prev_kv: request.previous,
        ..WatchCreateRequest::default()
    }
}
