//! Replays the body of a watch from a file to a client, by a service within its process.
//!
//! The file holds chunks, each preceded by its length as a big-endian u32, as `driver record`
//! writes them. A request for a streaming watch list gets them chunk by chunk: the initial state at
//! once, the updates on a signal. Network, TLS and HTTP framing are not involved.

use bytes::{Buf as _, Bytes};
use clap::{Args, ValueEnum};
use futures::task::AtomicWaker;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use pods::Workload;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// What is replayed, and how.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// File with the chunks
    #[arg(long)]
    pub body: PathBuf,
    /// The number of chunks with updates; the marker follows them
    #[arg(long)]
    pub updates: usize,
    /// When updates arrive
    #[arg(long)]
    pub way: Way,
    /// The objects: pods, config-maps or definitions
    #[arg(long, default_value = "pods")]
    pub workload: Workload,
}

/// When updates arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// The next chunk is available whenever the client reads.
    AsTheyCome,
    /// The next chunk is available when the previous event was handled.
    OneAtATime,
}

/// A recorded watch, with a gate before its updates. Clones are cheap and share both.
#[derive(Clone, Debug)]
pub struct Replay {
    chunks: Arc<[Bytes]>,
    content_type: &'static str,
    gate: Arc<Gate>,
}

#[derive(Debug)]
struct Gate {
    way: Way,
    /// Chunks of the initial state.
    first: usize,
    /// Chunks that may be read.
    allowed: AtomicUsize,
    waker: AtomicWaker,
    requests: AtomicUsize,
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf;stream=watch";
const JSON: &str = "application/json";
/// The answer to anything but a streaming watch list.
const NOT_FOUND: &[u8] = br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"only a streaming watch list is here","reason":"NotFound","code":404}"#;

impl Replay {
    /// Reads the file into memory. A file whose first chunk begins with a brace is JSON.
    ///
    /// # Errors
    /// The file cannot be read, is truncated, or has fewer chunks than updates.
    pub fn read(options: &Options) -> io::Result<Self> {
        let chunks = split(std::fs::read(&options.body)?.into())?;
        let broken = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
        let first = chunks
            .len()
            .checked_sub(options.updates + 1)
            .ok_or_else(|| broken("there are fewer chunks than updates"))?;
        let json = chunks.first().is_some_and(|chunk| chunk.starts_with(b"{"));
        let gate = Gate {
            way: options.way,
            first,
            allowed: AtomicUsize::new(first),
            waker: AtomicWaker::new(),
            requests: AtomicUsize::new(0),
        };
        Ok(Self {
            chunks: chunks.into(),
            content_type: if json { JSON } else { PROTOBUF },
            gate: Arc::new(gate),
        })
    }

    /// Releases the updates.
    pub fn open(&self) {
        let allowed = match self.gate.way {
            Way::AsTheyCome => usize::MAX,
            Way::OneAtATime => self.gate.first + 1,
        };
        self.gate.allow(allowed);
    }

    /// Records that a handler has received an event.
    pub fn handled(&self) {
        let allowed = self.gate.allowed.load(Ordering::Acquire);
        if self.gate.way == Way::OneAtATime && allowed > self.gate.first {
            self.gate.allow(allowed + 1);
        }
    }

    /// Returns the number of requests. A correct client sends one.
    pub fn requests(&self) -> usize {
        self.gate.requests.load(Ordering::Relaxed)
    }

    /// Answers as a server would.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let earlier = self.gate.requests.fetch_add(1, Ordering::Relaxed);
        let query = request.uri().query().unwrap_or_default();
        let has = |wanted: &[&str]| query.split('&').any(|pair| wanted.contains(&pair));
        if earlier == 0 && has(&["watch=true", "watch=1"]) && has(&["sendInitialEvents=true"]) {
            let body = Body {
                chunks: Arc::clone(&self.chunks),
                next: 0,
                gate: Some(Arc::clone(&self.gate)),
            };
            return respond(StatusCode::OK, self.content_type, body);
        }
        let body = Body {
            chunks: Arc::new([Bytes::from_static(NOT_FOUND)]),
            next: 0,
            gate: None,
        };
        respond(StatusCode::NOT_FOUND, JSON, body)
    }
}

fn respond(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let value = http::HeaderValue::from_static(content_type);
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, value);
    response
}

fn split(mut file: Bytes) -> io::Result<Vec<Bytes>> {
    let mut chunks = Vec::new();
    while !file.is_empty() {
        let length = file.try_get_u32().map_err(|_| cut_off())?;
        let length = usize::try_from(length).map_err(|_| cut_off())?;
        if length > file.len() {
            return Err(cut_off());
        }
        chunks.push(file.split_to(length));
    }
    Ok(chunks)
}

fn cut_off() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl Gate {
    fn allow(&self, allowed: usize) {
        self.allowed.store(allowed, Ordering::Release);
        self.waker.wake();
    }

    fn poll(&self, chunk: usize, cx: &Context<'_>) -> Poll<()> {
        if chunk < self.allowed.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        self.waker.register(cx.waker());
        // The gate may have opened in the meantime.
        if chunk < self.allowed.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// The body of an answer: that of a watch never ends.
#[derive(Debug)]
pub struct Body {
    chunks: Arc<[Bytes]>,
    next: usize,
    gate: Option<Arc<Gate>>,
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(gate) = &self.gate
            && (self.next == self.chunks.len() || gate.poll(self.next, cx).is_pending())
        {
            return Poll::Pending;
        }
        // A copy, as the network makes one: what a client keeps of it is its own memory.
        let chunk = self.chunks.get(self.next);
        let chunk = chunk.map(|it| Bytes::copy_from_slice(it));
        self.next += 1;
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

#[cfg(test)]
mod tests {
    use futures::task::noop_waker_ref;
    use http_body::Body as _;

    use super::*;

    const ASKED: &str = "/api/v1/pods?watch=true&sendInitialEvents=true";

    fn replay(way: Way) -> Replay {
        let name = format!("replay-{}-{way:?}", std::process::id());
        let body = std::env::temp_dir().join(name);
        let mut file = Vec::new();
        for chunk in ["{1}", "{2}", "{update}", "{marker}"] {
            file.extend_from_slice(&u32::try_from(chunk.len()).unwrap().to_be_bytes());
            file.extend_from_slice(chunk.as_bytes());
        }
        std::fs::write(&body, file).unwrap();
        let updates = 1;
        let replay = Replay::read(&Options {
            body: body.clone(),
            updates,
            way,
            workload: Workload::Pods,
        });
        std::fs::remove_file(body).unwrap();
        replay.unwrap()
    }

    fn get(replay: &Replay, uri: &str) -> Response<Body> {
        replay.answer(&Request::get(uri).body(()).unwrap())
    }

    /// Returns all chunks that can be read now.
    fn read(body: &mut Body) -> Vec<Bytes> {
        let mut cx = Context::from_waker(noop_waker_ref());
        let mut read = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut *body).poll_frame(&mut cx) {
            read.push(frame.into_data().unwrap());
        }
        read
    }

    #[test]
    fn updates_come_all_at_once_after_the_gate_opened() {
        let replay = replay(Way::AsTheyCome);
        let answer = get(&replay, ASKED);
        assert_eq!(answer.headers()["content-type"], JSON);
        let mut body = answer.into_body();
        assert_eq!(read(&mut body), ["{1}", "{2}"]);
        replay.handled();
        assert!(read(&mut body).is_empty());
        replay.open();
        assert_eq!(read(&mut body), ["{update}", "{marker}"]);
    }

    #[test]
    fn updates_come_one_by_one_as_they_are_handled() {
        let replay = replay(Way::OneAtATime);
        let mut body = get(&replay, ASKED).into_body();
        assert_eq!(read(&mut body).len(), 2);
        replay.handled();
        replay.open();
        assert_eq!(read(&mut body), ["{update}"]);
        assert!(read(&mut body).is_empty());
        replay.handled();
        assert_eq!(read(&mut body), ["{marker}"]);
    }

    #[test]
    fn anything_but_the_first_watch_list_is_not_found_and_counted() {
        let replay = replay(Way::AsTheyCome);
        assert_eq!(get(&replay, "/api/v1/pods").status(), 404);
        let mut refused = get(&replay, ASKED).into_body();
        assert_eq!(read(&mut refused), [NOT_FOUND]);
        assert_eq!(replay.requests(), 2);
    }
}
