//! Lists all Pods in protobuf, watches them until a marker appears, and drops the bytes: what first
//! sync and updates cost any client of this transport at least, to receive and to decrypt.

use clap::Parser;
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_peer::Failure;
use kubist_transport::{Body, ResponseBody, Transport};
use meter::Usage;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The relevant part of an answer that is no list of Pods.
const ANSWER_MAX: usize = 1 << 20;
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    /// The name of the Pod that ends the updates
    #[arg(long)]
    marker: String,
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
    let metadata = &one["metadata"];
    let objects = metadata["remainingItemCount"].as_u64().unwrap_or(0) + 1;
    let version = metadata["resourceVersion"].as_str().unwrap_or_default();

    let before = Usage::now();
    let body = get(&transport, "/api/v1/pods?resourceVersion=0", PROTOBUF).await?;
    let bytes = receive(body, None).await?;
    print("sync", objects, bytes, before);

    let watch = format!("/api/v1/pods?watch=true&resourceVersion={version}");
    let before = Usage::now();
    let body = get(&transport, &watch, PROTOBUF_STREAM).await?;
    let bytes = receive(body, Some(&name_field(&arguments.marker))).await?;
    print("updates", objects, bytes, before);
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

/// Drops all bytes until the end, or until a chunk has the text, and returns how many they were.
/// Names come in their first kilobyte; a marker that two chunks share is not found.
async fn receive(mut body: ResponseBody, until: Option<&[u8]>) -> Result<usize, Failure> {
    let mut bytes = 0;
    while let Some(chunk) = body.chunk().await? {
        bytes += chunk.len();
        let start = &chunk[..chunk.len().min(1024)];
        if until.is_some_and(|it| start.windows(it.len()).any(|at| at == it)) {
            break;
        }
    }
    Ok(bytes)
}

fn print(phase: &str, objects: u64, bytes: usize, before: Usage) {
    let mut line = meter::phase(phase, 0, before, Usage::now());
    line["objects"] = json!(objects);
    line["bytes"] = json!(bytes);
    line["lists"] = json!(0);
    println!("{line}");
}
