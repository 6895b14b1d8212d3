//! What runs beside the server: its own controllers, and those of the test.
//!
//! The server's are clients like any other. They can be started and stopped one by one while the
//! server runs, and a new one follows what is there already.

pub(crate) mod running;

use crate::login::Login;
use kubist::client::Client;
use kubist::controllers::{garbage_collector, namespace};
use std::error::Error;
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the garbage collector asks what is served, beside each change of a definition.
const DISCOVERY_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// A controller of the cluster, as a part of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ServerController {
    /// Deletes objects whose owners are gone.
    GarbageCollector,
    /// Empties namespaces that are being deleted.
    Namespace,
    /// Deployments, `ReplicaSets`, and a scheduler and kubelet that only pretend: Pods become
    /// ready, and nothing runs.
    Workloads,
}

impl ServerController {
    /// Those without which the API behaves differently: the garbage collector and the namespace
    /// controller.
    pub const USUAL: [Self; 2] = [Self::GarbageCollector, Self::Namespace];

    /// Its name in logs and errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::GarbageCollector => "garbage-collector",
            Self::Namespace => "namespace-controller",
            Self::Workloads => "workloads",
        }
    }

    /// Its user, as upstream's.
    pub(crate) fn login(self) -> Login {
        let name = match self {
            Self::GarbageCollector => "generic-garbage-collector",
            Self::Namespace => "namespace-controller",
            Self::Workloads => "deployment-controller",
        };
        let mut login = Login::service_account("kube-system", name);
        if self == Self::Workloads {
            // It is several of upstream's controllers, the scheduler and kubelets at once.
            login.groups.push("system:masters".into());
        }
        login.with_user_agent(format!("kubist-{}", self.name()))
    }

    pub(crate) async fn run(
        self,
        client: Client,
        token: CancellationToken,
    ) -> Result<(), RunError> {
        match self {
            Self::GarbageCollector => {
                // Within a server of this process, only definitions change what is served.
                let options = garbage_collector::Options {
                    discovery_period: DISCOVERY_PERIOD,
                    ..garbage_collector::Options::default()
                };
                let _stats = garbage_collector::run(client, options, token).await;
                Ok(())
            }
            Self::Namespace => namespace::run(client, namespace::Options::default(), token)
                .await
                .map(drop)
                .map_err(RunError::new),
            Self::Workloads => {
                kubist_workloads::run(client, kubist_workloads::Options::default(), token)
                    .await
                    .map(drop)
                    .map_err(RunError::new)
            }
        }
    }
}

/// Why something that ran beside the server ended: its error and the causes, in one line.
#[derive(Clone, PartialEq, Eq)]
pub struct RunError {
    text: String,
}

impl RunError {
    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = error.into();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        Self { text }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for RunError {}
