//! `ControllerRefManager`: which objects belong to an owner that selects them by labels.
//!
//! An object without a controller that the selector matches is adopted. One that refers to the
//! owner and no longer matches is released. One with another controller is left alone, whatever
//! its labels. Named after upstream's, with the same rules.

use crate::{Error, controller_reference};
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{HasMetadata, Object, OwnerReferences as _, Selector};
use kubist_client::{Api, ApiError, Patch};
use serde_json::{Value, json};
use std::sync::Arc;

/// What to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to do")]
pub enum Claim {
    /// It belongs to the owner.
    Owned,
    /// It has no controller, and the selector matches it: it should get the owner as controller.
    Adopt,
    /// The owner is its controller, and the selector does not match it any more.
    Release,
    /// It is none of the owner's business.
    Foreign,
}

/// Claims objects for an owner.
///
/// ```
/// # use kubist_api::apps::v1::ReplicaSet;
/// # use kubist_api::core::v1::Pod;
/// # use kubist_apimachinery::Selector;
/// # use kubist_client::Api;
/// # use kubist_controller::{ControllerRefManager, Error};
/// # use std::sync::Arc;
/// # async fn example(
/// #     set: Arc<ReplicaSet>, pods: Api<Pod>, all: Vec<Arc<Pod>>, sets: Api<ReplicaSet>,
/// # ) -> Result<(), Error> {
/// let selector = set.spec.selector.as_deref().ok_or_else(|| Error::terminal("no selector"))?;
/// let selector = Selector::try_from(selector).map_err(Error::terminal)?;
/// let refs = ControllerRefManager::new(&*set, selector);
/// let mine = refs.claim_all(&pods, &sets, all).await?;
/// # drop(mine); Ok(()) }
/// ```
#[derive(Debug)]
pub struct ControllerRefManager<'a, O> {
    owner: &'a O,
    selector: Selector,
}

impl<'a, O: Ingest> ControllerRefManager<'a, O> {
    /// Creates one for an owner and its selector. A selector that selects everything claims
    /// nothing, because it would adopt the whole namespace.
    pub fn new(owner: &'a O, selector: Selector) -> Self {
        let selector = if selector.is_everything() {
            Selector::nothing()
        } else {
            selector
        };
        Self { owner, selector }
    }

    /// Decides what to do with an object, without doing it. What is being deleted is neither
    /// adopted nor released, and an owner that is being deleted does neither.
    pub fn claim(&self, object: &impl Object) -> Claim {
        let owner = self.owner;
        let matches = self.selector.matches_object(object);
        let ends = object.is_terminating() || owner.is_terminating();
        match object.owners().controller() {
            Some(controller) if controller.uid != owner.uid() => Claim::Foreign,
            Some(_) if matches || ends => Claim::Owned,
            Some(_) => Claim::Release,
            None if matches && !ends && object.namespace() == owner.namespace() => Claim::Adopt,
            None => Claim::Foreign,
        }
    }

    /// Returns the objects that belong to the owner, after adopting and releasing others. Before
    /// the first adoption it reads the owner from `owners`, because a cache may still show one
    /// that was deleted and created again.
    ///
    /// Objects that were changed or deleted meanwhile are left out: they come back as a change.
    /// An object that was adopted is among the result in the state before.
    ///
    /// # Errors
    /// A write failed otherwise, or the owner is not the one that was given any more.
    pub async fn claim_all<K>(
        &self,
        objects: &Api<K>,
        owners: &Api<O>,
        candidates: impl IntoIterator<Item = Arc<K>>,
    ) -> Result<Vec<Arc<K>>, Error>
    where
        K: Object + HasMetadata,
    {
        let (mut claimed, mut checked) = (Vec::new(), false);
        for object in candidates {
            match self.claim(&*object) {
                Claim::Owned => claimed.push(object),
                Claim::Adopt => {
                    if !checked {
                        self.check_owner(owners).await?;
                        checked = true;
                    }
                    if unless_outdated(self.adopt(objects, &*object).await)? {
                        claimed.push(object);
                    }
                }
                Claim::Release => {
                    unless_outdated(self.release(objects, &*object).await)?;
                }
                Claim::Foreign => {}
            }
        }
        Ok(claimed)
    }

    /// Makes the owner the controller of an object, if that is still the object that was seen.
    ///
    /// # Errors
    /// [`is_conflict`](ApiError::is_conflict) if it has changed; any other error of the write.
    pub async fn adopt<K>(&self, objects: &Api<K>, object: &K) -> Result<K, ApiError>
    where
        K: Object + HasMetadata,
    {
        let mut owners = object.object_metadata().owner_references();
        owners.push(controller_reference(self.owner));
        write_owners(objects, object, &owners).await
    }

    /// Removes the reference to the owner from an object, if that is still the object that was
    /// seen.
    ///
    /// # Errors
    /// [`is_conflict`](ApiError::is_conflict) if it has changed; any other error of the write.
    pub async fn release<K>(&self, objects: &Api<K>, object: &K) -> Result<K, ApiError>
    where
        K: Object + HasMetadata,
    {
        let mut owners = object.object_metadata().owner_references();
        owners.retain(|it| *it.uid != *self.owner.uid());
        write_owners(objects, object, &owners).await
    }

    async fn check_owner(&self, owners: &Api<O>) -> Result<(), Error> {
        let owner = self.owner;
        let owners = owners.in_namespace(owner.namespace());
        let current = owners.get_opt(owner.name()).await?;
        match current {
            Some(current) if current.uid() != owner.uid() => Err(Error::new(format!(
                "{} was deleted and created again: uid {}, not {}",
                owner.object_name(),
                current.uid(),
                owner.uid()
            ))),
            Some(current) if current.is_terminating() => {
                let name = owner.object_name();
                Err(Error::new(format!(
                    "{name} is being deleted and adopts nothing"
                )))
            }
            Some(_) => Ok(()),
            None => Err(Error::new(format!("{} is gone", owner.object_name()))),
        }
    }
}

/// Sends the whole list, with the uid and the version that were seen as preconditions, since
/// custom resources have no patches that merge lists.
async fn write_owners<K: Object>(
    objects: &Api<K>,
    object: &K,
    owners: &[kubist_apimachinery::OwnerReference],
) -> Result<K, ApiError> {
    let owners: Vec<Value> = owners.iter().map(|it| json!(it)).collect();
    let patch = Patch::Merge(json!({"metadata": {
        "uid": object.uid(),
        "resourceVersion": object.resource_version(),
        "ownerReferences": owners,
    }}));
    let objects = objects.in_namespace(object.namespace());
    objects.patch(object.name(), &patch).await
}

/// Reports whether it was written; not if the object had changed or was gone.
fn unless_outdated<K>(written: Result<K, ApiError>) -> Result<bool, Error> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if error.is_written() => Ok(true),
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::ReplicaSet;
    use kubist_apimachinery::{ObjectMeta, OwnerReference, Time};

    fn owner() -> ReplicaSet {
        let mut owner = ReplicaSet::default();
        owner.metadata.uid = "owner".into();
        owner
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
        let owner = owner();
        let refs = ControllerRefManager::new(&owner, "app=web".parse().expect("a selector"));
        let claim = |it: &ObjectMeta| refs.claim(it);
        assert_eq!(claim(&object("web", Some("owner"))), Claim::Owned);
        assert_eq!(claim(&object("web", None)), Claim::Adopt);
        assert_eq!(claim(&object("db", Some("owner"))), Claim::Release);
        assert_eq!(claim(&object("web", Some("another"))), Claim::Foreign);
        assert_eq!(claim(&object("db", None)), Claim::Foreign);
        let mut elsewhere = object("web", None);
        elsewhere.namespace = "other".into();
        assert_eq!(claim(&elsewhere), Claim::Foreign);
    }

    #[test]
    fn what_is_being_deleted_is_neither_adopted_nor_released() {
        let ending = Some(Time::from_unix(1));
        let (mut orphan, mut strayed) = (object("web", None), object("db", Some("owner")));
        let mut owner = owner();
        for of_owner in [false, true] {
            let of_objects = ending.filter(|_| !of_owner);
            orphan.deletion_timestamp = of_objects;
            strayed.deletion_timestamp = of_objects;
            owner.metadata.deletion_timestamp = ending.filter(|_| of_owner);
            let refs = ControllerRefManager::new(&owner, "app=web".parse().expect("a selector"));
            assert_eq!(refs.claim(&orphan), Claim::Foreign);
            assert_eq!(refs.claim(&strayed), Claim::Owned);
        }
    }

    #[test]
    fn a_selector_of_everything_claims_nothing() {
        let owner = owner();
        let refs = ControllerRefManager::new(&owner, Selector::everything());
        assert_eq!(refs.claim(&object("web", None)), Claim::Foreign);
    }
}
