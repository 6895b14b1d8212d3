//! A hyper server in this process, reached through in-memory streams.

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubist_transport::{Body, Config, Endpoint, HttpVersion, Transport, TransportError};
use parking_lot::Mutex;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

pub(crate) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

type Handler = Arc<dyn Fn(&Request<Incoming>) -> Reply + Send + Sync>;

/// Size of the in-memory pipes; smaller than any window.
const PIPE: usize = 64 << 10;

/// Serves a handler on streams; connections end with it, or on `close_all`.
#[derive(Clone)]
pub(crate) struct Server {
    handler: Handler,
    protocol: HttpVersion,
    streams_max: u32,
    connections: Arc<Mutex<JoinSet<()>>>,
    opened: Arc<AtomicUsize>,
    drain: Arc<Notify>,
}

impl Server {
    pub(crate) fn http2(
        handler: impl Fn(&Request<Incoming>) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self {
            handler: Arc::new(handler),
            protocol: HttpVersion::Http2Only,
            streams_max: 100,
            connections: Arc::default(),
            opened: Arc::default(),
            drain: Arc::default(),
        }
    }

    pub(crate) fn http1(
        handler: impl Fn(&Request<Incoming>) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self {
            protocol: HttpVersion::Http1Only,
            ..Self::http2(handler)
        }
    }

    pub(crate) fn streams_max(self, streams_max: u32) -> Self {
        Self {
            streams_max,
            ..self
        }
    }

    /// Serves one connection.
    pub(crate) fn accept(&self, io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let handler = Arc::clone(&self.handler);
        let service = hyper::service::service_fn(move |request| {
            let reply = handler(&request);
            async move {
                drop(request.into_body().collect().await);
                Ok::<_, Infallible>(reply)
            }
        });
        let (protocol, streams_max) = (self.protocol, self.streams_max);
        let drain = Arc::clone(&self.drain);
        self.connections.lock().spawn(async move {
            let io = TokioIo::new(io);
            if protocol == HttpVersion::Http2Only {
                let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                builder.max_concurrent_streams(streams_max);
                let mut connection = pin!(builder.serve_connection(io, service));
                tokio::select! {
                    _ = connection.as_mut() => return,
                    () = drain.notified() => connection.as_mut().graceful_shutdown(),
                }
                drop(connection.await);
            } else {
                let connection = hyper::server::conn::http1::Builder::new();
                drop(connection.serve_connection(io, service).await);
            }
        });
    }

    pub(crate) fn connect(&self) -> DuplexStream {
        let (client, server) = tokio::io::duplex(PIPE);
        self.accept(server);
        client
    }

    /// Says on every HTTP/2 connection that it takes no further requests.
    pub(crate) fn drain(&self) {
        self.drain.notify_waiters();
    }

    /// Cuts all connections.
    pub(crate) async fn close_all(&self) {
        let mut connections = std::mem::take(&mut *self.connections.lock());
        connections.shutdown().await;
    }

    /// Waits until every connection has ended by itself.
    pub(crate) async fn all_closed(&self) {
        let mut connections = std::mem::take(&mut *self.connections.lock());
        while connections.join_next().await.is_some() {}
    }

    /// Runs something beside the connections.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.connections.lock().spawn(task);
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new("http://in.process".parse().unwrap());
        config.http_version = self.protocol;
        config
    }

    pub(crate) fn transport(&self) -> Transport {
        self.transport_with(self.config())
    }

    pub(crate) fn transport_with(&self, config: Config) -> Transport {
        let server = self.clone();
        let connect = move |_: Endpoint| {
            let io = server.connect();
            async move { io::Result::Ok(io) }
        };
        Transport::with_connector(config, connect).unwrap()
    }
}

pub(crate) fn text(text: impl Into<Bytes>) -> Reply {
    Response::new(Full::new(text.into()).boxed_unsync())
}

pub(crate) fn status(status: u16, body: &'static str) -> Reply {
    let mut reply = text(body);
    *reply.status_mut() = status.try_into().unwrap();
    reply
}

/// One line, and then nothing: a watch.
pub(crate) fn watch() -> Reply {
    Response::new(
        Repeat {
            chunk: Bytes::from_static(b"first\n"),
            left: 1,
        }
        .boxed_unsync(),
    )
}

/// Endless data, as fast as it is read.
pub(crate) fn flood() -> Reply {
    let chunk = Bytes::from(vec![b'x'; 16 << 10]);
    Response::new(
        Repeat {
            chunk,
            left: usize::MAX,
        }
        .boxed_unsync(),
    )
}

struct Repeat {
    chunk: Bytes,
    left: usize,
}

impl HttpBody for Repeat {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Pending;
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.chunk.clone()))))
    }
}

pub(crate) fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

pub(crate) fn post(path: &str) -> Request<Body> {
    Request::post(path).body(Body::from("body")).unwrap()
}

/// Status and body of a response.
pub(crate) async fn fetch(
    transport: &Transport,
    request: Request<Body>,
) -> Result<(u16, String), TransportError> {
    let response = transport.send(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().bytes(64 << 20).await?;
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

/// The value of a request's header as a reply.
pub(crate) fn echo_header(request: &Request<Incoming>, name: &str) -> Reply {
    let value = request
        .headers()
        .get(name)
        .map(|value| value.as_bytes().to_vec());
    text(value.unwrap_or_else(|| b"none".to_vec()))
}
