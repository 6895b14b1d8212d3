//! `Authorization`: who decides about the requests of a server.

use crate::audit::audited_call::AuditedCall;
use kubist_apimachinery::{GroupResource, Status};
use kubist_authorization::node::NodeAuthorizer;
use kubist_authorization::rbac::{Grants, RbacAuthorizer};
use kubist_authorization::{
    Action, AlwaysAllow, Attributes, Authorizer, Chain, Decision, MASTERS_GROUP, PrivilegedGroups,
};
use std::sync::Arc;

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
        let authorizer: Arc<dyn Authorizer> = Arc::new(Chain::new(chain));
        let grants = rbac.as_ref().map(|rbac: &Arc<RbacAuthorizer>| {
            Arc::new(Grants::new(Arc::clone(&authorizer), Arc::clone(rbac)))
        });
        Self {
            authorizer,
            rbac,
            node,
            grants,
            allows_all: false,
            others,
        }
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
    pub(crate) fn others(&self) -> &[Arc<dyn Authorizer>] {
        &self.others
    }

    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.grants.as_ref()
    }

    pub(crate) async fn decide(&self, attributes: Attributes<'_>) -> Decision {
        self.authorizer.authorize(attributes).await
    }

    /// Authorizes a request, and records the decision.
    ///
    /// # Errors
    /// It is not allowed, or nobody can decide.
    pub(crate) async fn check(
        &self,
        attributes: Attributes<'_>,
        audit: Option<&AuditedCall>,
    ) -> Result<(), Denial> {
        if self.allows_all {
            audit.inspect(|it| it.authorized(&Decision::Allow(String::new())));
            return Ok(());
        }
        let decision = self.decide(attributes).await;
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
