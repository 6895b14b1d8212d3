//! Creates, updates and reads of custom resources with large schemas and rules.
//!
//! Each client has objects of its own and waits for an answer before the next request.

mod objects;

use crate::Failure;
use crate::lags::Lags;
use crate::measured::measured;
use crate::server::{NAMESPACE, Server};
use bytes::Bytes;
use clap::Args;
use futures::future::try_join_all;
use http::Method;
use objects::{KINDS, Kind};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The path of definitions.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The namespace of the objects that are listed.
const LISTED: &str = "listed";
/// The time limit for definitions to be served, and for the server to come to rest after that.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server at rest is observed, and the CPU seconds that it uses at most in that time.
const REST: (Duration, f64) = (Duration::from_secs(1), 0.04);
/// Clients that create the objects that are listed.
const FILLERS: usize = 16;

#[derive(Args)]
pub struct Options {
    /// A file with the definitions, as a JSON array
    #[arg(long)]
    definitions: PathBuf,
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Duration of each case
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The number of the round, which is part of all names
    #[arg(long, default_value_t = 0)]
    round: u32,
    /// Only cases whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
    /// Create this many objects of each kind in the namespace `listed`, and measure nothing
    #[arg(long)]
    fill: Option<usize>,
}

/// What each request of a case does.
#[derive(Clone, Copy)]
enum Verb {
    Create,
    Update,
    Get,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Get => "get",
        }
    }
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    define(server, options).await?;
    if let Some(count) = options.fill {
        return fill(server, count).await;
    }
    for kind in &KINDS {
        for verb in [Verb::Create, Verb::Update, Verb::Get] {
            let case = format!("{}, {}", verb.name(), kind.name);
            if case.contains(&options.only) {
                measure(server, options, kind, verb, &case).await?;
            }
        }
    }
    Ok(())
}

/// Creates the definitions if need be, waits until they are served and the server is at rest.
async fn define(server: &Server, options: &Options) -> Result<(), Failure> {
    let text = std::fs::read(&options.definitions)?;
    let definitions: Vec<Value> = serde_json::from_slice(&text)?;
    for definition in &definitions {
        let created = server.send(Method::POST, DEFINITIONS, definition).await;
        tolerate(created)?;
    }
    let start = Instant::now();
    for kind in &KINDS {
        while let Err(error) = is_served(server, kind).await {
            if start.elapsed() > PATIENCE {
                return Err(error);
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
    while start.elapsed() < PATIENCE {
        let before = server.cpu();
        sleep(REST.0).await;
        if server.cpu() - before <= REST.1 {
            return Ok(());
        }
    }
    Err("the server does not come to rest".into())
}

/// Fails unless the objects of a kind are served.
async fn is_served(server: &Server, kind: &Kind) -> Result<(), Failure> {
    let path = format!("{DEFINITIONS}/{}", kind.definition);
    let response = server.get(&path, "application/json").await?;
    let body = response.into_body().bytes(1 << 23).await?;
    let definition: Value = serde_json::from_slice(&body)?;
    let conditions = definition["status"]["conditions"].as_array();
    let is_true = |it: &Value| it["type"] == "Established" && it["status"] == "True";
    if !conditions.is_some_and(|it| it.iter().any(is_true)) {
        return Err(format!("{path}: not established").into());
    }
    let path = format!("{}?limit=1", kind.collection(NAMESPACE));
    server.read(&path, "application/json").await.map(drop)
}

/// Passes what failed only because the object exists.
fn tolerate(created: Result<(), Failure>) -> Result<(), Failure> {
    match created {
        Err(error) if !error.to_string().contains("AlreadyExists") => Err(error),
        _ => Ok(()),
    }
}

async fn fill(server: &Server, count: usize) -> Result<(), Failure> {
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LISTED}});
    tolerate(server.send(Method::POST, "/api/v1/namespaces", &body).await)?;
    for kind in &KINDS {
        let path = kind.collection(LISTED);
        let fillers = (0..FILLERS).map(|filler| {
            let path = &path;
            async move {
                for number in (filler..count).step_by(FILLERS) {
                    let object = kind.object(LISTED, &format!("filled-{number}"), number % 500);
                    server.send(Method::POST, path, &object).await?;
                }
                Ok::<_, Failure>(())
            }
        });
        try_join_all(fillers).await?;
    }
    Ok(())
}

async fn measure(
    server: &Server,
    options: &Options,
    kind: &Kind,
    verb: Verb,
    case: &str,
) -> Result<(), Failure> {
    let clients = (0..options.clients).map(|client| Client {
        server,
        kind,
        verb,
        name: format!("{}-{}-{client}", verb.name(), options.round),
    });
    let clients: Vec<_> = clients.collect();
    try_join_all(clients.iter().map(Client::prepare)).await?;
    let limit = Duration::from_secs_f64(options.seconds);
    let requests = clients.iter().map(|it| it.requests(limit));
    let mut line = measured(server, case, requests).await?;
    let path = clients.first().map(Client::object).unwrap_or_default();
    line["bytes"] = server.read(&path, "application/json").await?.len().into();
    println!("{line}");
    Ok(())
}

/// One of the clients of a case, and its object.
struct Client<'a> {
    server: &'a Server,
    kind: &'a Kind,
    verb: Verb,
    name: String,
}

impl Client<'_> {
    fn object(&self) -> String {
        format!("{}/{}", self.kind.collection(NAMESPACE), self.name)
    }

    /// Creates the object that is updated or read.
    async fn prepare(&self) -> Result<(), Failure> {
        self.create(&self.name).await
    }

    async fn create(&self, name: &str) -> Result<(), Failure> {
        let object = self.kind.object(NAMESPACE, name, 0);
        let path = self.kind.collection(NAMESPACE);
        self.server.send(Method::POST, &path, &object).await
    }

    /// Sends requests until the time is over.
    async fn requests(&self, limit: Duration) -> Result<Lags, Failure> {
        let (start, mut lags) = (Instant::now(), Lags::default());
        // The answer to an update has the version that the next one must name.
        let mut version = match self.verb {
            Verb::Update => self.version().await?,
            Verb::Create | Verb::Get => String::new(),
        };
        while start.elapsed() < limit {
            let begun = Instant::now();
            version = self.once(lags.len() + 1, version).await?;
            lags.push(begun.elapsed());
        }
        Ok(lags)
    }

    /// Sends one request; returns the version that an update wrote.
    async fn once(&self, number: usize, version: String) -> Result<String, Failure> {
        match self.verb {
            Verb::Create => self.create(&format!("{}-{number}", self.name)).await?,
            Verb::Get => {
                self.server.read(&self.object(), "application/json").await?;
            }
            Verb::Update => {
                let mut object = self.kind.object(NAMESPACE, &self.name, number);
                object["metadata"]["resourceVersion"] = version.into();
                let path = self.object();
                let body = Bytes::from(object.to_string());
                let sent = self
                    .server
                    .exchange(Method::PUT, &path, "application/json", body);
                return version_of(&sent.await?);
            }
        }
        Ok(version)
    }

    async fn version(&self) -> Result<String, Failure> {
        version_of(&self.server.read(&self.object(), "application/json").await?)
    }
}

/// Returns the resource version of an object.
fn version_of(body: &[u8]) -> Result<String, Failure> {
    let object: Value = serde_json::from_slice(body)?;
    let version = object["metadata"]["resourceVersion"].as_str();
    Ok(version.ok_or("an object without a version")?.to_owned())
}
