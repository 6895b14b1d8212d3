//! `Server`: requests to it, and what it has used.

use std::path::PathBuf;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::{Body, ResponseBody, Transport};
use serde_json::{Value, json};

use crate::Failure;

/// Longest answer to a write.
const ANSWER_MAX: usize = 1 << 20;

/// The namespace of everything that is written.
pub const NAMESPACE: &str = "load";

/// The server that is loaded.
#[derive(Clone)]
pub struct Server {
    transport: Transport,
    pid: u32,
}

impl Server {
    pub fn new(kubeconfig: Option<PathBuf>, pid: u32) -> Result<Self, Failure> {
        let options = Options {
            file: kubeconfig,
            ..Options::default()
        };
        let config = infer(&options, &Environment::current())?;
        let transport = Transport::new(config.transport)?;
        Ok(Self { transport, pid })
    }

    /// CPU seconds that the server has used, user and system; 0 if its process is not known.
    pub fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split(' ')
            .collect();
        let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<f64>().ok());
        // A hundred ticks a second on every Linux that this runs on.
        (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) / 100.0
    }

    /// Its resident memory, in kB; 0 if its process is not known.
    pub fn rss(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid);
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|it| it.trim().strip_suffix(" kB"));
        number.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
    }

    /// The head of the answer to a GET.
    pub async fn get(&self, path: &str, accept: &str) -> Result<Response<ResponseBody>, Failure> {
        let request = Request::get(path)
            .header("accept", accept)
            .header("accept-encoding", "identity")
            .body(Body::empty())?;
        let response = self.transport.send(request).await?;
        if response.status() != StatusCode::OK {
            let status = response.status();
            let body = response.into_body().bytes(ANSWER_MAX).await?;
            return Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&body)).into());
        }
        Ok(response)
    }

    /// Sends an object and reads the answer.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Result<(), Failure> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(Bytes::from(body.to_string())))?;
        let response = self.transport.send(request).await?;
        let status = response.status();
        let body = response.into_body().bytes(ANSWER_MAX).await?;
        if !status.is_success() {
            return Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&body)).into());
        }
        Ok(())
    }

    /// Makes the namespace of everything that is written.
    pub async fn make_namespace(&self) -> Result<(), Failure> {
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        match self.send(Method::POST, "/api/v1/namespaces", &body).await {
            Err(error) if !error.to_string().contains("AlreadyExists") => Err(error),
            _ => Ok(()),
        }
    }
}

/// A small object with something to tell.
pub fn config_map(name: &str, note: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"note": note},
    })
}

/// The collection of these.
pub fn config_maps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}
