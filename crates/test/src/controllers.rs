//! What runs beside the server: its own controllers, and those of the test.
//!
//! The server's are clients like any other. They can be started and stopped one by one while the
//! server runs, and a new one follows what is there already.

pub(crate) mod running;

use crate::login::Login;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use kubist::Server;
use kubist::client::Client;
use kubist::controllers::{cluster_role_aggregation, garbage_collector, namespace};
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
    /// Counts the usage of resource quotas, without which they limit nothing.
    ResourceQuota,
    /// Combines the rules of `ClusterRole`s with an `aggregationRule`.
    ClusterRoleAggregation,
    /// Those of Deployments, Jobs and the like, and a scheduler and kubelet that only pretend: Pods
    /// become ready, and nothing runs.
    Workloads,
}

impl ServerController {
    /// Those without which the API behaves differently: the garbage collector, and the controllers
    /// of namespaces and of resource quotas.
    pub const USUAL: [Self; 3] = [Self::GarbageCollector, Self::Namespace, Self::ResourceQuota];

    /// Its name in logs and errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::GarbageCollector => "garbage-collector",
            Self::Namespace => "namespace-controller",
            Self::ResourceQuota => "resourcequota-controller",
            Self::ClusterRoleAggregation => "clusterrole-aggregation-controller",
            Self::Workloads => "workloads",
        }
    }

    /// Its user, as upstream's.
    pub(crate) fn login(self) -> Login {
        let name = match self {
            Self::GarbageCollector => "generic-garbage-collector",
            Self::Namespace => "namespace-controller",
            Self::ResourceQuota => "resourcequota-controller",
            Self::ClusterRoleAggregation => "clusterrole-aggregation-controller",
            Self::Workloads => "deployment-controller",
        };
        let mut login = Login::service_account("kube-system", name);
        if self == Self::Workloads {
            // It is several of upstream's controllers, the scheduler and kubelets at once.
            login.groups.push("system:masters".into());
        }
        login.with_user_agent(format!("kubist-{}", self.name()))
    }

    /// Runs it until the token is cancelled. The quota controller works within the server, and the
    /// others with this client.
    pub(crate) fn run(
        self,
        server: &Server,
        client: Client,
        token: CancellationToken,
    ) -> BoxFuture<'static, Result<(), RunError>> {
        match self {
            Self::ResourceQuota => server.resource_quota_controller(token).map(Ok).boxed(),
            other => other.run_as_client(client, token).boxed(),
        }
    }

    async fn run_as_client(self, client: Client, token: CancellationToken) -> Result<(), RunError> {
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
            Self::ClusterRoleAggregation => cluster_role_aggregation::run(client, token)
                .await
                .map(drop)
                .map_err(RunError::new),
            Self::Workloads => {
                kubist_workloads::run(client, kubist_workloads::Options::default(), token)
                    .await
                    .map(drop)
                    .map_err(RunError::new)
            }
            Self::ResourceQuota => Ok(()), // it has no client
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
