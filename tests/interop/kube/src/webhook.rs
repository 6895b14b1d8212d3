//! An admission webhook as kube's users write one: axum, TLS, and the types of
//! `kube::core::admission`. It notes what it was asked.

use crate::Failure;
use axum::extract::State;
use axum::routing::post;
use axum::serve::Listener;
use axum::{Json, Router};
use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation};
use kube::ResourceExt as _;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, Operation};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

/// The label that it adds, and its value.
pub const ADDED: (&str, &str) = ("admission", "by-kube");
/// The label whose objects are not admitted.
pub const ILLEGAL: &str = "illegal";
/// The label whose objects are not deleted.
pub const KEPT: &str = "kept";
/// The beginning of the names that are not admitted.
pub const FORBIDDEN: &str = "forbidden-";

/// What the webhook was asked once.
#[derive(Clone, Debug)]
pub struct Question {
    /// `mutate` or `validate`.
    pub path: &'static str,
    /// The request.
    pub request: AdmissionRequest<DynamicObject>,
}

type Questions = Arc<Mutex<Vec<Question>>>;

/// A running webhook. Dropping it ends it.
pub struct Webhook {
    address: SocketAddr,
    /// The authority of its certificate, in PEM.
    pub authority: String,
    questions: Questions,
    /// Aborted when it is dropped.
    _serving: JoinSet<io::Result<()>>,
}

impl Webhook {
    /// Starts one on a free port of loopback.
    pub async fn start() -> Result<Self, Failure> {
        let (authority, acceptor) = certificates()?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let questions = Questions::default();
        let router = Router::new()
            .route("/mutate", post(mutate))
            .route("/validate", post(validate))
            .with_state(Arc::clone(&questions));
        let tls = Tls { listener, acceptor };
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(tls, router).await });
        Ok(Self {
            address,
            authority,
            questions,
            _serving: serving,
        })
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}/{path}", self.address)
    }

    /// Takes what it was asked since the last time.
    pub fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut *self.questions.lock().expect("nobody panics"))
    }
}

/// Makes an authority, and a certificate of it for loopback.
fn certificates() -> Result<(String, TlsAcceptor), Failure> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let params = CertificateParams::new(["127.0.0.1".to_owned()])?;
    let certificate = params.signed_by(&key, &authority)?;
    let key = PrivateKeyDer::try_from(key.serialize_der())?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((authority.pem(), TlsAcceptor::from(Arc::new(config))))
}

struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

type Asked = State<Questions>;
type Review = Json<AdmissionReview<DynamicObject>>;

/// Answers with what a decision makes of the response, or that the review has no request.
fn answer(
    questions: &Questions,
    path: &'static str,
    review: AdmissionReview<DynamicObject>,
    decide: impl FnOnce(&AdmissionRequest<DynamicObject>, AdmissionResponse) -> AdmissionResponse,
) -> Review {
    let request: AdmissionRequest<_> = match review.try_into() {
        Ok(request) => request,
        Err(error) => return Json(AdmissionResponse::invalid(error).into_review()),
    };
    let response = decide(&request, AdmissionResponse::from(&request));
    let mut asked = questions.lock().expect("nobody panics");
    asked.push(Question { path, request });
    Json(response.into_review())
}

async fn mutate(State(questions): Asked, Json(review): Review) -> Review {
    answer(&questions, "mutate", review, |request, response| {
        let Some(object) = &request.object else {
            return response;
        };
        match labelled(object, response.clone()) {
            Ok(response) => response,
            Err(error) => response.deny(error),
        }
    })
}

/// Adds the label, unless it is there.
fn labelled(
    object: &DynamicObject,
    mut response: AdmissionResponse,
) -> Result<AdmissionResponse, Failure> {
    if object.labels().contains_key(ILLEGAL) {
        return Err(format!("the label {ILLEGAL:?} is illegal").into());
    }
    if object.labels().contains_key(ADDED.0) {
        return Ok(response);
    }
    let mut patch = Vec::new();
    if object.metadata.labels.is_none() {
        patch.push(add(&["metadata", "labels"], json!({})));
    }
    patch.push(add(&["metadata", "labels", ADDED.0], ADDED.1.into()));
    let warning = format!("{} has no label {:?}", object.name_any(), ADDED.0);
    response.warnings = Some(vec![warning]);
    Ok(response.with_patch(Patch(patch))?)
}

fn add(path: &[&str], value: Value) -> PatchOperation {
    let path = PointerBuf::from_tokens(path.iter().copied());
    PatchOperation::Add(AddOperation { path, value })
}

async fn validate(State(questions): Asked, Json(review): Review) -> Review {
    answer(&questions, "validate", review, |request, response| {
        if request.operation == Operation::Delete
            && let Some(old) = &request.old_object
            && old.labels().contains_key(KEPT)
        {
            // The request names none where a collection is deleted.
            return response.deny(format!("{} is kept", old.name_any()));
        }
        if request.name.starts_with(FORBIDDEN) {
            return response.deny(format!("the name {:?} is forbidden", request.name));
        }
        response
    })
}
