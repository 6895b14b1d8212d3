//! The admission webhook of a benchmark: a process of its own, so that its CPU time is not the
//! server's, over TLS on connections that stay open.

use crate::Failure;
use crate::tls::{self, Listening};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The path of the webhook that changes objects; every other one only allows.
const MUTATE: &str = "/mutate";

/// Serves until the process is killed; prints a line of JSON that says where.
pub async fn run() -> Result<(), Failure> {
    let Listening {
        listener,
        acceptor,
        pem,
    } = tls::listen(&[]).await?;
    let ca_bundle = BASE64_STANDARD.encode(pem);
    println!(
        "{}",
        json!({"address": listener.local_addr()?.to_string(), "ca_bundle": ca_bundle})
    );
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        connections.spawn(serve(acceptor.clone(), stream));
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let stream = acceptor.accept(stream).await?;
    let connection =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
    Ok(connection.await?)
}

/// Allows a request.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Failure> {
    let mutates = request.uri().path() == MUTATE;
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body)?;
    let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
    if mutates {
        let patch = r#"[{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}}]"#;
        response["patchType"] = "JSONPatch".into();
        response["patch"] = BASE64_STANDARD.encode(patch).into();
    }
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    });
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::new(Bytes::from(review.to_string())))?)
}

/// A running webhook. Dropping it ends it.
pub struct Hook {
    child: Child,
    address: String,
    ca_bundle: String,
}

impl Hook {
    /// Starts one and waits until it listens.
    pub fn start() -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("hook")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("its output is piped")?;
        let mut hook = Self {
            child,
            address: String::new(),
            ca_bundle: String::new(),
        };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let line: Value = serde_json::from_str(&line)?;
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        (hook.address, hook.ca_bundle) = (text("address"), text("ca_bundle"));
        Ok(hook)
    }

    /// Returns the configuration that sends the creation of Secrets to one of its paths.
    pub fn configuration(&self, path: &str) -> Value {
        json!({
            "metadata": {"name": "hook"},
            "webhooks": [{
                "name": "hook.example.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "clientConfig": {
                    "url": format!("https://{}{path}", self.address),
                    "caBundle": self.ca_bundle,
                },
                "rules": [{
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["secrets"],
                }],
            }],
        })
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
