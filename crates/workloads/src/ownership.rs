//! Ownership: which objects a workload's selector and controller references claim.
//!
//! [`ControllerRefManager`] decides; the writes here are strategic patches, which fit objects that
//! are cached without their whole metadata.

use crate::unless_outdated;
use kubist_apimachinery::{KubeObject, LabelSelector, Object, Selector};
use kubist_client::{Api, ApiError, Patch};
use kubist_controller::{Claim, ControllerRefManager, Error, controller_reference};
use serde_json::json;
use std::sync::Arc;

/// Returns a workload's selector. An empty or invalid one selects nothing, because it would claim
/// everything in the namespace.
pub(crate) fn selector_of(selector: Option<&LabelSelector>) -> Selector {
    selector
        .and_then(|it| Selector::try_from(it).ok())
        .filter(|it| !it.is_everything())
        .unwrap_or_else(Selector::nothing)
}

/// Returns the `candidates` that belong to `owner`, after adopting and releasing.
pub(crate) async fn claim_all<O: KubeObject, K: KubeObject, F: Object>(
    api: &Api<K>,
    owner: &O,
    selector: &Selector,
    candidates: impl IntoIterator<Item = Arc<F>>,
) -> Result<Vec<Arc<F>>, Error> {
    let refs = ControllerRefManager::new(owner, selector.clone());
    let mut claimed = Vec::new();
    for object in candidates {
        match refs.claim(&*object) {
            Claim::Owned => claimed.push(object),
            Claim::Adopt => {
                // After the adoption it comes back as a change.
                unless_outdated(adopt(api, owner, &*object).await)?;
            }
            Claim::Release => {
                unless_outdated(release(api, owner, &*object).await)?;
            }
            Claim::Foreign => {}
        }
    }
    Ok(claimed)
}

/// The uid in the patch ensures that it is still the object that was seen.
async fn adopt<O: KubeObject, K: KubeObject>(
    api: &Api<K>,
    owner: &O,
    object: &impl Object,
) -> Result<K, ApiError> {
    let reference = controller_reference(owner);
    let patch = Patch::Strategic(json!({"metadata": {
        "uid": object.uid(),
        "ownerReferences": [{
            "apiVersion": *reference.api_version, "kind": *reference.kind,
            "name": *reference.name, "uid": *reference.uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
    }}));
    api.patch(object.name(), &patch).await
}

async fn release<O: KubeObject, K: KubeObject>(
    api: &Api<K>,
    owner: &O,
    object: &impl Object,
) -> Result<K, ApiError> {
    let patch = Patch::Strategic(json!({"metadata": {
        "uid": object.uid(),
        "ownerReferences": [{"$patch": "delete", "uid": owner.uid()}],
    }}));
    api.patch(object.name(), &patch).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_selector_selects_nothing() {
        let everything = LabelSelector::default();
        assert!(selector_of(Some(&everything)).is_nothing());
        assert!(selector_of(None).is_nothing());
    }
}
