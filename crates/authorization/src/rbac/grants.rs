//! `Grants`: nobody gives to others, or to themselves, what they do not have.
//!
//! As upstream: who writes a role needs its rules, who writes a binding needs the rules of its
//! role; unless they are in `system:masters`, or have the verb `escalate` on the role, or `bind`
//! on the role of the binding.

use crate::rbac::authorizer::RbacAuthorizer;
use crate::rbac::cover::Escalation;
use crate::rbac::policy::RoleNotFound;
use crate::rbac::rule::ALL;
use crate::{Action, Attributes, Authorizer, MASTERS_GROUP, ResourceAction, User};
use kubist_api::rbac::v1::{PolicyRule, RoleRef};
use std::sync::Arc;

/// The version in the attributes of these decisions, as upstream.
const ANY_VERSION: &str = "*";

/// Judges what is granted.
#[derive(Clone, Debug)]
pub struct Grants {
    authorizer: Arc<dyn Authorizer>,
    rbac: Arc<RbacAuthorizer>,
}

/// Why a role or a binding may not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// The user does not have what it would grant.
    #[error(transparent)]
    Escalation(#[from] Escalation),
    /// A role that combines others can get any rule, so only those who have all may write it.
    #[error("must have cluster-admin privileges to use the aggregationRule")]
    Aggregation,
    /// The role of a binding does not exist, so what it grants is not known.
    #[error(transparent)]
    NotFound(#[from] RoleNotFound),
}

impl Grants {
    /// Creates the judge: `authorizer` decides about the verbs `escalate` and `bind`, `rbac` knows
    /// what users have.
    pub fn new(authorizer: Arc<dyn Authorizer>, rbac: Arc<RbacAuthorizer>) -> Self {
        Self { authorizer, rbac }
    }

    /// Checks that a user may write a role with these rules. `role` says where it is, and
    /// `aggregates` whether it has, or had, an aggregation rule.
    ///
    /// # Errors
    /// The user does not have all of the rules.
    pub async fn check_role(
        &self,
        user: &User,
        role: ResourceAction<'_>,
        rules: &[PolicyRule],
        aggregates: bool,
    ) -> Result<(), GrantError> {
        if user.is_in(MASTERS_GROUP) || self.may(user, "escalate", role).await {
            return Ok(());
        }
        let check = |rules: &[PolicyRule]| {
            self.rbac
                .read(|policy| policy.check_grant(user, role.namespace, rules))
        };
        check(rules)?;
        if aggregates && check(&everything()).is_err() {
            return Err(GrantError::Aggregation);
        }
        Ok(())
    }

    /// Checks that a user may bind a role in a namespace; in the whole cluster, if it is empty.
    ///
    /// # Errors
    /// The user does not have all rules of the role, or the role does not exist.
    pub async fn check_binding(
        &self,
        user: &User,
        namespace: &str,
        role: &RoleRef,
    ) -> Result<(), GrantError> {
        if user.is_in(MASTERS_GROUP) {
            return Ok(());
        }
        let resource = match &*role.kind {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            // The strategy refuses it.
            _ => return Ok(()),
        };
        let bound = ResourceAction {
            group: &role.api_group,
            resource,
            namespace,
            name: &role.name,
            ..ResourceAction::default()
        };
        if self.may(user, "bind", bound).await {
            return Ok(());
        }
        self.rbac.read(|policy| {
            let rules = policy.rules_of(role, namespace)?;
            Ok(policy.check_grant(user, namespace, rules)?)
        })
    }

    async fn may(&self, user: &User, verb: &str, on: ResourceAction<'_>) -> bool {
        let action = Action::Resource(ResourceAction {
            version: ANY_VERSION,
            ..on
        });
        let attributes = Attributes { user, verb, action };
        self.authorizer.authorize(attributes).await.is_allowed()
    }
}

/// The rules of those who may do everything.
fn everything() -> [PolicyRule; 2] {
    let all = || vec![ALL.into()];
    let resources = PolicyRule {
        verbs: all(),
        api_groups: all(),
        resources: all(),
        ..PolicyRule::default()
    };
    let paths = PolicyRule {
        verbs: all(),
        non_resource_urls: all(),
        ..PolicyRule::default()
    };
    [resources, paths]
}
