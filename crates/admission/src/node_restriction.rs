//! `NodeRestriction`: what nodes may change: themselves, their Pods, and what belongs to both.

mod claims;
mod nodes;
mod pods;
mod requests;
mod tokens;

use kubist_apimachinery::Status;
use kubist_authorization::{Authorizer, User};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

/// Keeps nodes from changing what is not theirs.
#[derive(Debug)]
pub(crate) struct NodeRestriction(pub(crate) Arc<dyn Authorizer>);

/// The beginning of the names of nodes as users.
const PREFIX: &str = "system:node:";
const GROUP: &str = "system:nodes";

const RESOURCES: [(&str, &str); 9] = [
    ("", "pods"),
    ("", "nodes"),
    ("", "persistentvolumeclaims"),
    ("", "serviceaccounts"),
    ("coordination.k8s.io", "leases"),
    ("storage.k8s.io", "csinodes"),
    ("resource.k8s.io", "resourceslices"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("certificates.k8s.io", "podcertificaterequests"),
];

impl AdmissionPlugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&RESOURCES)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation != Operation::Connect
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let Some(node) = node_of(attributes.user()) else {
                return Ok(());
            };
            if node.is_empty() {
                let user = &attributes.user().name;
                return Err(attributes.forbidden(format_args!(
                    "could not determine node from user \"{user}\""
                )));
            }
            judge(attributes, node, &*self.0).await
        })
    }
}

/// Returns the node that a user is, if it is one.
fn node_of(user: &User) -> Option<&str> {
    let node = user.name.strip_prefix(PREFIX)?;
    user.is_in(GROUP).then_some(node)
}

async fn judge(
    attributes: &Attributes<'_>,
    node: &str,
    authorizer: &dyn Authorizer,
) -> Result<(), Status> {
    let target = attributes.target();
    match target.resource.plural {
        "pods" => pods::judge(attributes, node).await,
        "nodes" => nodes::judge(attributes, node),
        "persistentvolumeclaims" if target.subresource == "status" => {
            claims::judge(attributes, node)
        }
        "persistentvolumeclaims" => Err(attributes.forbidden("may only update PVC status")),
        "serviceaccounts" => tokens::judge(attributes, node, authorizer).await,
        "podcertificaterequests" => {
            Err(attributes.forbidden("PodCertificateRequest feature gate is disabled"))
        }
        _ => requests::judge(attributes, node),
    }
}
