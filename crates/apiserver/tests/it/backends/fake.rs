//! Kubelets and other servers, in this process: what the API server dials leads here.

use crate::mutual_tls::acceptor;
use bytes::Bytes;
use http::header::{CONNECTION, LOCATION, UPGRADE};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubist_apiserver::{BackendDialer, BackendStream, Backends, CertificateAuthority};
use kubist_registry::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The port of a kubelet.
const KUBELET: u16 = 10_250;

/// Answers on every address: with TLS and only with a client certificate on the kubelet's port,
/// without TLS on all others but 1, which nobody listens on.
pub(super) struct Fake {
    kubelet: TlsAcceptor,
    /// The addresses that were dialed.
    pub(super) dialed: Mutex<Vec<String>>,
    served: Arc<Served>,
    tasks: Mutex<JoinSet<()>>,
}

/// What all connections share.
#[derive(Default)]
pub(super) struct Served {
    open: AtomicUsize,
    /// One permit for each further line of a log.
    lines: Lines,
    /// Bytes of an endless answer that the connection took.
    sent: AtomicUsize,
}

struct Lines(Semaphore);

impl Default for Lines {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl Fake {
    /// Returns a fake, and a configuration that leads there. The kubelet's certificate names
    /// `node-1`.
    pub(super) fn new() -> (Arc<Self>, Backends) {
        let authority = CertificateAuthority::new("kubelets").expect("it can be made");
        let serving = authority.serving_identity(vec!["node-1".to_owned()]);
        let serving = serving.expect("it can be issued");
        let identity = authority.client_identity("apiserver", None);
        let identity = identity.expect("it can be issued");
        let fake = Arc::new(Self {
            kubelet: acceptor(&serving, &authority),
            dialed: Mutex::default(),
            served: Arc::default(),
            tasks: Mutex::default(),
        });
        let backends = Backends {
            kubelet_ca_pem: authority.certificate_pem(),
            kubelet_identity: Some(identity),
            dialer: Arc::clone(&fake) as Arc<dyn BackendDialer>,
            ..Backends::default()
        };
        (fake, backends)
    }

    /// Lets a log that is followed have another line.
    pub(super) fn write_line(&self) {
        self.served.lines.0.add_permits(1);
    }

    /// The bytes of an endless answer so far.
    pub(super) fn sent(&self) -> usize {
        self.served.sent.load(Ordering::SeqCst)
    }

    /// The number of connections that did not end.
    pub(super) fn open(&self) -> usize {
        self.served.open.load(Ordering::SeqCst)
    }
}

impl BackendDialer for Fake {
    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Box<dyn BackendStream>>> {
        Box::pin(async move {
            self.dialed.lock().push(format!("{host}:{port}"));
            if port == 1 {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (near, far) = tokio::io::duplex(64 << 10);
            let acceptor = (port == KUBELET).then(|| self.kubelet.clone());
            let served = Arc::clone(&self.served);
            self.tasks.lock().spawn(async move {
                served.open.fetch_add(1, Ordering::SeqCst);
                match acceptor {
                    None => serve(far, &served).await,
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(far).await {
                            serve(stream, &served).await;
                        }
                    }
                }
                served.open.fetch_sub(1, Ordering::SeqCst);
            });
            let stream: Box<dyn BackendStream> = Box::new(near);
            Ok(stream)
        })
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves one connection, and echoes what it becomes.
async fn serve<S: BackendStream + 'static>(stream: S, served: &Arc<Served>) {
    let upgraded = Mutex::new(None);
    let service = service_fn(|mut request: Request<Incoming>| {
        let upgrade = request.headers().contains_key(UPGRADE);
        if upgrade && !request.uri().path().contains("refuse") {
            *upgraded.lock() = Some(hyper::upgrade::on(&mut request));
        }
        let served = Arc::clone(served);
        async move { Ok::<_, Infallible>(answer(request, served).await) }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    drop(connection.with_upgrades().await);
    let Some(upgraded) = upgraded.into_inner() else {
        return;
    };
    let Ok(upgraded) = upgraded.await else { return };
    let mut stream = TokioIo::new(upgraded);
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        if stream.write_all(&bytes[..count]).await.is_err() {
            return;
        }
        drop(stream.flush().await);
    }
    // The client has ended its half.
    drop(stream.write_all(b"bye").await);
    drop(stream.shutdown().await);
}

async fn answer(request: Request<Incoming>, served: Arc<Served>) -> Answer {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let target = parts.uri.path_and_query().map_or("", |it| it.as_str());
    if path.contains("refuse") {
        return with(StatusCode::FORBIDDEN, "not for you");
    }
    if let Some(protocol) = parts.headers.get(UPGRADE) {
        let mut answer = with(StatusCode::SWITCHING_PROTOCOLS, "");
        answer.headers_mut().insert(UPGRADE, protocol.clone());
        let upgrade = http::HeaderValue::from_static("Upgrade");
        answer.headers_mut().insert(CONNECTION, upgrade);
        let asked = http::HeaderValue::from_str(target).expect("it is text");
        answer.headers_mut().insert("x-asked", asked);
        return answer;
    }
    if path.ends_with("/silent") {
        std::future::pending::<()>().await;
    }
    if path.ends_with("/endless") {
        let pieces = futures_util::stream::repeat_with(move || {
            let piece = Bytes::from_static(&[b'x'; 10_000]);
            served.sent.fetch_add(piece.len(), Ordering::SeqCst);
            Ok(Frame::data(piece))
        });
        return Response::new(BodyExt::boxed(StreamBody::new(pieces)));
    }
    if path.ends_with("/redirect") {
        let mut answer = with(StatusCode::FOUND, "");
        let location = http::HeaderValue::from_static("/there?a=b");
        answer.headers_mut().insert(LOCATION, location);
        return answer;
    }
    if target.contains("follow=true") {
        let lines = futures_util::stream::unfold((served, 0), |(served, count)| async move {
            if count > 0 {
                served.lines.0.acquire().await.ok()?.forget();
            }
            let line = Bytes::from(format!("line {count}\n"));
            Some((Ok(Frame::data(line)), (served, count + 1)))
        });
        return Response::new(BodyExt::boxed(StreamBody::new(lines)));
    }
    let mut headers = Map::new();
    for (name, value) in &parts.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        headers.insert(name.to_string(), Value::from(value.into_owned()));
    }
    let body = body.collect().await.map(|it| it.to_bytes().len());
    let said = json!({
        "method": parts.method.as_str(), "target": target, "headers": headers,
        "bytes": body.unwrap_or_default(),
    });
    let mut answer = with(StatusCode::OK, said.to_string());
    let json = http::HeaderValue::from_static("application/json");
    answer.headers_mut().insert("content-type", json);
    let any = http::HeaderValue::from_static("*");
    answer
        .headers_mut()
        .insert("access-control-allow-origin", any);
    answer
}

fn with(code: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(BodyExt::boxed(Full::new(text.into())));
    *answer.status_mut() = code;
    answer
}
