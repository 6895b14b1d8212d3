//! `Server`: sends requests to it, and measures its processes.

use crate::Failure;
use crate::process::Process;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::{Auth, Body, Config, ResponseBody, Transport};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The size limit of an answer to a write.
const ANSWER_MAX: usize = 1 << 20;

/// The namespace of all objects.
pub const NAMESPACE: &str = "load";

/// The server under load.
#[derive(Clone)]
pub struct Server {
    config: Config,
    transport: Transport,
    /// The server itself.
    pub process: Process,
    /// Its storage, such as etcd.
    pub beside: Process,
}

impl Server {
    pub fn new(
        kubeconfig: Option<PathBuf>,
        process: Process,
        beside: Process,
    ) -> Result<Self, Failure> {
        let options = Options {
            file: kubeconfig,
            ..Options::default()
        };
        let config = infer(&options, &Environment::current())?.transport;
        let transport = Transport::new(config.clone())?;
        Ok(Self {
            config,
            transport,
            process,
            beside,
        })
    }

    /// Returns the same server over a new connection.
    pub fn apart(&self) -> Result<Self, Failure> {
        let transport = Transport::new(self.config.clone())?;
        Ok(Self {
            transport,
            ..self.clone()
        })
    }

    /// Returns the same server for the owner of a bearer token.
    pub fn with_token(&self, token: &str) -> Result<Self, Failure> {
        let mut config = self.config.clone();
        config.tls.identity = None;
        config.auth = Auth::Bearer(token.into());
        let transport = Transport::new(config.clone())?;
        Ok(Self {
            config,
            transport,
            ..self.clone()
        })
    }

    /// Returns the CPU seconds of the server, user and system; 0 if its process is not known.
    pub fn cpu(&self) -> f64 {
        self.process.cpu()
    }

    /// Returns its resident memory, in kB; 0 if its process is not known.
    pub fn rss(&self) -> u64 {
        self.process.rss()
    }

    /// Returns the head of the answer to a GET.
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

    /// Sends an object as JSON and reads the answer.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Result<(), Failure> {
        let body = Bytes::from(body.to_string());
        self.send_as(method, path, "application/json", body).await
    }

    /// Sends a body of this type and reads the answer.
    pub async fn send_as(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<(), Failure> {
        let answer = self.exchange(method, path, content_type, body).await;
        answer.map(drop)
    }

    /// Sends a body of this type and returns the answer's.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Bytes, Failure> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .body(Body::from(body))?;
        let response = self.transport.send(request).await?;
        let status = response.status();
        let body = response.into_body().bytes(ANSWER_MAX).await?;
        if !status.is_success() {
            return Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&body)).into());
        }
        Ok(body)
    }

    /// Returns the body of the answer to a GET.
    pub async fn read(&self, path: &str, accept: &str) -> Result<Bytes, Failure> {
        let response = self.get(path, accept).await?;
        Ok(response.into_body().bytes(ANSWER_MAX).await?)
    }

    /// Creates the namespace of all objects.
    pub async fn make_namespace(&self) -> Result<(), Failure> {
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        match self.send(Method::POST, "/api/v1/namespaces", &body).await {
            Err(error) if !error.to_string().contains("AlreadyExists") => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns a small object with some content.
pub fn config_map(name: &str, note: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"note": note},
    })
}

/// Returns the path of their collection.
pub fn config_maps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}
