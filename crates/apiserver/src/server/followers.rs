//! `Followers`: what the server obeys and therefore follows: roles, what decides about kubelets,
//! webhooks and policies, flow schemas and priority levels.

use crate::admission::{DynamicAdmission, follower as admission_follower};
use crate::authorization::{node_follower, role_follower};
use crate::config::Config;
use crate::filters::flow_control::FlowControl;
use crate::flow_follower::FlowFollower;
use crate::server::StartError;
use crate::shutdown::Shutdown;
use kubist_authorization::node::NodeAuthorizer;
use kubist_authorization::rbac::RbacAuthorizer;
use kubist_registry::Registry;
use std::future::pending;
use std::sync::Arc;

/// The followers of a server; those that its configuration does not need are absent.
pub(super) struct Followers {
    roles: Option<Arc<RbacAuthorizer>>,
    nodes: Option<Arc<NodeAuthorizer>>,
    admission: Option<DynamicAdmission>,
    flows: Option<FlowFollower>,
}

impl Followers {
    /// Reads everything once, so that it counts from the first request on.
    ///
    /// # Errors
    /// Something cannot be read.
    pub(super) async fn begin(
        config: &Config,
        flow: Option<&Arc<FlowControl>>,
        registry: &Registry,
    ) -> Result<Self, StartError> {
        let roles = config.authorization.roles().cloned();
        if let Some(roles) = &roles {
            let loaded = role_follower::load(registry, roles).await;
            loaded.map_err(|status| StartError::Roles(Box::new(status)))?;
        }
        let nodes = config.authorization.node().cloned();
        if let Some(nodes) = &nodes {
            let loaded = node_follower::load(registry, nodes).await;
            loaded.map_err(|status| StartError::Nodes(Box::new(status)))?;
        }
        let admission = config.admission.clone();
        if let Some(admission) = &admission {
            let loaded = admission_follower::load(registry, admission).await;
            loaded.map_err(|status| StartError::Admission(Box::new(status)))?;
        }
        let mut followers = Self {
            roles,
            nodes,
            admission,
            flows: None,
        };
        if let Some(flow) = flow {
            let begun = FlowFollower::begin(Arc::clone(flow), registry).await;
            let begun = begun.map_err(|status| StartError::Flows(Box::new(status)))?;
            followers.flows = Some(begun);
        }
        Ok(followers)
    }

    /// Follows changes until shutdown.
    pub(super) async fn run(self, shutdown: Shutdown, registry: Registry) {
        let roles = async {
            match &self.roles {
                Some(roles) => role_follower::follow(&registry, roles).await,
                None => pending().await,
            }
        };
        let nodes = async {
            match &self.nodes {
                Some(nodes) => node_follower::follow(&registry, nodes).await,
                None => pending().await,
            }
        };
        let admission = async {
            match &self.admission {
                Some(admission) => admission_follower::follow(&registry, admission).await,
                None => pending().await,
            }
        };
        let flows = async {
            match &self.flows {
                Some(flows) => flows.run(&registry).await,
                None => pending().await,
            }
        };
        tokio::select! {
            // The order is fixed, so that simulations are deterministic.
            biased;
            () = shutdown.closing() => {}
            () = roles => {}
            () = nodes => {}
            () = admission => {}
            () = flows => {}
        }
    }
}
