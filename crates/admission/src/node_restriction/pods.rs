//! What nodes may change of Pods: the status of their own, and mirrors of what they run themselves.

use crate::objects::typed;
use crate::pod_references::first_reference;
use kubist_api::core::v1::{Pod, PodResourceClaimStatus};
use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::admission::{Attributes, Operation};

/// Marks Pods that a node has made itself.
const MIRROR: &str = "kubernetes.io/config.mirror";

pub(super) async fn judge(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let target = attributes.target();
    let refused = match (target.subresource, target.operation) {
        ("", Operation::Create) => return create(attributes, node).await,
        ("", Operation::Delete) => delete(attributes, node),
        ("", operation) => Some(format!(
            "unexpected operation \"{operation}\", node \"{node}\" can only create and delete \
             mirror pods"
        )),
        ("status", Operation::Update) => status(attributes, node),
        ("status", operation) => Some(format!("unexpected operation \"{operation}\"")),
        ("eviction", Operation::Create) => return evict(attributes, node).await,
        ("eviction", operation) => Some(format!("unexpected operation {operation}")),
        (subresource, _) => Some(format!(
            "unexpected pod subresource \"{subresource}\", only 'status' and 'eviction' are \
             allowed"
        )),
    };
    refused.map_or(Ok(()), |why| Err(attributes.forbidden(why)))
}

async fn create(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(());
    };
    if let Some(why) = no_mirror(pod, node) {
        return Err(attributes.forbidden(why));
    }
    let own = attributes.objects().get("", "nodes", "", node).await?;
    let own = own.ok_or_else(|| Status::not_found(&GroupResource::new("", "node"), node))?;
    let uid = &own.meta().uid;
    for owner in &pod.metadata.owner_references {
        if owner.uid != *uid {
            return Err(attributes.forbidden(format_args!(
                "node {node} UID mismatch: expected {} got {uid}",
                owner.uid
            )));
        }
    }
    first_reference(pod).map_or(Ok(()), |what| {
        Err(attributes.forbidden(format_args!(
            "node \"{node}\" can not create pods that reference {what}"
        )))
    })
}

/// Returns why a new Pod is no mirror of one that the node runs.
fn no_mirror(pod: &Pod, node: &str) -> Option<String> {
    if !pod.metadata.annotations.contains_key(MIRROR) {
        return Some(format!(
            "pod does not have \"{MIRROR}\" annotation, node \"{node}\" can only create mirror pods"
        ));
    }
    let only = format!("node \"{node}\" can only create pods with");
    if pod.spec.node_name != *node {
        return Some(format!("{only} spec.nodeName set to itself"));
    }
    let owner = match pod.metadata.owner_references.as_slice() {
        [] => return Some(format!("{only} an owner reference set to itself")),
        [owner] => owner,
        _ => return Some(format!("{only} a single owner reference set to itself")),
    };
    if owner.api_version != "v1" || owner.kind != "Node" || owner.name != *node {
        return Some(format!("{only} an owner reference set to itself"));
    }
    if owner.controller != Some(true) {
        return Some(format!("{only} a controller owner reference set to itself"));
    }
    (owner.block_owner_deletion == Some(true))
        .then(|| format!("node \"{node}\" must not set blockOwnerDeletion on an owner reference"))
}

fn delete(attributes: &Attributes<'_>, node: &str) -> Option<String> {
    let pod = attributes.old_typed::<Pod>()?;
    (pod.spec.node_name != *node)
        .then(|| format!("node \"{node}\" can only delete pods with spec.nodeName set to itself"))
}

fn status(attributes: &Attributes<'_>, node: &str) -> Option<String> {
    let old = attributes.old_typed::<Pod>()?;
    let new = attributes.typed::<Pod>()?;
    if old.spec.node_name != *node {
        return Some(format!(
            "node \"{node}\" can only update pod status for pods with spec.nodeName set to itself"
        ));
    }
    let (after, before) = (&new.status, &old.status);
    let claims = |it: &[PodResourceClaimStatus]| -> Vec<_> {
        let named = it.iter();
        named
            .map(|it| (it.name.clone(), it.resource_claim_name.clone()))
            .collect()
    };
    let what = if new.metadata.labels != old.metadata.labels {
        "labels through pod status"
    } else if claims(&after.resource_claim_statuses) != claims(&before.resource_claim_statuses) {
        "resource claim statues"
    } else if after.extended_resource_claim_status != before.extended_resource_claim_status {
        "extended resource claim status"
    } else {
        return None;
    };
    Some(format!("node \"{node}\" cannot update {what}"))
}

async fn evict(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let target = attributes.target();
    let objects = attributes.objects();
    let found = objects.get("", "pods", target.namespace, target.name);
    // Upstream's caches name kinds, not resources.
    let missing = || Status::not_found(&GroupResource::new("", "pod"), target.name);
    let found = found.await?.ok_or_else(missing)?;
    let pod = typed::<Pod>(&*found);
    if pod.is_some_and(|it| it.spec.node_name == *node) {
        return Ok(());
    }
    Err(attributes.forbidden(format_args!(
        "node {node} can only evict pods with spec.nodeName set to itself"
    )))
}
