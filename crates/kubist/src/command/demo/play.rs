//! `Play`: runs the steps in order and records their results.

use super::application::Application;
use super::error::{DemoError, Doing as _};
use super::fill;
use super::progress::{Progress, Step};
use super::report::{Report, Server as ServerReport, StepReport, Wire};
use super::simulation::Simulation;
use super::stage::{NAMESPACE, Stage};
use super::steps::{bring_up, kill, remove, roll, scale};
use super::{Options, units, verify};
use kubist::Server;
use kubist_client::Client;

/// The Deployment that loses a Pod, and later gets a new image.
const FRONTEND: &str = "frontend";
/// The Deployment that is scaled.
const CATALOG: &str = "catalog";
/// Its replicas, one after the other.
const CATALOG_SCALES: [u64; 2] = [8, 2];
/// The Deployment that is deleted.
const MAIL: &str = "mail";

/// A run of the demonstration.
pub(super) struct Play<'a> {
    server: &'a Server,
    progress: &'a Progress,
    report: &'a mut Report,
    options: &'a Options,
    simulation: Option<Simulation>,
}

impl<'a> Play<'a> {
    pub(super) fn new(
        server: &'a Server,
        progress: &'a Progress,
        report: &'a mut Report,
        options: &'a Options,
    ) -> Self {
        Self {
            server,
            progress,
            report,
            options,
            simulation: None,
        }
    }

    /// Runs all steps until one fails.
    pub(super) async fn run(&mut self) -> Result<(), DemoError> {
        let client = self.server.client();
        self.step("server", async |_| greet(&client, self.server).await)
            .await?;
        let (count, progress) = (self.options.objects, self.progress);
        if count > 0 {
            let seed = self.options.seed;
            let body = async |_: &Step<'_>| {
                let bar = progress.bar("Pods", count.into());
                fill::fill(&client, seed, count, &bar).await?;
                Ok(units::of(count.into(), "Pod"))
            };
            self.step("filling", body).await?;
        }
        fill::create_namespace(&client, NAMESPACE).await?;
        // With separate connections, so that their traffic is counted separately.
        let simulation = Simulation::start(self.server.connect()?, self.options.pod_start());
        let body = async |_: &Step<'_>| simulation.synced().await;
        let synced = self.step("controllers", body).await;
        self.simulation = Some(simulation);
        synced?;
        let application = Application::bundled()?;
        let body = async |_: &Step<'_>| {
            let discovery = client.discover().await;
            let discovery =
                discovery.doing(|| "discover the resources of the server".to_owned())?;
            let created = application.apply(&client, &discovery, NAMESPACE).await?;
            Ok(format!("{created} objects in namespace {NAMESPACE}"))
        };
        self.step("apply", body).await?;
        let stage = Stage::open(client.clone()).await?;
        let played = self.play(&stage, &application).await;
        stage.close().await;
        played
    }

    /// Runs the steps on the application; ends early if the controllers do.
    async fn play(&mut self, stage: &Stage, application: &Application) -> Result<(), DemoError> {
        let replicas = |name: &str| {
            let deployments = application.deployments();
            deployments
                .iter()
                .find(|(it, _)| it == name)
                .map_or(0, |(_, replicas)| *replicas)
        };
        let (frontend, mut expected) = (replicas(FRONTEND), application.deployments());
        let progress = self.progress;
        let body = async |_: &Step<'_>| bring_up::run(stage, application, progress).await;
        self.step("bring up", body).await?;
        let body = async |_: &Step<'_>| kill::run(stage, FRONTEND, frontend).await;
        self.step("kill a Pod", body).await?;
        let body = async |_: &Step<'_>| scale::run(stage, CATALOG, CATALOG_SCALES, progress).await;
        self.step("scale", body).await?;
        let body =
            async |step: &Step<'_>| roll::run(stage, FRONTEND, frontend, progress, step).await;
        self.step("rolling update", body).await?;
        self.step("delete", async |_: &Step<'_>| {
            remove::run(stage, MAIL).await
        })
        .await?;
        expected.retain(|(name, _)| name != MAIL);
        let body = async |_: &Step<'_>| {
            for (name, replicas) in &expected {
                let replicas = if name == CATALOG {
                    CATALOG_SCALES[1]
                } else {
                    *replicas
                };
                verify::rolled_out(stage, name, replicas).await?;
            }
            Ok(format!("{} Deployments are as expected", expected.len()))
        };
        self.step("final check", body).await
    }

    async fn step(
        &mut self,
        title: &str,
        body: impl AsyncFnOnce(&Step<'_>) -> Result<String, DemoError>,
    ) -> Result<(), DemoError> {
        let step = self.progress.step(title);
        let outcome = match &mut self.simulation {
            None => body(&step).await,
            Some(simulation) => tokio::select! {
                outcome = body(&step) => outcome,
                error = simulation.ended() => Err(error),
            },
        };
        let name = step.title().to_owned();
        let (ok, result) = (
            outcome.is_ok(),
            outcome.as_deref().unwrap_or_default().to_owned(),
        );
        let took = if ok {
            step.done(&result)
        } else {
            step.failed()
        };
        let seconds = took.as_secs_f64();
        self.report.steps.push(StepReport {
            name,
            ok,
            seconds,
            result,
        });
        outcome.map(drop)
    }

    /// Adds the current figures to the report.
    pub(super) fn figures(&mut self) {
        if let Some(stored) = self.server.storage_stats() {
            self.report.server = ServerReport {
                objects: stored.keys as u64,
                writes: stored.revision.0.saturating_sub(stored.begin.0),
            };
        }
        let Some(simulation) = &self.simulation else {
            return;
        };
        self.report.add_controllers(simulation.stats());
        self.report.caches = simulation.caches();
        let wire = simulation.client().transport().stats();
        self.report.wire = Wire {
            bytes_received: wire.bytes_received,
            bytes_sent: wire.bytes_sent,
            requests: wire.requests,
            connections: wire.connections_opened,
        };
    }

    /// The running controllers.
    pub(super) fn into_simulation(self) -> Option<Simulation> {
        self.simulation
    }
}

async fn greet(client: &Client, server: &Server) -> Result<String, DemoError> {
    let version = client.server_version().await;
    let version = version.doing(|| "get the server version".to_owned())?;
    Ok(format!("{} serves {}", server.url(), version.git_version))
}
