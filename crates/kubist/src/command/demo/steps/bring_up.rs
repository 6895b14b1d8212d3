//! The whole application becomes available.

use super::super::application::Application;
use super::super::error::{DemoError, Doing as _, check};
use super::super::progress::Progress;
use super::super::stage::Stage;
use super::super::verify;
use kubist_api::core::v1::Service;
use kubist_apimachinery::ListOptions;

pub(in super::super) async fn run(
    stage: &Stage,
    application: &Application,
    progress: &Progress,
) -> Result<String, DemoError> {
    let deployments = application.deployments();
    let bars: Vec<_> = deployments
        .iter()
        .map(|(name, replicas)| progress.bar(name, *replicas))
        .collect();
    stage
        .until("all Deployments are available", |stage| {
            let mut missing = Vec::new();
            for ((name, replicas), bar) in deployments.iter().zip(&bars) {
                let available = stage.available(name);
                bar.set(available, "available");
                if available < *replicas {
                    missing.push(format!("{name} {available}/{replicas}"));
                }
            }
            if missing.is_empty() {
                Ok(())
            } else {
                Err(missing.join(", "))
            }
        })
        .await?;
    drop(bars);
    let mut pods = 0;
    for (name, replicas) in &deployments {
        stage.until_rolled_out(name, *replicas, |_| ()).await?;
        pods += verify::rolled_out(stage, name, *replicas).await?.len();
    }
    let services = stage.api::<Service>().list(&ListOptions::default()).await;
    let services = services.doing(|| "list the Services".to_owned())?.items;
    for name in application.services() {
        let service = services
            .iter()
            .find(|service| service.metadata.name == name);
        let has_address = service.is_some_and(|service| !service.spec.cluster_ip.is_empty());
        check(&format!("Service {name} has an address"), has_address, true)?;
    }
    let (deployments, services) = (deployments.len(), application.services().len());
    Ok(format!(
        "{deployments} Deployments, {pods} Pods, {services} Services"
    ))
}
