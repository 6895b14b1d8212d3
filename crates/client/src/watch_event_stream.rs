//! `WatchEventStream`: the events of one watch, in batches, as its bytes arrive.
//!
//! The stream ends with an error if the server sends one, the connection breaks or a frame is
//! malformed. It ends without an error if the server closes the watch normally.

use crate::decoder::Decoder;
use crate::error::{AnswerError, ApiError};
use crate::item_stream::BATCH_ITEMS_MAX;
use futures_core::Stream;
use http_body::Body as _;
use kubist_apimachinery::wire::{DecodeContext, Encoding, scan};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use kubist_cache::{EventType, InvalidEvent, InvalidItem, WatchItem};
use kubist_codec::watch_stream::{EventKind, Frame, WatchStream, WatchStreamError};
use kubist_transport::ResponseBody;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The annotation that marks the bookmark after the initial events of a streaming list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(crate) struct WatchEventStream<K> {
    body: ResponseBody,
    decoder: Decoder<K>,
    state: State,
}

enum State {
    Reading(Box<WatchStream>),
    /// Delivered after the events before it; `None` for a normal end.
    Ending(Option<ApiError>),
}

impl<K: Object> WatchEventStream<K> {
    pub(crate) fn new(body: ResponseBody, encoding: Encoding, decoder: Decoder<K>) -> Self {
        Self {
            body,
            decoder,
            state: State::Reading(Box::new(WatchStream::new(encoding))),
        }
    }

    /// Decodes the complete frames that have arrived.
    fn take(&mut self, events: &mut Vec<WatchItem<K>>) {
        let State::Reading(watch) = &mut self.state else {
            return;
        };
        let mut cx = self.decoder.cx.lock();
        while events.len() < BATCH_ITEMS_MAX {
            let event = match watch.next_frame() {
                Ok(None) => return,
                Ok(Some(frame)) => event(frame, &self.decoder, &mut cx),
                Err(error) if error.ends_stream() => Err(broken(error, &self.decoder)),
                Err(error) => Ok(lost(AnswerError::Watch(error))),
            };
            match event {
                Ok(event) => events.push(event),
                Err(error) => {
                    self.state = State::Ending(Some(error));
                    return;
                }
            }
        }
    }

    /// Reads more of the body.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let State::Reading(watch) = &mut self.state else {
            return Poll::Ready(());
        };
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    watch.push(data);
                }
            }
            Poll::Ready(Some(Err(error))) => {
                let error = ApiError::transport(&self.decoder.request, error);
                self.state = State::Ending(Some(error));
            }
            Poll::Ready(None) => {
                let ended = std::mem::replace(&mut self.state, State::Ending(None));
                if let State::Reading(watch) = ended
                    && let Err(error) = watch.finish()
                {
                    self.state = State::Ending(Some(broken(error, &self.decoder)));
                }
            }
        }
        Poll::Ready(())
    }
}

impl<K: Object> Stream for WatchEventStream<K> {
    type Item = Result<Vec<WatchItem<K>>, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let mut events = Vec::new();
        while let State::Reading(_) = this.state {
            this.take(&mut events);
            if events.len() >= BATCH_ITEMS_MAX {
                break;
            }
            if this.poll_fill(cx).is_pending() {
                if events.is_empty() {
                    return Poll::Pending;
                }
                break;
            }
        }
        if !events.is_empty() {
            return Poll::Ready(Some(Ok(events)));
        }
        match std::mem::replace(&mut this.state, State::Ending(None)) {
            State::Ending(Some(error)) => Poll::Ready(Some(Err(error))),
            _ => Poll::Ready(None),
        }
    }
}

/// Decodes a frame; an error ends the watch.
fn event<K: Object>(
    frame: Frame,
    decoder: &Decoder<K>,
    cx: &mut DecodeContext,
) -> Result<WatchItem<K>, ApiError> {
    let make = match frame.kind {
        EventKind::Added => WatchItem::Added,
        EventKind::Modified => WatchItem::Modified,
        EventKind::Deleted => WatchItem::Deleted,
        EventKind::Bookmark => return Ok(bookmark(&frame, cx)),
        EventKind::Error => {
            let status = frame.status().map_err(|error| broken(error, decoder))?;
            return Err(ApiError::Status(Box::new(status)));
        }
    };
    let known = ["", decoder.kind.kind.as_str(), "PartialObjectMetadata"];
    if !known.contains(&frame.type_name.as_str()) {
        let (expected, found) = (decoder.kind.kind.clone(), frame.type_name);
        let error = AnswerError::Kind { expected, found };
        return Err(ApiError::answer(&decoder.request, error));
    }
    let (bytes, encoding) = (frame.object.clone(), frame.encoding);
    let object = decoder.object(frame.object, encoding, cx);
    Ok(object.map_or_else(
        |item| unread(frame.kind, &bytes, encoding, item, decoder),
        make,
    ))
}

fn bookmark<K>(frame: &Frame, cx: &mut DecodeContext) -> WatchItem<K> {
    match scan::metadata(&frame.object, frame.encoding, cx) {
        Ok(metadata) => WatchItem::Bookmark {
            initial_events_end: metadata
                .annotations
                .get(INITIAL_EVENTS_END)
                .is_some_and(|value| *value == "true"),
            resource_version: metadata.resource_version.into(),
        },
        Err(error) => WatchItem::Invalid(InvalidEvent {
            event: Some(EventType::Bookmark),
            resource_version: ResourceVersion::default(),
            item: InvalidItem { name: None, error },
        }),
    }
}

/// Builds the event for an object that cannot be decoded: the frame gives the event type, and the
/// name is read from the bytes.
fn unread<K>(
    kind: EventKind,
    bytes: &[u8],
    encoding: Encoding,
    item: InvalidItem,
    decoder: &Decoder<K>,
) -> WatchItem<K> {
    // A truncated name could be that of another object.
    let whole = |name: &ObjectName| decoder.kind.namespaced != name.namespace.is_empty();
    let event = match kind {
        EventKind::Added => Some(EventType::Added),
        EventKind::Modified => Some(EventType::Modified),
        EventKind::Deleted => Some(EventType::Deleted),
        EventKind::Bookmark | EventKind::Error => None,
    };
    WatchItem::Invalid(InvalidEvent {
        event: event.filter(|_| item.name.as_ref().is_some_and(whole)),
        resource_version: scan::version_in(bytes, encoding).unwrap_or_default(),
        item,
    })
}

/// Builds the event for a well-delimited frame with malformed contents.
fn lost<K>(error: AnswerError) -> WatchItem<K> {
    WatchItem::Invalid(InvalidEvent {
        event: None,
        resource_version: ResourceVersion::default(),
        item: InvalidItem {
            name: None,
            error: error.to_wire_error(),
        },
    })
}

fn broken<K>(error: WatchStreamError, decoder: &Decoder<K>) -> ApiError {
    ApiError::answer(&decoder.request, AnswerError::Watch(error))
}
