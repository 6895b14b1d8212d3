//! Jobs by a schedule: the idea of kubebuilder's tutorial. `definition` prints the kind.

#[cfg(test)]
mod exploration;
mod kind;
mod operator;
mod plan;
mod schedule;
#[cfg(test)]
mod tests;

use crate::kind::CronJob;
use kubist::apimachinery::wire::to_manifest;
use kubist::codec::yaml::to_yaml;
use kubist::controller::shutdown_on_signal;
use kubist::custom_resource::CustomResource as _;
use kubist::events::EventBroadcaster;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("definition") {
        let definition = to_manifest(&CronJob::definition());
        return Ok(std::io::stdout().write_all(to_yaml(&definition).as_bytes())?);
    }
    tracing_subscriber::fmt().init();
    let client = kubist::infer()?;
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder(operator::NAME);
    let now = Arc::new(|| SystemTime::now().into());
    let manager = operator::manager(client, recorder, now).with_task("events", |token| async {
        broadcaster.run(token).await;
        Ok(())
    });
    manager.run(shutdown_on_signal()?).await?;
    Ok(())
}
