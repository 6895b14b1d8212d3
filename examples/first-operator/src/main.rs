//! Runs the operator; `definition` prints its kind, `manifests IMAGE` all that a cluster needs.

mod kind;
mod manifests;
mod operator;
#[cfg(test)]
mod tests;

use crate::kind::Website;
use kubist::apimachinery::wire::to_manifest;
use kubist::codec::yaml::to_yaml;
use kubist::controller::shutdown_on_signal;
use kubist::custom_resource::CustomResource as _;
use kubist::diagnostics::{Diagnostics, DiagnosticsServer};
use kubist::events::EventBroadcaster;
use kubist::leader_election::{LeaderElectionConfig, LeaseLock};
use serde_json::Value;
use std::error::Error;
use std::io::Write as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => run().await,
        ["definition"] => print(&[to_manifest(&Website::definition())]),
        ["manifests", image] => print(&manifests::documents(image)),
        _ => Err("the arguments are none, `definition`, or `manifests IMAGE`".into()),
    }
}

/// Prints YAML documents, for `kubectl apply -f -`.
fn print(documents: &[Value]) -> Result<(), Box<dyn Error>> {
    let documents: Vec<String> = documents.iter().map(to_yaml).collect();
    std::io::stdout().write_all(documents.join("---\n").as_bytes())?;
    Ok(())
}

async fn run() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().init();
    let client = kubist::infer()?; // kubeconfig, or in the cluster
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder(operator::NAME);
    // One of several replicas works; the caches of the others are filled.
    let lock = LeaseLock::new(
        client.clone(),
        client.default_namespace().clone(),
        operator::NAME,
    );
    let manager = operator::manager(client, recorder)
        .with_leader_election(LeaderElectionConfig::new(lock))?
        .with_task("events", |token| async move {
            broadcaster.run(token).await;
            Ok(())
        });
    // /metrics, /healthz, /readyz
    let diagnostics = Diagnostics::new().with_manager(&manager);
    let server = DiagnosticsServer::bind(diagnostics, ([0, 0, 0, 0], manifests::PORT).into());
    let server = server.await?;
    let manager = manager.with_task("diagnostics", |token| async move {
        server.serve(token).await;
        Ok(())
    });
    manager.run(shutdown_on_signal()?).await?;
    Ok(())
}
