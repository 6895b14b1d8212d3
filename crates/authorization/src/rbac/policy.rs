//! `Policy`: all roles and bindings, and what follows from them.

use crate::rbac::binding::{Binding, Bindings};
use crate::rbac::cover::{self, Escalation};
use crate::rbac::rule::allows;
use crate::rbac::rules_of_user::RulesOfUser;
use crate::rbac::{GROUP, rules_of_user};
use crate::{Attributes, Decision, User};
use kubist_api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef,
};
use kubist_apimachinery::{ObjectName, Str};
use std::collections::BTreeMap;

/// The roles and bindings of a cluster, as far as they are known.
///
/// A look-up costs by the number of groups and of the bindings that are about the user, not by that
/// of all bindings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    cluster_roles: BTreeMap<Str, Vec<PolicyRule>>,
    roles: BTreeMap<ObjectName, Vec<PolicyRule>>,
    cluster_bindings: Bindings,
    /// By namespace.
    bindings: BTreeMap<Str, Bindings>,
}

/// A role that a binding names does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{kind}.{GROUP} \"{name}\" not found")]
pub struct RoleNotFound {
    /// `clusterrole` or `role`.
    pub kind: &'static str,
    /// The name of the role.
    pub name: Str,
}

/// A binding that is about a user.
#[derive(Clone, Copy, Debug)]
struct RoleOwner<'a> {
    /// The namespace of the binding; empty for a ClusterRoleBinding.
    namespace: &'a str,
    name: &'a Str,
    binding: &'a Binding,
}

impl Policy {
    /// Puts in a ClusterRole, in the place of the one of its name.
    pub fn put_cluster_role(&mut self, role: &ClusterRole) {
        let name = role.metadata.name.clone();
        self.cluster_roles.insert(name, role.rules.clone());
    }

    /// Removes a ClusterRole.
    pub fn remove_cluster_role(&mut self, name: &str) {
        self.cluster_roles.remove(name);
    }

    /// Removes all ClusterRoles.
    pub fn clear_cluster_roles(&mut self) {
        self.cluster_roles.clear();
    }

    /// Puts in a Role, in the place of the one of its name.
    pub fn put_role(&mut self, role: &Role) {
        let name = ObjectName::new(role.metadata.namespace.clone(), role.metadata.name.clone());
        self.roles.insert(name, role.rules.clone());
    }

    /// Removes a Role.
    pub fn remove_role(&mut self, namespace: &str, name: &str) {
        self.roles.remove(&ObjectName::new(namespace, name));
    }

    /// Removes all Roles.
    pub fn clear_roles(&mut self) {
        self.roles.clear();
    }

    /// Puts in a ClusterRoleBinding, in the place of the one of its name.
    pub fn put_cluster_role_binding(&mut self, binding: &ClusterRoleBinding) {
        let (role, subjects) = (binding.role_ref.clone(), binding.subjects.clone());
        let name = &binding.metadata.name;
        self.cluster_bindings.put("", name, role, subjects);
    }

    /// Removes a ClusterRoleBinding.
    pub fn remove_cluster_role_binding(&mut self, name: &str) {
        self.cluster_bindings.remove("", name);
    }

    /// Removes all ClusterRoleBindings.
    pub fn clear_cluster_role_bindings(&mut self) {
        self.cluster_bindings = Bindings::default();
    }

    /// Puts in a RoleBinding, in the place of the one of its name.
    pub fn put_role_binding(&mut self, binding: &RoleBinding) {
        let (role, subjects) = (binding.role_ref.clone(), binding.subjects.clone());
        let (namespace, name) = (&binding.metadata.namespace, &binding.metadata.name);
        let of_namespace = self.bindings.entry(namespace.clone()).or_default();
        of_namespace.put(namespace, name, role, subjects);
    }

    /// Removes a RoleBinding.
    pub fn remove_role_binding(&mut self, namespace: &str, name: &str) {
        let Some(of_namespace) = self.bindings.get_mut(namespace) else {
            return;
        };
        of_namespace.remove(namespace, name);
        if of_namespace.is_empty() {
            self.bindings.remove(namespace);
        }
    }

    /// Removes all RoleBindings.
    pub fn clear_role_bindings(&mut self) {
        self.bindings.clear();
    }

    /// Decides about an action. The reason is in upstream's words: by which binding it is allowed,
    /// or which roles of the user's bindings do not exist.
    pub fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let (user, mut missing) = (attributes.user, Vec::new());
        for owner in self.bindings_of(user, attributes.namespace()) {
            match self.rules_of(&owner.binding.role, owner.namespace) {
                Err(error) => missing.push(error),
                Ok(rules) => {
                    if rules.iter().any(|rule| allows(rule, attributes)) {
                        return Decision::Allow(owner.reason(user));
                    }
                }
            }
        }
        Decision::NoOpinion(match &missing[..] {
            [] => String::new(),
            missing => format!("RBAC: {}", rules_of_user::joined(missing)),
        })
    }

    /// Returns the names of the ClusterRoles that a user has in the whole cluster, whether they
    /// exist or not; some may repeat.
    pub fn cluster_roles_of(&self, user: &User) -> Vec<Str> {
        let bindings = self.cluster_bindings.of(user).into_iter();
        bindings.map(|(_, it)| it.role.name.clone()).collect()
    }

    /// Returns all rules that a user has in a namespace, with those of the whole cluster; of the
    /// cluster alone if the namespace is empty.
    pub fn rules_of_user(&self, user: &User, namespace: &str) -> RulesOfUser<'_> {
        let mut found = RulesOfUser::default();
        for owner in self.bindings_of(user, namespace) {
            match self.rules_of(&owner.binding.role, owner.namespace) {
                Ok(rules) => found.rules.extend(rules),
                Err(error) => found.missing.push(error),
            }
        }
        found
    }

    /// Returns the rules of a role that a binding in this namespace names.
    ///
    /// # Errors
    /// It does not exist.
    pub fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&[PolicyRule], RoleNotFound> {
        let (kind, found) = if &*role.kind == "Role" {
            let name = ObjectName::new(namespace, role.name.clone());
            ("role", self.roles.get(&name))
        } else {
            ("clusterrole", self.cluster_roles.get(&role.name))
        };
        let not_found = || RoleNotFound {
            kind,
            name: role.name.clone(),
        };
        found.map(Vec::as_slice).ok_or_else(not_found)
    }

    /// Checks that a user who grants rules in a namespace has them.
    ///
    /// # Errors
    /// Some are missing: the error lists them in upstream's words.
    pub fn check_grant(
        &self,
        user: &User,
        namespace: &str,
        rules: &[PolicyRule],
    ) -> Result<(), Escalation> {
        let own = self.rules_of_user(user, namespace);
        let missing = cover::missing(&own.rules, rules);
        if missing.is_empty() {
            return Ok(());
        }
        Err(Escalation::new(user, &missing, &own.missing))
    }

    fn bindings_of<'a>(&'a self, user: &User, namespace: &'a str) -> Vec<RoleOwner<'a>> {
        let owner = |namespace| {
            move |(name, binding)| RoleOwner {
                namespace,
                name,
                binding,
            }
        };
        let cluster = self.cluster_bindings.of(user).into_iter().map(owner(""));
        let local = self.bindings.get(namespace).map(|it| it.of(user));
        let local = local.into_iter().flatten().map(owner(namespace));
        cluster.chain(local).collect()
    }
}

impl RoleOwner<'_> {
    /// Says by what an action is allowed.
    fn reason(&self, user: &User) -> String {
        let Self { name, binding, .. } = self;
        let (kind, role) = (&binding.role.kind, &*binding.role.name);
        let subject = binding.subject_of(user, self.namespace);
        let binding = if self.namespace.is_empty() {
            format!("ClusterRoleBinding {:?}", &***name)
        } else {
            format!("RoleBinding {:?}", format!("{name}/{}", self.namespace))
        };
        format!("RBAC: allowed by {binding} of {kind} {role:?} to {subject}")
    }
}
