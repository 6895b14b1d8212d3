//! `Finalizer`: a name in an object's metadata that delays its deletion until cleanup.
//!
//! [`Finalizer::reconcile`] does all of it: it adds the finalizer before anything is created that
//! needs cleanup, and removes it after the last of that is gone. The other methods change metadata
//! in memory, ours or k8s-openapi's; the caller writes the object.

use crate::{Action, Error};
use kubist_apimachinery::{Finalizers, HasMetadata, Object, Str};
use kubist_client::{Api, ApiError, Patch};
use serde_json::json;
use std::sync::Arc;

/// What a reconcile under a finalizer has to do.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "an object is wanted or it is not")]
pub enum FinalizerEvent<K> {
    /// The object is wanted and has the finalizer: bring the world to its desired state.
    Apply(Arc<K>),
    /// The object is being deleted: clean up. It may be called again after a success, and for an
    /// object for which `Apply` was never called or failed halfway.
    Cleanup(Arc<K>),
}

/// The name of a finalizer, such as `example.com/bucket`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalizer {
    name: Str,
}

impl Finalizer {
    /// Creates a finalizer of this name.
    pub fn new(name: impl Into<Str>) -> Self {
        Self { name: name.into() }
    }

    /// Returns the name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Reports whether the object has the finalizer.
    pub fn is_present(&self, metadata: &impl Finalizers) -> bool {
        metadata.has_finalizer(&self.name)
    }

    /// Adds the finalizer and reports whether it was absent. It does nothing for an object that is
    /// being deleted, because servers reject new finalizers then.
    pub fn add(&self, metadata: &mut impl Finalizers) -> bool {
        let add = !metadata.is_being_deleted() && !self.is_present(metadata);
        if add {
            metadata.add_finalizer(&self.name);
        }
        add
    }

    /// Removes the finalizer and reports whether it was present.
    pub fn remove(&self, metadata: &mut impl Finalizers) -> bool {
        let was_on = self.is_present(metadata);
        metadata.remove_finalizer(&self.name);
        was_on
    }

    /// Reports whether the object is being deleted and waits for this finalizer.
    pub fn needs_cleanup(&self, metadata: &impl Finalizers) -> bool {
        metadata.is_being_deleted() && self.is_present(metadata)
    }

    /// Reconciles an object under this finalizer: adds it if the object is wanted, calls
    /// `reconcile`, and removes it once the cleanup is done.
    ///
    /// The finalizer is on the server before the first [`FinalizerEvent::Apply`], which comes in
    /// the same call. A cleanup is done when it returns [`Action::done`]; with
    /// [`Action::requeue_after`] the finalizer stays, and the key comes again. An object that is
    /// being deleted without the finalizer needs nothing. Both writes are patches with the version
    /// that was seen as precondition, so other finalizers are kept, and repeating a call does
    /// nothing twice.
    ///
    /// ```
    /// # use kubist_api::core::v1::ConfigMap;
    /// # use kubist_client::Api;
    /// # use kubist_controller::{Action, Error, Finalizer, FinalizerEvent};
    /// # use std::sync::Arc;
    /// # async fn create_bucket(map: &ConfigMap) -> Result<(), Error> { Ok(()) }
    /// # async fn delete_bucket(map: &ConfigMap) -> Result<(), Error> { Ok(()) }
    /// # async fn example(maps: Api<ConfigMap>, map: Arc<ConfigMap>) -> Result<Action, Error> {
    /// let bucket = Finalizer::new("example.com/bucket");
    /// bucket
    ///     .reconcile(&maps, map, |event| async move {
    ///         match event {
    ///             FinalizerEvent::Apply(map) => create_bucket(&map).await?,
    ///             FinalizerEvent::Cleanup(map) => delete_bucket(&map).await?,
    ///         }
    ///         Ok::<_, Error>(Action::done())
    ///     })
    ///     .await
    /// # }
    /// ```
    ///
    /// Cancel safety: may be dropped at any point; the next call goes on from what was written.
    ///
    /// # Errors
    /// The error of `reconcile`, or of a write. A conflict means that the object was older than the
    /// server's: the next reconcile has a newer one.
    pub async fn reconcile<K, F, E>(
        &self,
        api: &Api<K>,
        object: Arc<K>,
        reconcile: impl FnOnce(FinalizerEvent<K>) -> F,
    ) -> Result<Action, Error>
    where
        K: Object + HasMetadata,
        F: Future<Output = Result<Action, E>>,
        E: Into<Error>,
    {
        let is_present = self.is_present(object.object_metadata());
        match (object.is_terminating(), is_present) {
            (false, true) => reconcile(FinalizerEvent::Apply(object))
                .await
                .map_err(Into::into),
            (false, false) => {
                let mut names = object.object_metadata().finalizer_names();
                names.push(&self.name);
                let object = match write(api, &*object, &names).await {
                    Ok(written) => Arc::new(written),
                    Err(error) if error.is_not_found() => return Ok(Action::done()),
                    Err(error) => return Err(error.into()),
                };
                reconcile(FinalizerEvent::Apply(object))
                    .await
                    .map_err(Into::into)
            }
            (true, true) => {
                let event = FinalizerEvent::Cleanup(Arc::clone(&object));
                let action = reconcile(event).await.map_err(Into::into)?;
                if action.wait().is_some() {
                    return Ok(action);
                }
                let mut names = object.object_metadata().finalizer_names();
                names.retain(|it| **it != *self.name);
                match write(api, &*object, &names).await {
                    Err(error) if error.is_not_found() || error.is_written() => {}
                    written => drop(written?),
                }
                Ok(action)
            }
            (true, false) => Ok(Action::done()),
        }
    }
}

/// Replaces the finalizers, if the object is still the one that was seen.
async fn write<K: Object>(api: &Api<K>, object: &K, names: &[&str]) -> Result<K, ApiError> {
    let patch = Patch::Merge(json!({"metadata": {
        "uid": object.uid(),
        "resourceVersion": object.resource_version(),
        "finalizers": names,
    }}));
    let api = api.in_namespace(object.namespace());
    api.patch(object.name(), &patch).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectMeta;

    #[test]
    fn it_goes_on_once_and_is_due_when_the_object_is_deleted() {
        let finalizer = Finalizer::new("example.com/bucket");
        let mut metadata = ObjectMeta::default();
        assert!(finalizer.add(&mut metadata) && !finalizer.add(&mut metadata));
        assert!(!finalizer.needs_cleanup(&metadata));
        metadata.deletion_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        assert!(finalizer.needs_cleanup(&metadata));
        assert!(finalizer.remove(&mut metadata) && !finalizer.remove(&mut metadata));
        assert!(!finalizer.add(&mut metadata) && metadata.finalizers.is_empty());
    }
}
