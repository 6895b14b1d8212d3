//! `Authorization`: who decides about the requests of a server.

use kubist_apimachinery::{GroupResource, Status};
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
    grants: Option<Arc<Grants>>,
    allows_all: bool,
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
            authorizer,
            rbac: None,
            grants: None,
            allows_all: false,
        }
    }

    /// The stored roles decide, as upstream's mode RBAC. `system:masters` may do everything.
    pub fn rbac() -> Self {
        Self::rbac_and([])
    }

    /// The stored roles decide, and these authorizers where the roles allow nothing.
    pub fn rbac_and(others: impl IntoIterator<Item = Arc<dyn Authorizer>>) -> Self {
        let rbac = Arc::<RbacAuthorizer>::default();
        let masters = Arc::new(PrivilegedGroups::new([MASTERS_GROUP]));
        let roles = Arc::clone(&rbac) as Arc<dyn Authorizer>;
        let first = [masters as Arc<dyn Authorizer>, roles];
        let authorizer = Arc::new(Chain::new(first.into_iter().chain(others)));
        let grants = Grants::new(
            Arc::clone(&authorizer) as Arc<dyn Authorizer>,
            Arc::clone(&rbac),
        );
        Self {
            authorizer,
            rbac: Some(rbac),
            grants: Some(Arc::new(grants)),
            allows_all: false,
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

    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.grants.as_ref()
    }

    pub(crate) async fn decide(&self, attributes: Attributes<'_>) -> Decision {
        self.authorizer.authorize(attributes).await
    }

    /// Authorizes a request.
    ///
    /// # Errors
    /// 403 in upstream's words if it is not allowed.
    pub(crate) async fn check(&self, attributes: Attributes<'_>) -> Result<(), Status> {
        if self.allows_all {
            return Ok(());
        }
        match self.decide(attributes).await {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(reason) | Decision::NoOpinion(reason) => {
                Err(forbidden(attributes, &reason))
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
            Decision::Deny(reason) | Decision::NoOpinion(reason) => {
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
