//! GET with `watch`: streams events.
//!
//! The body is pulled: the next batch of events is encoded when HTTP has room for it, so a slow
//! client costs one batch. Errors after the first byte are `ERROR` events.

use crate::futures::async_stream::AsyncStream;
use crate::futures::poll_on_wake::PollOnWake;
use crate::handlers::call::Call;
use crate::handlers::list;
use crate::handlers::target::Target;
use crate::metrics::{Distribution, WatchMetrics};
use crate::negotiation::response_encoder::{
    ResponseEncoder, negotiated, not_acceptable, partial_json,
};
use crate::negotiation::table::{TableStyle, metadata_of};
use crate::random::Chance;
use crate::response::body::{Body, Chunks, ResponseAborted};
use crate::response::{ApiResponse, encode_status};
use crate::shutdown::Shutdown;
use bytes::Bytes;
use http::StatusCode;
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::{ListOptions, OptionsError, Status, Str, Time};
use kubist_codec::Format;
use kubist_codec::negotiate::{Offer, Transform};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};
use kubist_registry::{EventStream, Stored, WallClock, WatchEvent};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// Maximum bytes of events encoded at once; a single event always fits. This is what a client that
/// does not read costs in addition to HTTP's buffer. A client can use an HTTP/2 frame only when it
/// is complete, so over unreliable connections small frames make more progress.
const CHUNK_BYTES: usize = 8 << 10;

pub(super) async fn handle(call: Call<'_>, target: Target) -> Result<ApiResponse, Status> {
    let begun = Instant::now();
    let offer = if target.rest.kind().is_custom() {
        Offer::CUSTOM.with_watch()
    } else {
        Offer::BUILT_IN.with_watch()
    };
    let offer = call.request.offer(&offer);
    let chosen = negotiated(call.request, &offer)?;
    let options = options(call).await?;
    let timeout = match options
        .timeout_seconds
        .and_then(|it| u64::try_from(it).ok())
    {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds),
        _ => random_timeout(call.server.watch_timeout_min, &call.server.chance),
    };
    let name = Some(target.name.as_str()).filter(|name| !name.is_empty());
    let watcher = target.rest.watcher().ok_or_else(|| call.no_such_verb())?;
    let events = watcher
        .watch(call.cx, &target.namespace, name, &options, Some(timeout))
        .await?;
    let facts = target.rest.facts();
    let streams = chosen.check_stream(&offer);
    streams.map_err(|refusal| not_acceptable(&refusal))?;
    let encoder = ResponseEncoder::chosen(call.request, chosen, facts, call.cx.now())?;
    encoder.check()?;
    let listing = options.send_initial_events.unwrap_or_default().then(|| {
        let scope = scope(call, &target, &options);
        let took = call.server.metrics.watch_list(call.labels, scope);
        (begun, took)
    });
    let content_type = encoder.chosen.watch_content_type();
    let body = WatchResponse {
        events,
        encoder,
        is_first_table: true,
        deadline: PollOnWake::new(Box::pin(tokio::time::sleep(timeout))),
        closing: PollOnWake::new(Box::pin(call.server.shutdown.closed())),
        shutdown: call.server.shutdown.clone(),
        shutting_down: false,
        rounds: 0,
        waiting: Vec::new().into_iter(),
        goes_on: true,
        listing,
        clock: Arc::clone(call.server.registry.clock()),
        metrics: call
            .server
            .metrics
            .watch(facts.group, facts.version, facts.plural),
    };
    let mut response = ApiResponse::new(StatusCode::OK, content_type, Body::Chunks(body.chunks()));
    response.streaming = true;
    Ok(response)
}

/// Reads the options of a watch. For the deprecated watch paths, which need no `watch` option, they
/// are validated like those of a list, as upstream.
async fn options(call: Call<'_>) -> Result<ListOptions, Status> {
    let mut options = list::options(call).await?;
    if !options.watch {
        if let Err(error @ OptionsError::Invalid { .. }) = options.list_position() {
            return Err(error.to_status());
        }
        options.resource_version_match = Str::default();
        options.continue_ = Str::default();
    }
    Ok(options)
}

/// Returns the scope of a watch list as upstream counts it: field selectors for one object or a
/// namespace count.
fn scope(call: Call<'_>, target: &Target, options: &ListOptions) -> &'static str {
    let exact = |field| options.field_selector.exact(field).is_some();
    if !target.name.is_empty() || exact("metadata.name") {
        "resource"
    } else if !target.namespace.is_empty() || exact("metadata.namespace") {
        "namespace"
    } else {
        call.labels.scope
    }
}

/// Returns a random time between `min` and twice that, so that watches do not all end together.
fn random_timeout(min: Duration, chance: &Chance) -> Duration {
    let millis = u64::try_from(min.as_millis()).unwrap_or(u64::MAX).max(1);
    min + Duration::from_millis(chance.number() % millis)
}

/// A watch whose events are being sent.
struct WatchResponse {
    events: EventStream,
    encoder: ResponseEncoder,
    /// Whether the next table has column definitions.
    is_first_table: bool,
    deadline: PollOnWake<Pin<Box<Sleep>>>,
    closing: PollOnWake<Pin<Box<WaitForCancellationFutureOwned>>>,
    shutdown: Shutdown,
    /// Whether the deadline was set by the shutdown of the server.
    shutting_down: bool,
    /// Number of times events were awaited.
    rounds: u32,
    /// Events that did not fit into the previous chunk.
    waiting: std::vec::IntoIter<WatchEvent>,
    /// Whether more events may follow.
    goes_on: bool,
    /// Until all initial events are sent: when the watch began, and the metric for its duration.
    listing: Option<(Instant, Arc<Distribution>)>,
    /// Ages in tables refer to the time of the event.
    clock: Arc<dyn WallClock>,
    metrics: WatchMetrics,
}

/// Rounds after which the deadline is checked although there are events.
const ROUNDS_UNCHECKED: u32 = 16;

impl WatchResponse {
    fn chunks(self) -> Chunks {
        // Boxed: the stream would hold it twice.
        let mut this = Box::new(self);
        Box::pin(AsyncStream::new(async move |yielder| {
            while let Some(chunk) = this.chunk().await {
                yielder.yield_item(Ok::<_, ResponseAborted>(chunk)).await;
            }
        }))
    }

    /// Returns the next chunk of the body; `None` at the end.
    async fn chunk(&mut self) -> Option<Bytes> {
        if self.waiting.as_slice().is_empty() {
            if !self.goes_on {
                return None;
            }
            let (events, goes_on) = self.next().await?;
            self.goes_on = goes_on;
            if let Some(frame) = self.single_event(&events) {
                self.metrics.sent(frame.len());
                for event in &events {
                    self.observe_listing(event);
                }
                return Some(frame);
            }
            self.waiting = events.into_iter();
        }
        let mut chunk = Vec::new();
        self.encode(&mut chunk);
        Some(chunk.into())
    }

    /// Returns the next events, and whether more may follow; `None` at the end. Events are polled
    /// first, so that many watchers do not contend for the shutdown signal. They cannot defer the
    /// end of a watch, because the deadline is checked every few rounds.
    async fn next(&mut self) -> Option<(Vec<WatchEvent>, bool)> {
        self.rounds = self.rounds.wrapping_add(1);
        if self.rounds.is_multiple_of(ROUNDS_UNCHECKED) {
            if self.shutdown.is_closing() && !self.shutting_down {
                self.begin_shutdown();
            }
            if self.deadline.future().deadline() <= Instant::now() {
                return self.final_event();
            }
        }
        loop {
            tokio::select! {
                biased;
                events = self.events.next() => return Some((events?, true)),
                () = &mut self.closing, if !self.shutting_down => self.begin_shutdown(),
                () = &mut self.deadline => return self.final_event(),
            }
        }
    }

    /// Moves the deadline to a random time within the drain period.
    fn begin_shutdown(&mut self) {
        self.shutting_down = true;
        let end = Instant::now() + self.shutdown.watch_delay();
        let deadline = self.deadline.change();
        let end = end.min(deadline.deadline());
        deadline.as_mut().reset(end);
    }

    /// Returns the last events of a watch: at shutdown a bookmark, from which the client continues
    /// elsewhere.
    fn final_event(&self) -> Option<(Vec<WatchEvent>, bool)> {
        let bookmark = self
            .shutting_down
            .then(|| self.events.final_bookmark())
            .flatten()?;
        Some((vec![bookmark], false))
    }

    /// Encodes a single event, the common case, once for all watches with the same encoding.
    fn single_event(&self, events: &[WatchEvent]) -> Option<Bytes> {
        let [event] = events else { return None };
        let (kind, stored) = object_of(event).filter(|_| self.encoder.is_plain())?;
        let encoder = (kind, self.encoder.chosen.format);
        stored
            .frame(encoder, |out| self.plain(kind, stored, out))
            .ok()
    }

    /// Appends waiting events up to the size of a chunk. An error ends the watch.
    fn encode(&mut self, out: &mut Vec<u8>) {
        while out.len() < CHUNK_BYTES
            && let Some(event) = self.waiting.next()
        {
            let before = out.len();
            let encoded = match (&event, object_of(&event)) {
                (_, Some((kind, stored))) => self.frame(kind, stored, out),
                (WatchEvent::Error(status), None) => Err(Status::clone(status)),
                (_, None) => Ok(()),
            };
            if let Err(status) = encoded {
                self.error(&status, out);
                self.waiting = Vec::new().into_iter();
                self.goes_on = false;
                return;
            }
            self.metrics.sent(out.len() - before);
            self.observe_listing(&event);
        }
    }

    /// Observes the duration if this event ends the initial events.
    fn observe_listing(&mut self, event: &WatchEvent) {
        if self.listing.is_some()
            && event.ends_initial()
            && let Some((begun, took)) = self.listing.take()
        {
            took.took(begun.elapsed());
        }
    }

    fn error(&self, status: &Status, out: &mut Vec<u8>) {
        let format = self.encoder.chosen.format;
        let bytes = encode_status(status, format);
        let object = match format {
            Format::Protobuf => FrameObject::Enveloped(&bytes),
            _ => FrameObject::Json(&bytes),
        };
        encode_frame(EventKind::Error, object, out);
    }

    fn frame(&mut self, kind: EventKind, stored: &Stored, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some(table) = self.encoder.table {
            let columns = std::mem::take(&mut self.is_first_table);
            let seconds = i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX);
            let table = TableStyle {
                now: Time::from_unix(seconds),
                ..table
            };
            let objects = std::slice::from_ref(stored);
            let tree = table.table(&metadata_of(stored), objects, columns)?;
            encode_frame(kind, FrameObject::Json(tree.to_string().as_bytes()), out);
            return Ok(());
        }
        let format = self.encoder.chosen.format;
        match (self.encoder.chosen.transform, format) {
            (
                Transform::PartialObjectMetadata { version }
                | Transform::PartialObjectMetadataList { version },
                _,
            ) => {
                if format == Format::Protobuf {
                    let mut raw = Vec::new();
                    stored.push_metadata_protobuf(&mut raw)?;
                    let object = FrameObject::Protobuf {
                        api_version: version.api_version(),
                        kind: "PartialObjectMetadata",
                        raw: &raw,
                    };
                    encode_frame(kind, object, out);
                } else {
                    let partial = PartialObjectMetadata {
                        metadata: stored.metadata()?.into_owned(),
                    };
                    let tree = partial_json(&partial, version);
                    encode_frame(kind, FrameObject::Json(tree.to_string().as_bytes()), out);
                }
            }
            _ => self.plain(kind, stored, out)?,
        }
        Ok(())
    }

    /// Encodes an event with the complete object.
    fn plain(&self, kind: EventKind, stored: &Stored, out: &mut Vec<u8>) -> Result<(), Status> {
        if self.encoder.chosen.format != Format::Protobuf {
            return json_frame(kind, stored, out);
        }
        let facts = stored.kind().facts();
        let object = FrameObject::Protobuf {
            api_version: facts.api_version,
            kind: facts.kind,
            raw: stored.protobuf()?,
        };
        encode_frame(kind, object, out);
        Ok(())
    }
}

/// Returns the type and the object of an event; `None` for an error.
fn object_of(event: &WatchEvent) -> Option<(EventKind, &Stored)> {
    match event {
        WatchEvent::Added(stored) => Some((EventKind::Added, stored)),
        WatchEvent::Modified(stored) => Some((EventKind::Modified, stored)),
        WatchEvent::Deleted(stored) => Some((EventKind::Deleted, stored)),
        WatchEvent::Bookmark(stored) => Some((EventKind::Bookmark, stored)),
        WatchEvent::Error(_) => None,
    }
}

/// Typical maximum bytes around the object in a JSON event.
const FRAME_BYTES: usize = 128;

/// Encodes a JSON event around the shared encoding of its object.
fn json_frame(kind: EventKind, stored: &Stored, out: &mut Vec<u8>) -> Result<(), Status> {
    let tail = stored.json_tail()?;
    out.reserve(tail.len() + FRAME_BYTES);
    for part in [
        "{\"type\":\"",
        kind.as_str(),
        "\",\"object\":",
        &stored.json_head(),
    ] {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(&tail);
    out.extend_from_slice(b"}\n");
    Ok(())
}
