//! Runs the operator, or prints the definition of its kind.

use first_operator::operator;
use first_operator::website::Website;
use kubist::controller::shutdown_on_signal;
use kubist::custom_resource::CustomResource as _;
use kubist::diagnostics::{Diagnostics, DiagnosticsServer};
use kubist::events::EventBroadcaster;
use kubist::leader_election::{LeaderElectionConfig, LeaseLock};
use std::error::Error;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the definition is for kubectl")]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("definition") {
        println!("{}", serde_json::to_string_pretty(&Website::definition())?);
        return Ok(());
    }
    tracing_subscriber::fmt().init();
    let client = kubist::infer()?; // kubeconfig, or in the cluster
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder("website-operator");
    let lock = LeaseLock::new(client.clone(), "default", "website-operator");
    let manager = operator::manager(client, recorder)
        .with_leader_election(LeaderElectionConfig::new(lock))?
        .with_task("events", |token| async move {
            broadcaster.run(token).await;
            Ok(())
        });
    let mut diagnostics = Diagnostics::new().with_manager(&manager);
    if let Some(leader) = manager.leader_watch() {
        diagnostics = diagnostics.with_leader(leader);
    }
    let server = DiagnosticsServer::bind(diagnostics, "127.0.0.1:8080".parse()?).await?;
    let manager = manager.with_task("diagnostics", |token| async move {
        server.serve(token).await;
        Ok(())
    });
    manager.run(shutdown_on_signal()?).await?;
    Ok(())
}
