//! The Node authorizer: what kubelets may do, by what runs on their node.
//!
//! [`NodeGraph`] knows which objects belong to the Pods of a node; whoever follows Pods, volumes
//! and the like puts them in. [`NodeAuthorizer`] decides by it, as upstream's mode `Node`. What a
//! kubelet may write is further limited by the admission plugin `NodeRestriction`.

mod authorizer;
mod graph;
mod pod_references;
mod related;

pub use authorizer::NodeAuthorizer;
pub use graph::NodeGraph;

use crate::User;

/// The group of kubelets.
pub const NODES_GROUP: &str = "system:nodes";
/// What the names of kubelets begin with.
const USER_PREFIX: &str = "system:node:";

/// Returns the name of the node whose kubelet this user is.
pub fn node_of(user: &User) -> Option<&str> {
    let name = user.name.strip_prefix(USER_PREFIX)?;
    user.is_in(NODES_GROUP).then_some(name)
}
