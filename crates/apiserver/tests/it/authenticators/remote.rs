//! A scripted HTTPS server: an issuer of tokens, or a webhook.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubist_apiserver::{CertificateAuthority, RemoteService};
use parking_lot::Mutex;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto};

/// What a server is asked: a path with its query, and a body, null for none.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) path: String,
    pub(super) authorization: String,
    pub(super) body: Value,
}

type Script = dyn Fn(&Question) -> (u16, Value) + Send + Sync;

/// A running server.
pub(super) struct Remote {
    pub(super) url: String,
    pub(super) ca_pem: String,
    state: Arc<State>,
    _tasks: JoinSet<()>,
}

struct State {
    script: Mutex<Arc<Script>>,
    questions: Mutex<Vec<Question>>,
}

impl Remote {
    /// Starts a server that answers 404 until it has a script.
    pub(super) async fn start() -> Self {
        let authority = CertificateAuthority::new("remote").expect("it is made");
        let identity = authority.serving_identity(vec!["localhost".to_owned()]);
        let identity = identity.expect("it is made");
        let provider = Arc::new(crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("they are supported")
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate()], identity.key())
            .expect("key and certificate fit");
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let nothing: Arc<Script> = Arc::new(|_| (404, Value::Null));
        let state = Arc::new(State {
            script: Mutex::new(nothing),
            questions: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(
            listener,
            TlsAcceptor::from(Arc::new(tls)),
            Arc::clone(&state),
        ));
        Self {
            url: format!("https://localhost:{port}"),
            ca_pem: authority.certificate_pem(),
            state,
            _tasks: tasks,
        }
    }

    /// Answers by this from now on.
    pub(super) fn answer(
        &self,
        script: impl Fn(&Question) -> (u16, Value) + Send + Sync + 'static,
    ) {
        *self.state.script.lock() = Arc::new(script);
    }

    /// Returns what was asked since the last time.
    pub(super) fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut *self.state.questions.lock())
    }

    /// Returns how it is reached as a webhook.
    pub(super) fn service(&self) -> RemoteService {
        RemoteService {
            url: format!("{}/review", self.url),
            ca_pem: self.ca_pem.clone(),
            authorization: Some("Bearer me".to_owned()),
            ..RemoteService::default()
        }
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, state) = (tls.clone(), Arc::clone(&state));
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else {
                return;
            };
            let service = service_fn(|request| respond(request, Arc::clone(&state)));
            let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            drop(served.await);
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    state: Arc<State>,
) -> Result<Response<Full<Bytes>>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let authorization = head.headers.get("authorization").map(|it| it.to_str());
    let question = Question {
        path: head.uri.to_string(),
        authorization: authorization
            .and_then(Result::ok)
            .unwrap_or_default()
            .to_owned(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    state.questions.lock().push(question.clone());
    let script = Arc::clone(&state.script.lock());
    let (code, answer) = script(&question);
    let response = Response::builder()
        .status(StatusCode::from_u16(code).map_err(io::Error::other)?)
        .header("content-type", "application/json")
        .body(Full::new(answer.to_string().into()));
    response.map_err(io::Error::other)
}
