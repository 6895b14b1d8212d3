//! Lists all Pods in protobuf and drops the bytes: what any client's first sync costs at least, to
//! receive and decrypt.

use clap::Parser;
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_peer::Failure;
use kubist_transport::{Body, Transport};
use meter::Usage;
use serde_json::json;
use std::path::PathBuf;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let options = Options {
        file: Some(Arguments::parse().kubeconfig),
        ..Options::default()
    };
    let config = infer(&options, &Environment::current())?;
    let transport = Transport::new(config.transport)?;
    // The handshake is not measured.
    let version = http::Request::get("/version").body(Body::empty())?;
    transport
        .send(version)
        .await?
        .into_body()
        .bytes(1 << 20)
        .await?;
    let before = Usage::now();
    let request = http::Request::get("/api/v1/pods?resourceVersion=0")
        .header("accept", "application/vnd.kubernetes.protobuf")
        .header("accept-encoding", "identity")
        .body(Body::empty())?;
    let response = transport.send(request).await?;
    if !response.status().is_success() {
        return Err(format!("the list was answered with {}", response.status()).into());
    }
    let (mut body, mut bytes) = (response.into_body(), 0);
    while let Some(chunk) = body.chunk().await? {
        bytes += chunk.len();
    }
    let mut line = meter::phase("floor", 0, before, Usage::now());
    line["bytes"] = json!(bytes);
    println!("{line}");
    Ok(())
}
