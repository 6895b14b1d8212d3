//! `WatchBody`: the body of a watch, whose events the taps may hold back, skip, or end.

use super::answers::{self, AnswerBody};
use super::call::Call;
use super::interposer::error_frame;
use super::read_back;
use super::treatment::{Arrival, Breaks, Delivery, Tap};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame as BodyFrame;
use http_body_util::{BodyExt as _, StreamBody};
use kubist::apimachinery::wire::Encoding;
use kubist::codec::watch_stream::{EventKind, Frame, FrameObject, WatchStream, encode_frame};
use kubist::transport::{ResponseBody, TransportError};
use std::sync::Arc;

/// The annotation of the bookmark after the initial events.
const INITIAL_EVENTS_END: &[u8] = b"k8s.io/initial-events-end";

/// Reads a watch and asks the taps about each event.
pub(super) struct WatchBody {
    call: Call,
    taps: Arc<[Arc<dyn Tap>]>,
    body: ResponseBody,
    encoding: Encoding,
    events: WatchStream,
    ended: bool,
    breaks: Breaks,
}

impl WatchBody {
    pub(super) fn new(
        call: Call,
        taps: Arc<[Arc<dyn Tap>]>,
        body: ResponseBody,
        encoding: Encoding,
    ) -> Self {
        Self {
            breaks: Breaks::of(&taps),
            call,
            taps,
            body,
            encoding,
            events: WatchStream::new(encoding),
            ended: false,
        }
    }

    pub(super) fn into_body(self) -> AnswerBody {
        let chunks = stream::unfold(self, |mut this| async move {
            let chunk = this.next().await?;
            Some((chunk.map(BodyFrame::data), this))
        });
        StreamBody::new(chunks).boxed_unsync()
    }

    /// Returns the next event that is delivered.
    async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        while !self.ended {
            // A malformed frame is the server's; the client finds it in what follows.
            let Ok(frame) = self.events.next_frame() else {
                self.ended = true;
                return Some(Err(answers::broken()));
            };
            let Some(frame) = frame else {
                match self.fill().await {
                    Filled::More => continue,
                    Filled::End => return None,
                    Filled::Failed(error) => return Some(Err(error)),
                }
            };
            // An event that is held does not hold the connection.
            let delivery = tokio::select! {
                biased;
                () = self.breaks.broken(&self.call) => Delivery::Cut,
                delivery = decide(&self.taps, &self.call, &frame) => delivery,
            };
            match delivery {
                Delivery::Deliver => return Some(Ok(encoded(&frame))),
                Delivery::Skip => {}
                Delivery::End(status) => {
                    self.ended = true;
                    return Some(Ok(error_frame(&status, self.encoding)));
                }
                Delivery::Cut => {
                    self.ended = true;
                    return Some(Err(answers::broken()));
                }
            }
        }
        None
    }

    /// Reads more of the body, unless the watch has to break before.
    async fn fill(&mut self) -> Filled {
        let chunk = tokio::select! {
            biased;
            () = self.breaks.broken(&self.call) => {
                self.ended = true;
                return Filled::Failed(answers::broken());
            }
            chunk = self.body.chunk() => chunk,
        };
        match chunk {
            Ok(Some(chunk)) => {
                self.events.push(chunk);
                Filled::More
            }
            Ok(None) => {
                self.ended = true;
                Filled::End
            }
            Err(error) => {
                self.ended = true;
                Filled::Failed(error)
            }
        }
    }
}

async fn decide(taps: &[Arc<dyn Tap>], call: &Call, frame: &Frame) -> Delivery {
    if frame.kind == EventKind::Error {
        return Delivery::Deliver;
    }
    let read = read_back::in_object(&frame.object, frame.encoding);
    let (name, revision) = read.unwrap_or_default();
    let is_bookmark = frame.kind == EventKind::Bookmark;
    let arrival = Arrival {
        kind: frame.kind,
        name,
        revision,
        ends_list: is_bookmark && has_bytes(&frame.object, INITIAL_EVENTS_END),
    };
    for tap in taps {
        let delivery = tap.deliver(call, &arrival).await;
        if delivery != Delivery::Deliver {
            return delivery;
        }
    }
    Delivery::Deliver
}

enum Filled {
    More,
    End,
    Failed(TransportError),
}

fn has_bytes(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|it| it == wanted)
}

fn encoded(frame: &Frame) -> Bytes {
    let object = match frame.encoding {
        Encoding::Protobuf => FrameObject::Protobuf {
            api_version: &frame.api_version,
            kind: &frame.type_name,
            raw: &frame.object,
        },
        _ => FrameObject::Json(&frame.object),
    };
    let mut out = Vec::with_capacity(frame.object.len() + 64);
    encode_frame(frame.kind, object, &mut out);
    out.into()
}
