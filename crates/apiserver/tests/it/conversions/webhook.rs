//! A conversion webhook with TLS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubist_apiserver::CertificateAuthority;
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto};

/// What the webhook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Convert,
    /// Converts, and closes the connection after the response.
    ConvertAndClose,
    /// Closes the connection without a response.
    Close,
    /// Responds with an error.
    Fail,
    /// Responds with an error that quotes the request.
    FailAndQuote,
    /// Responds with more than any limit.
    Huge,
    /// Responds with something else.
    Rubbish,
}

/// A running webhook.
pub(super) struct Webhook {
    pub(super) port: u16,
    pub(super) ca_pem: String,
    state: Arc<State>,
    _tasks: JoinSet<()>,
}

struct State {
    mode: Mutex<Mode>,
    connections: AtomicUsize,
    requests: AtomicUsize,
    paths: Mutex<Vec<String>>,
}

impl Webhook {
    /// Starts a webhook whose certificate has this name.
    pub(super) async fn start(name: &str) -> Self {
        let authority = CertificateAuthority::new("webhooks").expect("it is made");
        let identity = authority.serving_identity(vec![name.to_owned()]);
        let identity = identity.expect("it is made");
        let certificate = (identity.certificate(), identity.key());
        Self::with(certificate, authority.certificate_pem()).await
    }

    /// Starts a webhook whose certificate, of an authority that nobody knows, is its own bundle.
    pub(super) async fn known_itself(name: &str) -> Self {
        let authority = CertificateAuthority::new("unknown").expect("it is made");
        let identity = authority.serving_identity(vec![name.to_owned()]);
        let identity = identity.expect("it is made");
        let encoded = STANDARD.encode(identity.certificate());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n");
        Self::with((identity.certificate(), identity.key()), pem).await
    }

    /// Starts a webhook whose certificate is an authority that has signed itself.
    pub(super) async fn self_signed(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("it is a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("it is made");
        let certificate = params.self_signed(&key).expect("it is made");
        let pem = certificate.pem();
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("it is a key");
        Self::with((certificate.der().clone(), key), pem).await
    }

    async fn with(
        (certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>),
        ca_pem: String,
    ) -> Self {
        let provider = Arc::new(crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("they are supported")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("key and certificate fit");
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::new(State {
            mode: Mutex::new(Mode::Convert),
            connections: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            paths: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(
            listener,
            TlsAcceptor::from(Arc::new(tls)),
            Arc::clone(&state),
        ));
        Self {
            port,
            ca_pem,
            state,
            _tasks: tasks,
        }
    }

    pub(super) fn set(&self, mode: Mode) {
        *self.state.mode.lock() = mode;
    }

    /// Returns the number of connections so far.
    pub(super) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of requests so far.
    pub(super) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Returns the paths of the requests so far.
    pub(super) fn paths(&self) -> Vec<String> {
        self.state.paths.lock().clone()
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        state.connections.fetch_add(1, Ordering::Relaxed);
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
    state.requests.fetch_add(1, Ordering::Relaxed);
    let path = request.uri().to_string();
    state.paths.lock().push(path);
    let body = request
        .into_body()
        .collect()
        .await
        .map_err(io::Error::other)?;
    let mode = *state.mode.lock();
    let mut response = Response::builder().header("content-type", "application/json");
    let body: Bytes = match mode {
        Mode::Close => return Err(io::Error::other("it closes")),
        Mode::Fail => {
            response = response.status(StatusCode::INTERNAL_SERVER_ERROR);
            if let Some(headers) = response.headers_mut() {
                headers.insert("content-type", HeaderValue::from_static("text/plain"));
            }
            "it is broken".into()
        }
        Mode::FailAndQuote => {
            response = response.status(StatusCode::INTERNAL_SERVER_ERROR);
            body.to_bytes()
        }
        Mode::Huge => vec![b' '; 40 << 20].into(),
        Mode::Rubbish => "<html>".into(),
        Mode::Convert | Mode::ConvertAndClose => {
            let review = serde_json::from_slice(&body.to_bytes())?;
            convert(&review).to_string().into()
        }
    };
    if mode == Mode::ConvertAndClose {
        response = response.header("connection", "close");
    }
    response.body(Full::new(body)).map_err(io::Error::other)
}

/// Returns the answer to a review: `spec.size` in `v1` is `spec.dimension` in `v1beta1`.
fn convert(review: &Value) -> Value {
    let request = &review["request"];
    let desired = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let (from, to) = if desired.ends_with("/v1") {
        ("dimension", "size")
    } else {
        ("size", "dimension")
    };
    let objects = request["objects"].as_array().cloned().unwrap_or_default();
    let converted = objects.into_iter().map(|mut object| {
        object["apiVersion"] = desired.into();
        if let Some(spec) = object["spec"].as_object_mut()
            && let Some(value) = spec.remove(from)
        {
            spec.insert(to.to_owned(), value);
        }
        object
    });
    json!({
        "kind": "ConversionReview", "apiVersion": review["apiVersion"],
        "response": {
            "uid": request["uid"], "convertedObjects": converted.collect::<Vec<_>>(),
            "result": {"status": "Success"},
        },
    })
}
