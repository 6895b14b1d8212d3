//! `ResourceStore`: the objects of one resource in their storage version, for the server itself.
//!
//! Below [`Rest`](crate::Rest): it has no verbs, no served versions and no rules of groups. What
//! it writes passes the strategy like any other write, except as [`UpdatePath`] says.

use crate::storage::error::{Operation, StorageError};
use crate::store::Store;
use crate::store::delete::DeleteCall;
use crate::store::stores::Stores;
use crate::store::update::{Part, UpdateRequest};
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::strategy::admission::Lookup;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, DeleteOptions, Status};
use std::fmt;
use std::sync::Arc;

/// The objects of one resource. A clone is another handle.
#[derive(Clone)]
pub struct ResourceStore {
    stores: Arc<Stores>,
    store: Arc<Store>,
}

/// Which part of an object an update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an update has no other path")]
pub enum UpdatePath {
    /// All but the status, if that is a subresource. Creates a missing object if the
    /// [`UpdatedObject`] does.
    Whole,
    /// The status.
    Status,
    /// Everything, as the subresource of this name: the strategy prepares nothing.
    Everything(&'static str),
}

impl UpdatePath {
    fn part(self) -> (Part, &'static str) {
        match self {
            Self::Whole => (Part::Whole, ""),
            Self::Status => (Part::Status, "status"),
            Self::Everything(subresource) => (Part::Everything, subresource),
        }
    }
}

impl ResourceStore {
    pub(crate) fn new(stores: &Arc<Stores>, store: &Arc<Store>) -> Self {
        Self {
            stores: Arc::clone(stores),
            store: Arc::clone(store),
        }
    }

    /// Reads one object; None if it does not exist.
    ///
    /// # Errors
    /// Storage does not answer, or the object cannot be read.
    pub async fn get(&self, namespace: &str, name: &str) -> Result<Option<Stored>, Status> {
        self.stores.one(&self.store, namespace, name).await
    }

    /// Whether there is an object of that name, which need not be readable.
    ///
    /// # Errors
    /// Storage does not answer.
    pub async fn exists(&self, namespace: &str, name: &str) -> Result<bool, Status> {
        let key = self.store.storage.keys().key(namespace, name)?;
        match self.store.storage.get(&key, None).await {
            Ok(found) => Ok(found.is_some()),
            Err(StorageError::Refused(_)) => Ok(true),
            Err(error) => Err(error.to_status(Operation::Get, &self.store.resource(), name)),
        }
    }

    /// Reads all objects of a namespace, or of all namespaces if it is empty.
    ///
    /// # Errors
    /// Storage does not answer.
    pub async fn list(&self, namespace: &str) -> Result<Vec<Stored>, Status> {
        self.stores.all(&self.store, namespace).await
    }

    /// Creates an object.
    ///
    /// # Errors
    /// As a client is answered.
    pub async fn create(
        &self,
        cx: &RequestContext,
        namespace: &str,
        object: Box<dyn AnyObject>,
    ) -> Result<Stored, Status> {
        let (store, stores) = (&self.store, &*self.stores);
        store
            .create(stores, cx, namespace, object, false, None)
            .await
    }

    /// Changes an object, and returns it as it is stored then.
    ///
    /// # Errors
    /// As a client is answered.
    pub async fn update(
        &self,
        cx: &RequestContext,
        (namespace, name): (&str, &str),
        object: &dyn UpdatedObject,
        path: UpdatePath,
        dry_run: bool,
    ) -> Result<Stored, Status> {
        let (part, subresource) = path.part();
        let request = UpdateRequest {
            stores: &self.stores,
            cx,
            namespace,
            name,
            object,
            part,
            subresource,
            dry_run,
            rules: None,
        };
        Ok(self.store.update(request).await?.stored)
    }

    /// Deletes an object, or begins to.
    ///
    /// # Errors
    /// As a client is answered.
    pub async fn delete(
        &self,
        cx: &RequestContext,
        (namespace, name): (&str, &str),
        options: &DeleteOptions,
    ) -> Result<(), Status> {
        let call = DeleteCall {
            cx,
            namespace,
            name,
            options,
            only: None,
        };
        self.store.delete(call).await.map(drop)
    }

    /// The objects of another resource, by the group and plural that it is stored under; None if
    /// it is not stored.
    pub fn other(&self, group: &str, plural: &str) -> Option<Self> {
        self.stores.resource(group, plural)
    }

    /// Reads objects of all resources.
    pub fn lookup(&self) -> &dyn Lookup {
        &*self.stores
    }
}

impl fmt::Debug for ResourceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceStore")
            .field(&self.store.resource())
            .finish()
    }
}
