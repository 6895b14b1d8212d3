//! A hyper server that answers from a script and records the requests.

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use kubist_apimachinery::wire::Wire;
use kubist_apimachinery::{KubeObject, Resource, Status};
use kubist_client::{Client, Config};
use kubist_codec::envelope;
use kubist_transport::{Endpoint, Transport};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// A recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    code: u16,
    headers: Vec<(&'static str, String)>,
    /// Sent one by one; `Err` cuts the connection.
    chunks: VecDeque<Result<Bytes, ()>>,
    /// Whether the body stays open after the chunks.
    open: bool,
    /// Whether hyper has been polled to send the bytes before a cut.
    flushed: bool,
}

impl Reply {
    pub(crate) fn new(code: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self {
            code,
            headers,
            chunks: VecDeque::from([Ok(body.into())]),
            open: false,
            flushed: false,
        }
    }

    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::new(200, "application/json", body)
    }

    pub(crate) fn protobuf(body: impl Into<Bytes>) -> Self {
        Self::new(200, "application/vnd.kubernetes.protobuf", body)
    }

    /// An object, in protobuf.
    pub(crate) fn object<K: KubeObject>(object: &K) -> Self {
        Self::protobuf(envelope::encode(object))
    }

    pub(crate) fn status(status: &Status) -> Self {
        let code = u16::try_from(status.code).unwrap();
        Self::new(code, "application/json", status.to_json())
    }

    pub(crate) fn code(mut self, code: u16) -> Self {
        self.code = code;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// In pieces of `size` bytes.
    pub(crate) fn split(mut self, size: usize) -> Self {
        let whole: Vec<u8> = self.chunks.iter().flatten().flatten().copied().collect();
        self.chunks = whole
            .chunks(size)
            .map(|it| Ok(Bytes::copy_from_slice(it)))
            .collect();
        self
    }

    /// The first half of the body, and then the end.
    pub(crate) fn halved(mut self) -> Self {
        for chunk in self.chunks.iter_mut().flatten() {
            chunk.truncate(chunk.len() / 2);
        }
        self
    }

    pub(crate) fn then_cut(mut self) -> Self {
        self.chunks.push_back(Err(()));
        self
    }

    pub(crate) fn then_open(mut self) -> Self {
        self.open = true;
        self
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.chunks.pop_front() {
            Some(Ok(chunk)) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            Some(Err(())) if !self.flushed => {
                self.flushed = true;
                self.chunks.push_front(Err(()));
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Err(())) => Poll::Ready(Some(Err(io::ErrorKind::BrokenPipe.into()))),
            None if self.open => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// Answers the n-th request with the n-th reply of its script.
#[derive(Clone)]
pub(crate) struct Server {
    script: Arc<Mutex<VecDeque<Reply>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<Mutex<JoinSet<()>>>,
}

impl Server {
    pub(crate) fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            script: Arc::new(Mutex::new(script.into_iter().collect())),
            asked: Arc::default(),
            connections: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(Config::default())
    }

    pub(crate) fn client_with(&self, config: Config) -> Client {
        let server = self.clone();
        let connect = move |_: Endpoint| {
            let (client, io) = tokio::io::duplex(64 << 10);
            server.accept(io);
            async move { io::Result::Ok(client) }
        };
        let transport = kubist_transport::Config::new("http://in.process".parse().unwrap());
        Client::new(
            Transport::with_connector(transport, connect).unwrap(),
            config,
        )
    }

    /// All requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    /// Method and URI of all requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|it| it.line).collect()
    }

    fn accept(&self, io: tokio::io::DuplexStream) {
        let server = self.clone();
        let service = hyper::service::service_fn(move |request: http::Request<_>| {
            let server = server.clone();
            async move {
                let (parts, body): (_, hyper::body::Incoming) = request.into_parts();
                let asked = Asked {
                    line: format!("{} {}", parts.method, parts.uri),
                    headers: parts.headers,
                    body: body
                        .collect()
                        .await
                        .map(http_body_util::Collected::to_bytes)
                        .unwrap_or_default(),
                    at: Instant::now(),
                };
                server.asked.lock().push(asked);
                let reply = server.script.lock().pop_front();
                let reply = reply.unwrap_or_else(|| Reply::json("off script").code(500));
                let mut response = Response::builder().status(reply.code);
                for (name, value) in &reply.headers {
                    response = response.header(*name, value);
                }
                Ok::<_, Infallible>(response.body(reply).unwrap())
            }
        });
        self.connections.lock().spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            drop(connection.serve_connection(TokioIo::new(io), service).await);
        });
    }
}

/// An enveloped list of encoded items.
pub(crate) fn protobuf_list<K: Resource>(items: &[impl AsRef<[u8]>]) -> Vec<u8> {
    list::<K>(kubist_apimachinery::wire::Encoding::Protobuf, "", items)
}

/// A list of encoded items.
pub(crate) fn list<K: Resource>(
    encoding: kubist_apimachinery::wire::Encoding,
    continue_: &str,
    items: &[impl AsRef<[u8]>],
) -> Vec<u8> {
    let metadata = kubist_apimachinery::ListMeta {
        resource_version: "77".into(),
        continue_: continue_.into(),
        ..Default::default()
    };
    let head = kubist_codec::list_encoder::ListHead {
        api_version: K::API_VERSION,
        kind: K::LIST_KIND,
        metadata: &metadata,
    };
    kubist_codec::list_encoder::encode_list(encoding, head, items)
}
