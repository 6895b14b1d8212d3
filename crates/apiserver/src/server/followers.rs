//! `Followers`: what a server follows in its own registry, to obey it: roles, webhooks, policies.

use super::StartError;
use crate::admission::{DynamicAdmission, follower};
use crate::authorization::role_follower;
use crate::config::Config;
use crate::shutdown::Shutdown;
use kubist_authorization::rbac::RbacAuthorizer;
use kubist_registry::Registry;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What a server follows.
pub(super) struct Followers {
    roles: Option<Arc<RbacAuthorizer>>,
    admission: Option<DynamicAdmission>,
}

impl Followers {
    /// Reads all of it, so that the first request is judged by it.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn load(config: &Config, registry: &Registry) -> Result<Self, StartError> {
        let roles = config.authorization.roles().map(Arc::clone);
        if let Some(roles) = &roles {
            let loaded = role_follower::load(registry, roles).await;
            loaded.map_err(|status| StartError::Roles(Box::new(status)))?;
        }
        let admission = config.admission.clone();
        if let Some(admission) = &admission {
            let loaded = follower::load(registry, admission).await;
            loaded.map_err(|status| StartError::Admission(Box::new(status)))?;
        }
        Ok(Self { roles, admission })
    }

    /// Follows it until shutdown.
    pub(super) fn spawn(self, tasks: &mut JoinSet<()>, shutdown: &Shutdown, registry: &Registry) {
        if let Some(roles) = self.roles {
            tasks.spawn(follow_roles(shutdown.clone(), registry.clone(), roles));
        }
        if let Some(admission) = self.admission {
            tasks.spawn(follow_admission(
                shutdown.clone(),
                registry.clone(),
                admission,
            ));
        }
    }
}

async fn follow_roles(shutdown: Shutdown, registry: Registry, roles: Arc<RbacAuthorizer>) {
    tokio::select! {
        biased;
        () = shutdown.closing() => {}
        () = role_follower::follow(&registry, &roles) => {}
    }
}

async fn follow_admission(shutdown: Shutdown, registry: Registry, admission: DynamicAdmission) {
    tokio::select! {
        biased;
        () = shutdown.closing() => {}
        () = follower::follow(&registry, &admission) => {}
    }
}
