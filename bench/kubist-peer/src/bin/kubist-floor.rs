//! Watches all Pods in protobuf, with their initial state, until a marker appears, and drops the
//! bytes, or keeps those of the initial state: what first sync and updates cost any client of this
//! transport at least.

use clap::Parser;
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_peer::Failure;
use kubist_transport::{Body, ResponseBody, Transport};
use meter::Usage;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The relevant part of an answer that is no list of Pods.
const ANSWER_MAX: usize = 1 << 20;
/// How much of a chunk's ends is searched.
const NEAR: usize = 1024;
/// The request of an informer.
const STREAMING_LIST: &str = "/api/v1/pods?watch=true&allowWatchBookmarks=true\
    &sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=";
/// The annotation of the bookmark that ends the initial state.
const INITIAL_EVENTS_END: &[u8] = b"k8s.io/initial-events-end";
const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    /// The name of the Pod that ends the updates
    #[arg(long)]
    marker: String,
    /// Copy the bytes of the initial state to memory of their own, and keep them
    #[arg(long)]
    keep: bool,
    /// Not used: nothing is listed again
    #[arg(long)]
    relist_marker: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let options = Options {
        file: Some(arguments.kubeconfig),
        ..Options::default()
    };
    let config = infer(&options, &Environment::current())?;
    let transport = Transport::new(config.transport)?;
    // The handshake is not measured.
    let one = get(&transport, "/api/v1/pods?limit=1", "application/json").await?;
    let one: Value = serde_json::from_slice(&one.bytes(ANSWER_MAX).await?)?;
    let objects = one["metadata"]["remainingItemCount"].as_u64().unwrap_or(0) + 1;

    let before = Usage::now();
    let mut body = get(&transport, STREAMING_LIST, PROTOBUF_STREAM).await?;
    let mut kept = Vec::new();
    let keep = |chunk: &[u8]| {
        if arguments.keep {
            kept.push(Box::<[u8]>::from(chunk));
        }
    };
    let bytes = receive(&mut body, INITIAL_EVENTS_END, keep).await?;
    let mut sync = phase("sync", objects, bytes, before);
    if arguments.keep {
        sync["heap_bytes"] = bytes.into();
    }
    println!("{sync}");

    let before = Usage::now();
    let bytes = receive(&mut body, &name_field(&arguments.marker), |_| ()).await?;
    println!("{}", phase("updates", objects, bytes, before));
    drop(kept);
    Ok(())
}

async fn get(transport: &Transport, path: &str, accept: &str) -> Result<ResponseBody, Failure> {
    let request = http::Request::get(path)
        .header("accept", accept)
        .header("accept-encoding", "identity")
        .body(Body::empty())?;
    let response = transport.send(request).await?;
    if !response.status().is_success() {
        return Err(format!("{path} was answered with {}", response.status()).into());
    }
    Ok(response.into_body())
}

/// Returns a short name as the first field of a protobuf message, such as an object's metadata.
fn name_field(name: &str) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    [&[0x0a, length], name.as_bytes()].concat()
}

/// Passes all bytes on until a chunk has the text near one of its ends; returns how many they were.
/// Names come in the first kilobyte of an event, and bookmarks are short; a text that two chunks
/// share is not found.
async fn receive(
    body: &mut ResponseBody,
    until: &[u8],
    mut each: impl FnMut(&[u8]),
) -> Result<usize, Failure> {
    let mut bytes = 0;
    while let Some(chunk) = body.chunk().await? {
        bytes += chunk.len();
        each(&chunk);
        let (start, end) = (chunk.len().min(NEAR), chunk.len().saturating_sub(NEAR));
        let has = |part: &[u8]| part.windows(until.len()).any(|at| at == until);
        if has(&chunk[..start]) || has(&chunk[end..]) {
            break;
        }
    }
    Ok(bytes)
}

fn phase(phase: &str, objects: u64, bytes: usize, before: Usage) -> Value {
    let mut line = meter::phase(phase, 0, before, Usage::now());
    line["objects"] = json!(objects);
    line["bytes"] = json!(bytes);
    line["lists"] = json!(0);
    line
}
