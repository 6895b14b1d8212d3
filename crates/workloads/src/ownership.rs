//! Ownership: which objects a workload's selector and controller references claim.
//!
//! An object without a controller is adopted. One that references the owner but no longer matches
//! is released. One with another controller is left alone, whatever its labels.

use crate::unless_outdated;
use kubist_apimachinery::{KubeObject, LabelSelector, Object, OwnerReference, Resource, Selector};
use kubist_client::{Api, ApiError, Patch};
use kubist_controller::Error;
use serde_json::json;
use std::sync::Arc;

/// Returns a reference that makes `owner` the controller.
pub(crate) fn controller_reference<K: Resource>(owner: &K) -> OwnerReference {
    OwnerReference {
        api_version: K::API_VERSION.into(),
        kind: K::KIND.into(),
        name: owner.name().into(),
        uid: owner.uid().into(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Returns a workload's selector. An empty or invalid one selects nothing, because it would claim
/// everything in the namespace.
pub(crate) fn selector_of(selector: Option<&LabelSelector>) -> Selector {
    selector
        .and_then(|it| Selector::try_from(it).ok())
        .filter(|it| !it.is_everything())
        .unwrap_or_else(Selector::nothing)
}

/// What to do with a candidate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Owned,
    Adopt,
    Release,
    Foreign,
}

/// Decides whether `object` belongs to `owner`, should be adopted, or should be released.
pub(crate) fn claim(owner: &impl Object, selector: &Selector, object: &impl Object) -> Claim {
    let matches = selector.matches_object(object);
    match object.owners().controller() {
        Some(controller) if controller.uid != owner.uid() => Claim::Foreign,
        Some(_) if matches => Claim::Owned,
        Some(_) if object.is_terminating() || owner.is_terminating() => Claim::Owned,
        Some(_) => Claim::Release,
        None if matches && !object.is_terminating() && !owner.is_terminating() => Claim::Adopt,
        None => Claim::Foreign,
    }
}

/// Returns the `candidates` that belong to `owner`, after adopting and releasing.
pub(crate) async fn claim_all<O: KubeObject, K: KubeObject, F: Object>(
    api: &Api<K>,
    owner: &O,
    selector: &Selector,
    candidates: impl IntoIterator<Item = Arc<F>>,
) -> Result<Vec<Arc<F>>, Error> {
    let mut claimed = Vec::new();
    for object in candidates {
        match claim(owner, selector, &*object) {
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
    use kubist_apimachinery::{ObjectMeta, Time};

    fn owner() -> ObjectMeta {
        ObjectMeta {
            uid: "owner".into(),
            ..ObjectMeta::default()
        }
    }

    fn object(app: &str, controller: Option<&str>) -> ObjectMeta {
        let reference = |uid: &str| OwnerReference {
            uid: uid.into(),
            controller: Some(true),
            ..OwnerReference::default()
        };
        ObjectMeta {
            labels: [("app".into(), app.into())].into(),
            owner_references: controller.map(reference).into_iter().collect(),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn ownership_needs_the_reference_and_the_labels() {
        let selector = "app=web".parse().expect("a selector");
        let claim = |it: &ObjectMeta| claim(&owner(), &selector, it);
        assert_eq!(claim(&object("web", Some("owner"))), Claim::Owned);
        assert_eq!(claim(&object("web", None)), Claim::Adopt);
        assert_eq!(claim(&object("db", Some("owner"))), Claim::Release);
        assert_eq!(claim(&object("web", Some("another"))), Claim::Foreign);
        assert_eq!(claim(&object("db", None)), Claim::Foreign);
    }

    #[test]
    fn what_is_being_deleted_is_neither_adopted_nor_let_go() {
        let selector = "app=web".parse().expect("a selector");
        let gone = |mut it: ObjectMeta| {
            it.deletion_timestamp = Some(Time::from_unix(1));
            it
        };
        let (orphan, strayed) = (object("web", None), object("db", Some("owner")));
        for (owner, orphan, strayed) in [
            (owner(), gone(orphan.clone()), gone(strayed.clone())),
            (gone(owner()), orphan, strayed),
        ] {
            assert_eq!(claim(&owner, &selector, &orphan), Claim::Foreign);
            assert_eq!(claim(&owner, &selector, &strayed), Claim::Owned);
        }
    }

    #[test]
    fn an_empty_selector_selects_nothing() {
        let everything = LabelSelector::default();
        assert!(selector_of(Some(&everything)).is_nothing());
        assert!(selector_of(None).is_nothing());
    }
}
