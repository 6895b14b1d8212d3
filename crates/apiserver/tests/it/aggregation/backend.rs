//! An aggregated API server in this process: whatever the API server dials leads here.

use crate::mutual_tls::acceptor;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubist_apimachinery::ByteString;
use kubist_apiserver::{BackendDialer, BackendStream, CertificateAuthority, Identity};
use kubist_registry::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

const PROXY: &str = "front-proxy-client";

/// Serves `zoo.example.com/v1`, to whoever has the certificate of the proxy.
pub(super) struct Backend {
    tls: TlsAcceptor,
    authority: CertificateAuthority,
    dialed: Mutex<Vec<String>>,
    state: Arc<State>,
    tasks: Mutex<JoinSet<()>>,
}

struct State {
    /// The code of every answer.
    code: AtomicU16,
    /// One permit for each event of a watch.
    events: Semaphore,
    /// The resources of versions.
    said: Mutex<BTreeMap<String, Value>>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Backend")
    }
}

impl Backend {
    /// Returns it, and the certificate of the proxy.
    pub(super) fn new() -> (Arc<Self>, Identity) {
        let authority = CertificateAuthority::new("zoo").expect("it can be made");
        let serving = authority.serving_identity(vec!["zoo.default.svc".to_owned()]);
        let serving = serving.expect("it can be issued");
        let proxies = CertificateAuthority::new("proxies").expect("it can be made");
        let identity = proxies.client_identity(PROXY, None);
        let identity = identity.expect("it can be issued");
        let backend = Self {
            tls: acceptor(&serving, &proxies),
            authority,
            dialed: Mutex::default(),
            state: Arc::new(State {
                code: AtomicU16::new(200),
                events: Semaphore::new(0),
                said: Mutex::new([("v1".to_owned(), lions())].into()),
            }),
            tasks: Mutex::default(),
        };
        (Arc::new(backend), identity)
    }

    /// Its authority, as in an `APIService`.
    pub(super) fn ca_bundle(&self) -> String {
        ByteString(self.authority.certificate_pem().into_bytes()).to_base64()
    }

    /// The addresses that were dialed.
    pub(super) fn dialed(&self) -> Vec<String> {
        self.dialed.lock().clone()
    }

    /// The code of all further answers.
    pub(super) fn answer_with(&self, code: u16) {
        self.state.code.store(code, Ordering::SeqCst);
    }

    /// Accepts no connection any more.
    pub(super) fn be_gone(&self) {
        self.answer_with(0);
    }

    /// What discovery has as the resources of a version.
    pub(super) fn say(&self, version: &str, resources: &Value) {
        let mut said = self.state.said.lock();
        said.insert(version.to_owned(), resources.clone());
    }

    /// Lets a watch have another event.
    pub(super) fn send_event(&self) {
        self.state.events.add_permits(1);
    }
}

impl BackendDialer for Backend {
    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Box<dyn BackendStream>>> {
        Box::pin(async move {
            self.dialed.lock().push(format!("{host}:{port}"));
            if self.state.code.load(Ordering::SeqCst) == 0 {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (near, far) = tokio::io::duplex(64 << 10);
            let (tls, state) = (self.tls.clone(), Arc::clone(&self.state));
            self.tasks.lock().spawn(async move {
                if let Ok(stream) = tls.accept(far).await {
                    let service = service_fn(|request: Request<Incoming>| {
                        let state = Arc::clone(&state);
                        async move { Ok::<_, Infallible>(answer(request, state).await) }
                    });
                    let served =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    drop(served.await);
                }
            });
            let stream: Box<dyn BackendStream> = Box::new(near);
            Ok(stream)
        })
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

async fn answer(request: Request<Incoming>, state: Arc<State>) -> Answer {
    let (parts, body) = request.into_parts();
    let code = StatusCode::from_u16(state.code.load(Ordering::SeqCst)).expect("it is one");
    if code != StatusCode::OK {
        return with(code, "text/plain", "no");
    }
    let target = parts.uri.path_and_query().map_or("", |it| it.as_str());
    let accepts = parts.headers.get(ACCEPT).map(|it| it.to_str());
    let accepts = accepts.and_then(Result::ok).unwrap_or_default();
    if parts.uri.path() == "/apis" && accepts.contains("as=APIGroupDiscoveryList") {
        let kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        return with(code, kind, discovery(&state.said.lock()).to_string());
    }
    if target == "/openapi/v3" {
        let url = "/openapi/v3/apis/zoo.example.com/v1?hash=7";
        let paths = json!({"apis/zoo.example.com/v1": {"serverRelativeURL": url}});
        let index = json!({"paths": paths});
        return with(code, "application/json", index.to_string());
    }
    if target.ends_with("/redirect") {
        let mut answer = with(StatusCode::FOUND, "text/plain", "");
        let location = HeaderValue::from_static("https://elsewhere.example/");
        answer.headers_mut().insert(LOCATION, location);
        return answer;
    }
    if target.contains("watch=true") {
        let events = futures_util::stream::unfold((state, 0), |(state, count)| async move {
            state.events.acquire().await.ok()?.forget();
            let event = Bytes::from(format!("event {count}\n"));
            Some((Ok(Frame::data(event)), (state, count + 1)))
        });
        return Response::new(BodyExt::boxed(StreamBody::new(events)));
    }
    let mut headers = Map::new();
    for name in parts.headers.keys() {
        let values = parts.headers.get_all(name).iter();
        let values = values.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
        headers.insert(name.to_string(), Value::from(values.collect::<Vec<_>>()));
    }
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
    let said = json!({"target": target, "headers": headers, "body": body});
    with(code, "application/json", said.to_string())
}

fn lions() -> Value {
    json!([{
        "resource": "lions", "scope": "Namespaced", "singularResource": "lion",
        "responseKind": {"group": "zoo.example.com", "version": "v1", "kind": "Lion"},
        "verbs": ["get", "list"],
    }])
}

fn discovery(said: &BTreeMap<String, Value>) -> Value {
    let versions = said.iter().map(|(version, resources)| {
        json!({"version": version, "freshness": "Current", "resources": resources})
    });
    let versions: Vec<Value> = versions.collect();
    let group = |name: &str| json!({"metadata": {"name": name}, "versions": versions});
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "items": [group("zoo.example.com"), group("later.example.com")],
    })
}

fn with(code: StatusCode, kind: &str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(BodyExt::boxed(Full::new(text.into())));
    *answer.status_mut() = code;
    let kind = HeaderValue::from_str(kind).expect("it is text");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
