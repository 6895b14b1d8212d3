//! `Authorization`: who decides about the requests of a server.

use crate::audit::audited_call::AuditedCall;
use crate::authorization::live_modes::{LiveModes, Modes};
use kubist_apimachinery::{GroupResource, Status};
use kubist_authorization::node::NodeAuthorizer;
use kubist_authorization::rbac::{Grants, RbacAuthorizer};
use kubist_authorization::{
    Action, AlwaysAllow, Attributes, Authorizer, Chain, Decision, MASTERS_GROUP, PrivilegedGroups,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Who decides about the requests of a server. Default: everything is allowed to every
/// authenticated user.
#[derive(Clone, Debug)]
pub struct Authorization {
    authorizer: Arc<dyn Authorizer>,
    /// The roles that the server follows, if it obeys any.
    rbac: Option<Arc<RbacAuthorizer>>,
    /// What the server knows of its nodes, if it decides by that.
    node: Option<Arc<NodeAuthorizer>>,
    grants: Option<Arc<Grants>>,
    allows_all: bool,
    /// Those who decide by what cannot be listed as rules.
    others: Vec<Arc<dyn Authorizer>>,
    /// What may be replaced, if anything may.
    live: Option<Arc<LiveModes>>,
}

/// Why modes are not replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceModesError {
    /// The server has not followed what decides in this mode since its start.
    #[error(
        "authorizer type {mode} is not allowed if it was not enabled at initial server startup"
    )]
    NotEnabled {
        /// The mode.
        mode: &'static str,
    },
    /// They are not from [`Authorization::replaceable`].
    #[error("the authorizers of this server are fixed")]
    Fixed,
}

/// Why a request is not served.
#[derive(Debug)]
pub(crate) enum Denial {
    /// 403 in upstream's words.
    Forbidden(Box<Status>),
    /// It could not be decided.
    Failed(String),
}

/// A way to decide about requests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AuthorizationMode {
    /// What kubelets may do is decided by the Pods of their node, as upstream's mode Node.
    Node,
    /// The stored roles decide, as upstream's mode RBAC.
    Rbac,
    /// Another authorizer decides.
    Other(Arc<dyn Authorizer>),
}

impl Default for Authorization {
    fn default() -> Self {
        Self {
            allows_all: true,
            ..Self::by(Arc::new(AlwaysAllow))
        }
    }
}

/// What an authorizer said.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Opinion {
    Allowed,
    Denied,
    None,
}

/// Counts decisions, and how long they took.
pub(crate) trait CountsDecisions: Send + Sync {
    fn authorized(&self, opinion: Opinion, took: Duration);
}

impl Authorization {
    /// An authorizer decides about each request, after authentication. Roles are not obeyed.
    pub fn by(authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            others: vec![Arc::clone(&authorizer)],
            authorizer,
            rbac: None,
            node: None,
            grants: None,
            allows_all: false,
            live: None,
        }
    }

    /// The stored roles decide, as upstream's mode RBAC. `system:masters` may do everything.
    pub fn rbac() -> Self {
        Self::chain([AuthorizationMode::Rbac])
    }

    /// The stored roles decide, and these authorizers where the roles allow nothing.
    pub fn rbac_and(others: impl IntoIterator<Item = Arc<dyn Authorizer>>) -> Self {
        let others = others.into_iter().map(AuthorizationMode::Other);
        Self::chain([AuthorizationMode::Rbac].into_iter().chain(others))
    }

    /// Several modes decide in their order: the first that allows or refuses a request. Before all,
    /// `system:masters` may do everything.
    pub fn chain(modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        let (mut rbac, mut node) = (None, None);
        let Modes { chain, others } = in_order(modes, &mut rbac, &mut node);
        Self {
            others,
            ..Self::decided(Arc::new(chain), rbac, node)
        }
    }

    /// The same modes, which [`replace`](Self::replace) may replace while a server runs.
    pub fn replaceable(modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        let (mut rbac, mut node) = (None, None);
        let live = Arc::new(LiveModes::new(in_order(modes, &mut rbac, &mut node)));
        Self {
            live: Some(Arc::clone(&live)),
            ..Self::decided(live, rbac, node)
        }
    }

    fn decided(
        authorizer: Arc<dyn Authorizer>,
        rbac: Option<Arc<RbacAuthorizer>>,
        node: Option<Arc<NodeAuthorizer>>,
    ) -> Self {
        let grants = rbac.as_ref().map(|rbac: &Arc<RbacAuthorizer>| {
            Arc::new(Grants::new(Arc::clone(&authorizer), Arc::clone(rbac)))
        });
        Self {
            authorizer,
            rbac,
            node,
            grants,
            allows_all: false,
            others: Vec::new(),
            live: None,
        }
    }

    /// Replaces the modes of this value and its clones, such as that of a running server.
    ///
    /// # Errors
    /// They are not [`replaceable`](Self::replaceable), or a mode follows stored objects and was
    /// not among those of the start.
    pub fn replace(
        &self,
        modes: impl IntoIterator<Item = AuthorizationMode>,
    ) -> Result<(), ReplaceModesError> {
        let live = self.live.as_ref().ok_or(ReplaceModesError::Fixed)?;
        let modes: Vec<_> = modes.into_iter().collect();
        for it in &modes {
            let (is_followed, mode) = match it {
                AuthorizationMode::Node => (self.node.is_some(), "Node"),
                AuthorizationMode::Rbac => (self.rbac.is_some(), "RBAC"),
                AuthorizationMode::Other(_) => continue,
            };
            if !is_followed {
                return Err(ReplaceModesError::NotEnabled { mode });
            }
        }
        let (mut rbac, mut node) = (self.rbac.clone(), self.node.clone());
        live.replace(in_order(modes, &mut rbac, &mut node));
        Ok(())
    }

    /// Reports whether stored roles are obeyed.
    pub fn obeys_roles(&self) -> bool {
        self.rbac.is_some()
    }

    /// Returns who decides.
    pub fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::clone(&self.authorizer)
    }

    /// Reports whether everything is allowed.
    pub(crate) fn allows_all(&self) -> bool {
        self.allows_all
    }

    pub(crate) fn roles(&self) -> Option<&Arc<RbacAuthorizer>> {
        self.rbac.as_ref()
    }

    pub(crate) fn node(&self) -> Option<&Arc<NodeAuthorizer>> {
        self.node.as_ref()
    }

    /// Those who decide by what cannot be listed as rules.
    pub(crate) fn others(&self) -> Vec<Arc<dyn Authorizer>> {
        match &self.live {
            Some(live) => live.current().others.clone(),
            None => self.others.clone(),
        }
    }

    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.grants.as_ref()
    }

    pub(crate) async fn decide(&self, attributes: Attributes<'_>) -> Decision {
        self.authorizer.authorize(attributes).await
    }

    /// Authorizes a request, and records and counts the decision.
    ///
    /// # Errors
    /// It is not allowed, or nobody can decide.
    pub(crate) async fn check(
        &self,
        attributes: Attributes<'_>,
        audit: Option<&AuditedCall>,
        counted: Option<&dyn CountsDecisions>,
    ) -> Result<(), Denial> {
        if self.allows_all {
            counted.inspect(|it| it.authorized(Opinion::Allowed, Duration::ZERO));
            audit.inspect(|it| it.authorized(&Decision::Allow(String::new())));
            return Ok(());
        }
        let began = Instant::now();
        let decision = self.decide(attributes).await;
        let opinion = match &decision {
            Decision::Allow(_) => Opinion::Allowed,
            Decision::Deny(_) | Decision::Failed { denies: true, .. } => Opinion::Denied,
            Decision::NoOpinion(_) | Decision::Failed { .. } => Opinion::None,
        };
        counted.inspect(|it| it.authorized(opinion, began.elapsed()));
        audit.inspect(|it| it.authorized(&decision));
        match decision {
            Decision::Allow(_) => Ok(()),
            Decision::Failed { error, .. } => Err(Denial::Failed(error)),
            Decision::Deny(reason) | Decision::NoOpinion(reason) => {
                let status = forbidden(attributes, &reason);
                Err(Denial::Forbidden(Box::new(status)))
            }
        }
    }

    /// Authorizes a single action within a request.
    ///
    /// # Errors
    /// 403 in upstream's words if it is not allowed.
    pub(crate) async fn permit(&self, attributes: Attributes<'_>) -> Result<(), Status> {
        match self.decide(attributes).await {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(reason)
            | Decision::NoOpinion(reason)
            | Decision::Failed { reason, .. } => {
                let (resource, name) = object(attributes);
                let verb = attributes.verb;
                let why = format_args!("not permitted to do {verb:?}, reason: {reason}");
                Err(Status::forbidden(&resource, name, why))
            }
        }
    }
}

/// Modes in their order, after `system:masters`. Adds what decides in their modes, unless it is
/// there.
fn in_order(
    modes: impl IntoIterator<Item = AuthorizationMode>,
    rbac: &mut Option<Arc<RbacAuthorizer>>,
    node: &mut Option<Arc<NodeAuthorizer>>,
) -> Modes {
    let masters = Arc::new(PrivilegedGroups::new([MASTERS_GROUP]));
    let mut chain = vec![masters as Arc<dyn Authorizer>];
    let mut others = Vec::new();
    for mode in modes {
        chain.push(match mode {
            AuthorizationMode::Other(authorizer) => {
                others.push(Arc::clone(&authorizer));
                authorizer
            }
            AuthorizationMode::Rbac => {
                Arc::clone(rbac.get_or_insert_with(Arc::<RbacAuthorizer>::default)) as _
            }
            AuthorizationMode::Node => {
                let new = || Arc::new(NodeAuthorizer::new(kubist_kinds::node_rules()));
                Arc::clone(node.get_or_insert_with(new)) as _
            }
        });
    }
    Modes {
        chain: Chain::new(chain),
        others,
    }
}

/// The verb of a deletion of an object that cannot be decoded, as upstream.
pub(crate) const UNSAFE_DELETE: &str = "unsafe-delete-ignore-read-errors";

/// 403 for a request, in upstream's words.
pub(crate) fn forbidden(attributes: Attributes<'_>, reason: &str) -> Status {
    let (resource, name) = object(attributes);
    match reason {
        "" => Status::forbidden(&resource, name, format_args!("{attributes}")),
        reason => Status::forbidden(&resource, name, format_args!("{attributes}: {reason}")),
    }
}

/// The object that a refusal is about.
fn object(attributes: Attributes<'_>) -> (GroupResource, &str) {
    match attributes.action {
        Action::Resource(it) => (GroupResource::new(it.group, it.resource), it.name),
        Action::Path(_) => (GroupResource::default(), ""),
    }
}
