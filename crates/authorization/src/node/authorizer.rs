//! `NodeAuthorizer`: decides what kubelets may do.

use super::graph::NodeGraph;
use super::node_of;
use super::related::{Related, RelatedKind};
use crate::authorizer::{Authorizer, BoxFuture};
use crate::rbac::allows;
use crate::{Action, Attributes, Decision, ResourceAction};
use kubist_api::rbac::v1::PolicyRule;
use parking_lot::RwLock;

/// The namespace of the leases of nodes.
const LEASES: &str = "kube-node-lease";

/// Decides what kubelets may do: read what the Pods of their node need, and write what is about
/// their node and its Pods. It has no opinion about other users, nor where it does not allow
/// something. Reasons are in upstream's words.
#[derive(Debug)]
pub struct NodeAuthorizer {
    graph: RwLock<NodeGraph>,
    /// What all kubelets may do.
    rules: Vec<PolicyRule>,
}

/// What the authorizer finds: allowed, or the reason why not.
type Found = Result<(), String>;

fn because<T>(reason: &str) -> Result<T, String> {
    Err(reason.to_owned())
}

impl NodeAuthorizer {
    /// Returns an authorizer with the rules of what all kubelets may do besides: those of
    /// upstream's role `system:node`.
    pub fn new(rules: Vec<PolicyRule>) -> Self {
        Self {
            graph: RwLock::default(),
            rules,
        }
    }

    /// Changes the graph.
    pub fn change<R>(&self, change: impl FnOnce(&mut NodeGraph) -> R) -> R {
        change(&mut self.graph.write())
    }

    /// Decides, without waiting for anything.
    pub fn decide(&self, attributes: &Attributes<'_>) -> Decision {
        let Some(node) = node_of(attributes.user) else {
            return Decision::NoOpinion(String::new());
        };
        if node.is_empty() {
            let user = &*attributes.user.name;
            return Decision::NoOpinion(format!("unknown node for user {user:?}"));
        }
        match self.find(node, attributes) {
            Ok(()) => Decision::Allow(String::new()),
            Err(reason) => Decision::NoOpinion(reason),
        }
    }

    fn find(&self, node: &str, attributes: &Attributes<'_>) -> Found {
        let (verb, action) = match &attributes.action {
            Action::Resource(action) => (attributes.verb, action),
            Action::Path(_) => return self.by_rules(attributes),
        };
        match (action.group, action.resource) {
            ("", "secrets") => self.read(node, verb, RelatedKind::Secret, action),
            ("", "configmaps") => self.read(node, verb, RelatedKind::ConfigMap, action),
            ("", "persistentvolumeclaims") if action.subresource == "status" => match verb {
                "update" | "patch" => self.refers(node, RelatedKind::Claim, action),
                _ => because("can only get/update/patch this type"),
            },
            ("", "persistentvolumeclaims") => {
                check_get(verb, action)?;
                self.refers(node, RelatedKind::Claim, action)
            }
            ("resource.k8s.io", "resourceclaims") => {
                check_get(verb, action)?;
                self.refers(node, RelatedKind::ResourceClaim, action)
            }
            ("", "persistentvolumes") => {
                check_get(verb, action)?;
                related(
                    node,
                    action,
                    self.graph.read().has_volume(node, action.name),
                )
            }
            ("storage.k8s.io", "volumeattachments") => {
                check_get(verb, action)?;
                related(
                    node,
                    action,
                    self.graph.read().has_attachment(node, action.name),
                )
            }
            ("", "serviceaccounts") => self.service_account(node, verb, action),
            ("coordination.k8s.io", "leases") => lease(node, verb, action),
            ("storage.k8s.io", "csinodes") => csi_node(node, verb, action),
            ("resource.k8s.io", "resourceslices") => self.slice(node, verb, action),
            ("", "nodes") => own_node(node, verb, action),
            ("", "pods") => self.pod(node, verb, action),
            // The gate of podcertificaterequests is off by default, as upstream.
            ("certificates.k8s.io", "podcertificaterequests") => because(""),
            _ => self.by_rules(attributes),
        }
    }

    fn by_rules(&self, attributes: &Attributes<'_>) -> Found {
        if self.rules.iter().any(|it| allows(it, attributes)) {
            return Ok(());
        }
        because("")
    }

    fn refers(&self, node: &str, kind: RelatedKind, action: &ResourceAction<'_>) -> Found {
        let to = Related {
            kind,
            namespace: action.namespace.into(),
            name: action.name.into(),
        };
        related(node, action, self.graph.read().refers(node, &to))
    }

    /// Reads of single objects.
    fn read(
        &self,
        node: &str,
        verb: &str,
        kind: RelatedKind,
        action: &ResourceAction<'_>,
    ) -> Found {
        if !matches!(verb, "get" | "list" | "watch") {
            return because("can only read resources of this type");
        }
        if !action.subresource.is_empty() {
            return because("cannot read subresource");
        }
        if action.namespace.is_empty() {
            return because("can only read namespaced object of this type");
        }
        self.refers(node, kind, action)
    }

    fn service_account(&self, node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
        let kind = RelatedKind::ServiceAccount;
        if verb == "get" && action.subresource.is_empty() {
            return self.read(node, verb, kind, action);
        }
        if verb != "create" || action.name.is_empty() {
            return because("can only create tokens for individual service accounts");
        }
        if action.subresource != "token" {
            return because("can only create token subresource of serviceaccount");
        }
        self.refers(node, kind, action)
    }

    fn slice(&self, node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
        if !action.subresource.is_empty() {
            return because("cannot authorize ResourceSlice subresources");
        }
        match verb {
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => {
                related(node, action, self.graph.read().has_slice(node, action.name))
            }
            "watch" | "list" | "deletecollection" if selects(action, "spec.nodeName", node) => {
                Ok(())
            }
            "watch" | "list" | "deletecollection" => because(
                "can only list/watch/deletecollection resourceslices with nodeName field selector",
            ),
            _ => because(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, \
                 create, update, patch, delete, deletecollection",
            ),
        }
    }

    fn pod(&self, node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
        let is_own = || {
            let graph = self.graph.read();
            related(
                node,
                action,
                graph.has_pod(node, action.namespace, action.name),
            )
        };
        match (action.subresource, verb) {
            ("", "get") => is_own(),
            ("", "list" | "watch") if selects(action, "spec.nodeName", node) => Ok(()),
            ("", "list" | "watch") if !action.name.is_empty() => is_own(),
            ("", "list" | "watch") => {
                because("can only list/watch pods with spec.nodeName field selector")
            }
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => {
                Ok(())
            }
            _ => because(""),
        }
    }
}

impl Authorizer for NodeAuthorizer {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(std::future::ready(self.decide(&attributes)))
    }
}

fn check_get(verb: &str, action: &ResourceAction<'_>) -> Found {
    if verb != "get" {
        return because("can only get individual resources of this type");
    }
    if !action.subresource.is_empty() {
        return because("cannot get subresource");
    }
    Ok(())
}

fn related(node: &str, action: &ResourceAction<'_>, is_related: bool) -> Found {
    if action.name.is_empty() {
        return because("No Object name found");
    }
    if is_related {
        return Ok(());
    }
    Err(format!(
        "no relationship found between node '{node}' and this object"
    ))
}

fn selects(action: &ResourceAction<'_>, field: &str, value: &str) -> bool {
    action.fields.and_then(|it| it.exact(field)) == Some(value)
}

fn lease(node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
    if !matches!(verb, "get" | "create" | "update" | "patch" | "delete") {
        return because("can only get, create, update, patch, or delete a node lease");
    }
    if action.namespace != LEASES {
        return Err(format!(
            "can only access leases in the {LEASES:?} system namespace"
        ));
    }
    // The name is not known yet when it is created: NodeRestriction checks it.
    if verb != "create" && action.name != node {
        return because("can only access node lease with the same name as the requesting node");
    }
    Ok(())
}

fn csi_node(node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
    if !matches!(verb, "get" | "create" | "update" | "patch" | "delete") {
        return because("can only get, create, update, patch, or delete a CSINode");
    }
    if !action.subresource.is_empty() {
        return because("cannot authorize CSINode subresources");
    }
    if verb != "create" && action.name != node {
        return because("can only access CSINode with the same name as the requesting node");
    }
    Ok(())
}

fn own_node(node: &str, verb: &str, action: &ResourceAction<'_>) -> Found {
    match (action.subresource, verb) {
        ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Ok(()),
        ("", "get" | "list" | "watch") => match action.name {
            name if name == node => Ok(()),
            "" => Err(format!(
                "node '{node}' cannot read all nodes, only its own Node object"
            )),
            name => Err(format!(
                "node '{node}' cannot read '{name}', only its own Node object"
            )),
        },
        _ => because(""),
    }
}

#[cfg(test)]
mod tests;
