//! `Interposer`: the service between a client and the server, which asks the taps.
//!
//! It is below [`Transport::with_service`], so a client cannot tell it from a server: what comes
//! back is the server's answer, a [`Status`](kubist::apimachinery::Status) in its words, or
//! an error of the connection.

use super::answers::{self, AnswerBody};
use super::call::{Call, Sender, Verb};
use super::read_back;
use super::stale_read;
use super::treatment::{Answered, Breaks, Fate, Tap, Treatment};
use super::watch_body::WatchBody;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use kubist::apimachinery::Status;
use kubist::apimachinery::wire::Encoding;
use kubist::transport::{Body, Config, ConfigError, ResponseBody, Transport, TransportError};
use std::sync::Arc;
use std::task::{Context, Poll};

/// The most bytes of an answer that is read here before it is passed on.
const ANSWER_BYTES_MAX: usize = 64 << 20;

type Answer = Result<Response<AnswerBody>, TransportError>;

/// Asks the taps about each request of one client, and sends it to the server.
#[derive(Clone)]
pub(crate) struct Interposer {
    sender: Sender,
    taps: Arc<[Arc<dyn Tap>]>,
    inner: Transport,
}

impl Interposer {
    /// Returns a transport whose requests the taps decide about, in this order; the first that does
    /// not serve a request decides. `user_agent` replaces the default one.
    ///
    /// # Errors
    /// The user agent is not a valid header.
    pub(crate) fn transport(
        sender: Sender,
        user_agent: Option<&str>,
        taps: impl Into<Arc<[Arc<dyn Tap>]>>,
        inner: Transport,
    ) -> Result<Transport, ConfigError> {
        let mut config = Config::new(Uri::from_static("http://in-process"));
        config.accept_gzip = false;
        if let Some(user_agent) = user_agent {
            user_agent.clone_into(&mut config.user_agent);
        }
        let taps = taps.into();
        let service = Self {
            sender,
            taps,
            inner,
        };
        Transport::with_service(config, service)
    }

    async fn exchange(self, request: Request<Body>) -> Answer {
        let call = Call::of(&self.sender, &request);
        if call.verb == Verb::Other {
            return self.pass(&call, request).await;
        }
        let treatment = self.treat(&call).await;
        let breaks = Breaks::of(&self.taps);
        if !treatment.delay.is_zero() {
            tokio::select! {
                biased;
                () = breaks.broken(&call) => return Err(answers::broken()),
                () = tokio::time::sleep(treatment.delay) => {}
            }
        }
        match treatment.fate {
            Fate::Answer(status) => return Ok(answers::response(&status)),
            Fate::Break => return Err(answers::broken()),
            Fate::Refuse => return Err(answers::refused()),
            Fate::Never => {
                breaks.broken(&call).await;
                return Err(answers::broken());
            }
            _ => {}
        }
        let served = self.serve(&call, request, &treatment).await;
        match treatment.fate {
            Fate::AnswerAfter(status) => Ok(answers::response(&status)),
            Fate::BreakAfter => Err(answers::broken()),
            Fate::NeverAfter => {
                breaks.broken(&call).await;
                Err(answers::broken())
            }
            _ => served,
        }
    }

    async fn treat(&self, call: &Call) -> Treatment {
        let mut treatment = Treatment::default();
        for tap in &*self.taps {
            let next = tap.treat(call).await;
            treatment.delay = treatment.delay.saturating_add(next.delay);
            treatment.view = treatment.view.or(next.view);
            if treatment.fate == Fate::Serve {
                treatment.fate = next.fate;
            }
        }
        treatment
    }

    /// Sends a request that is served, and tells the taps of its answer.
    async fn serve(&self, call: &Call, request: Request<Body>, treatment: &Treatment) -> Answer {
        let is_lost = treatment.fate != Fate::Serve;
        let request = match treatment.view {
            Some(view) if call.verb.is_read() => {
                if stale_read::is_streaming_list(call, &request) {
                    return Ok(answers::response(&answers::no_streaming_list(call)));
                }
                if call.verb == Verb::Get {
                    if view.gets {
                        return stale_read::get(&self.inner, call, view).await;
                    }
                    request
                } else {
                    stale_read::list_at(call, request, view)
                }
            }
            _ => request,
        };
        let response = self.inner.send(request).await?;
        match call.verb {
            Verb::Watch if response.status().is_success() => Ok(self.watching(call, response)),
            Verb::List if self.taps.iter().any(|it| it.sees_lists()) => {
                self.listed(call, response).await
            }
            verb if verb.is_write() => self.written(call, response, is_lost).await,
            _ => {
                let answered = Answered {
                    code: response.status().as_u16(),
                    object: None,
                    is_lost,
                };
                self.tell(call, &answered).await;
                Ok(response.map(BodyExt::boxed_unsync))
            }
        }
    }

    async fn pass(&self, call: &Call, request: Request<Body>) -> Answer {
        for tap in &*self.taps {
            if !tap.reaches(call).await {
                return Err(answers::refused());
            }
        }
        let response = self.inner.send(request).await?;
        Ok(response.map(BodyExt::boxed_unsync))
    }

    async fn tell(&self, call: &Call, answered: &Answered) {
        for tap in &*self.taps {
            tap.answered(call, answered).await;
        }
    }

    async fn written(
        &self,
        call: &Call,
        response: Response<ResponseBody>,
        is_lost: bool,
    ) -> Answer {
        let encoding = encoding_of(&response);
        let (parts, body) = response.into_parts();
        let bytes = body.bytes(ANSWER_BYTES_MAX).await?;
        let answered = Answered {
            code: parts.status.as_u16(),
            object: if parts.status.is_success() {
                read_back::object(&bytes, encoding)
            } else {
                None
            },
            is_lost,
        };
        self.tell(call, &answered).await;
        Ok(Response::from_parts(parts, answers::whole(bytes)))
    }

    async fn listed(&self, call: &Call, response: Response<ResponseBody>) -> Answer {
        let encoding = encoding_of(&response);
        let (parts, body) = response.into_parts();
        let bytes = body.bytes(ANSWER_BYTES_MAX).await?;
        if parts.status == StatusCode::OK
            && let Some((items, version)) = read_back::list(bytes.clone(), encoding)
        {
            for tap in &*self.taps {
                tap.listed(call, &items, &version);
            }
        }
        Ok(Response::from_parts(parts, answers::whole(bytes)))
    }

    fn watching(&self, call: &Call, response: Response<ResponseBody>) -> Response<AnswerBody> {
        let encoding = encoding_of(&response);
        let (parts, body) = response.into_parts();
        let watch = WatchBody::new(call.clone(), Arc::clone(&self.taps), body, encoding);
        Response::from_parts(parts, watch.into_body())
    }
}

fn encoding_of<B>(response: &Response<B>) -> Encoding {
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_protobuf = content_type.is_some_and(|it| {
        it.as_bytes()
            .starts_with(b"application/vnd.kubernetes.protobuf")
    });
    if is_protobuf {
        Encoding::Protobuf
    } else {
        Encoding::Json
    }
}

impl tower::Service<Request<Body>> for Interposer {
    type Response = Response<AnswerBody>;
    type Error = TransportError;
    type Future = BoxFuture<'static, Answer>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}

/// Encodes an error of a watch as its last event.
pub(super) fn error_frame(status: &Status, encoding: Encoding) -> Bytes {
    use kubist::apimachinery::wire::{to_json, to_protobuf};
    use kubist::codec::watch_stream::{EventKind, FrameObject, encode_frame};
    let mut out = Vec::new();
    if encoding == Encoding::Protobuf {
        let object = FrameObject::Protobuf {
            api_version: "v1",
            kind: "Status",
            raw: &to_protobuf(status),
        };
        encode_frame(EventKind::Error, object, &mut out);
    } else {
        encode_frame(
            EventKind::Error,
            FrameObject::Json(&to_json(status)),
            &mut out,
        );
    }
    out.into()
}
