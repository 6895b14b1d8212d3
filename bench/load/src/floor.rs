//! A server that keeps nothing: what requests and deliveries cost at least.
//!
//! It accepts the same connections (TLS, HTTP/2) with the same libraries, reads each write whole,
//! and answers with the object and what a server adds to it. A watcher gets the writes to its name.
//! It has no authentication, decoding, storage, history or limits.

use crate::Failure;
use crate::tls::{self, Listening};
use bytes::Bytes;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::stream::StreamExt as _;
use http::{Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// What a server adds to the metadata of an object.
const ADDED: &str = r#""metadata":{"uid":"0b6c1e58-61e4-4d2a-8f0e-3a5c7a8f2f10","resourceVersion":"123456","creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[{"manager":"load","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:note":{}}}}],"#;
/// Where it is added.
const METADATA: &str = r#""metadata":{"#;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A watcher and the path of what it watches.
type Watcher = (String, UnboundedSender<Bytes>);

#[derive(Clone, Default)]
struct Floor {
    watchers: Arc<Mutex<Vec<Watcher>>>,
}

/// Serves until the process is killed; prints a line of JSON that says where.
pub async fn run() -> Result<(), Failure> {
    let Listening {
        listener, acceptor, ..
    } = tls::listen(&["h2"]).await?;
    println!("{}", json!({"port": listener.local_addr()?.port()}));
    let (floor, mut connections) = (Floor::default(), JoinSet::new());
    loop {
        let (stream, _) = listener.accept().await?;
        connections.spawn(floor.clone().connection(acceptor.clone(), stream));
    }
}

impl Floor {
    async fn connection(self, acceptor: TlsAcceptor, stream: TcpStream) -> Result<(), Failure> {
        stream.set_nodelay(true)?;
        let stream = acceptor.accept(stream).await?;
        let answer = service_fn(move |request| self.clone().answer(request));
        let builder = http2::Builder::new(TokioExecutor::new());
        Ok(builder
            .serve_connection(TokioIo::new(stream), answer)
            .await?)
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Answer, Failure> {
        let (head, body) = request.into_parts();
        let query = head.uri.query().unwrap_or_default();
        if query.contains("watch=1") {
            let name = query.split("metadata.name=").nth(1).unwrap_or_default();
            return self.watch(format!("{}/{name}", head.uri.path()));
        }
        let body = body.collect().await?.to_bytes();
        let sent = String::from_utf8_lossy(&body);
        let object = Bytes::from(sent.replacen(METADATA, ADDED, 1));
        if head.method == Method::PUT {
            self.deliver(head.uri.path(), &object);
        }
        let response = Response::builder().header("content-type", "application/json");
        Ok(response.body(Full::new(object).boxed())?)
    }

    fn watch(&self, path: String) -> Result<Answer, Failure> {
        let (sender, receiver) = unbounded();
        sender.unbounded_send(Bytes::from_static(b"{\"type\":\"ADDED\"}\n"))?;
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.push((path, sender));
        let events = receiver.map(|event| Ok(Frame::data(event)));
        Ok(Response::new(BodyExt::boxed(StreamBody::new(events))))
    }

    /// Sends one event to all watchers of an object, and forgets those that are gone.
    fn deliver(&self, path: &str, object: &Bytes) {
        let event = [b"{\"type\":\"MODIFIED\",\"object\":", &object[..], b"}\n"].concat();
        let event = Bytes::from(event);
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|(of, sender)| {
            !sender.is_closed() && (of != path || sender.unbounded_send(event.clone()).is_ok())
        });
    }
}
