//! `ResourceStore`: the objects of one resource in their storage version, for the server's own use.
//!
//! Below [`Rest`](crate::Rest): it has no verbs, served versions or group rules. Its writes pass
//! the strategy like any other, except as [`UpdatePath`] documents.

use crate::storage::error::{Operation, StorageError};
use crate::store::Store;
use crate::store::create::CreateCall;
use crate::store::delete::DeleteCall;
use crate::store::stores::Stores;
use crate::store::tracking::{Tracking, WritePath};
use crate::store::update::{UpdateRequest, UpdateScope};
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::strategy::admission::Lookup;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, DeleteOptions, PostOptions, Status};
use std::fmt;
use std::sync::Arc;

/// The objects of one resource. A clone is another handle.
#[derive(Clone)]
pub struct ResourceStore {
    stores: Arc<Stores>,
    store: Arc<Store>,
}

/// The fields of an object that an update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an update has no other path")]
pub enum UpdatePath {
    /// Everything but the status, if that is a subresource. Creates a missing object if the
    /// [`UpdatedObject`] does.
    Whole,
    /// The status.
    Status,
    /// Everything, as the subresource of this name, without preparation by the strategy.
    Everything(&'static str),
}

impl UpdatePath {
    fn update_scope(self) -> (UpdateScope, &'static str) {
        match self {
            Self::Whole => (UpdateScope::Whole, ""),
            Self::Status => (UpdateScope::Status, "status"),
            Self::Everything(subresource) => (UpdateScope::Everything, subresource),
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

    /// Tracks writes by the server itself, in the storage version.
    fn tracking(&self, cx: &RequestContext, subresource: &'static str) -> Tracking<'_> {
        let kind = self.store.kind();
        let path = WritePath {
            store: &self.store,
            scheme: self.stores.kinds.scheme(),
            kind,
            body_kind: kind,
            subresource,
        };
        path.tracking(cx, &PostOptions::default())
    }

    /// Reads one object; `None` if it does not exist.
    ///
    /// # Errors
    /// Storage does not answer, or the object cannot be decoded.
    pub async fn get(&self, namespace: &str, name: &str) -> Result<Option<Stored>, Status> {
        self.stores.one(&self.store, namespace, name).await
    }

    /// Reports whether an object of that name exists, even if it cannot be decoded.
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

    /// Lists the objects of a namespace, or of all namespaces if it is empty.
    ///
    /// # Errors
    /// Storage does not answer.
    pub async fn list(&self, namespace: &str) -> Result<Vec<Stored>, Status> {
        self.stores.all(&self.store, namespace).await
    }

    /// Creates an object.
    ///
    /// # Errors
    /// The error that a client would receive.
    pub async fn create(
        &self,
        cx: &RequestContext,
        namespace: &str,
        object: Box<dyn AnyObject>,
    ) -> Result<Stored, Status> {
        let tracking = self.tracking(cx, "");
        let call = CreateCall {
            stores: &self.stores,
            cx,
            dry_run: false,
            tracking: &tracking,
            rules: None,
            admitting: None,
        };
        self.store.create(call, namespace, object).await
    }

    /// Updates an object, and returns it as stored.
    ///
    /// # Errors
    /// The error that a client would receive.
    pub async fn update(
        &self,
        cx: &RequestContext,
        (namespace, name): (&str, &str),
        object: &dyn UpdatedObject,
        path: UpdatePath,
        dry_run: bool,
    ) -> Result<Stored, Status> {
        let (scope, subresource) = path.update_scope();
        let tracking = self.tracking(cx, subresource);
        // As upstream, what actions change of an object has no owner.
        let is_tracked = scope != UpdateScope::Everything && !object.has_managers();
        let request = UpdateRequest {
            stores: &self.stores,
            cx,
            namespace,
            name,
            object,
            scope,
            subresource,
            dry_run,
            tracking: is_tracked.then_some(&tracking),
            rules: None,
            admitting: None,
        };
        Ok(self.store.update(request).await?.stored)
    }

    /// Deletes an object, or starts its deletion.
    ///
    /// # Errors
    /// The error that a client would receive.
    pub async fn delete(
        &self,
        cx: &RequestContext,
        (namespace, name): (&str, &str),
        options: &DeleteOptions,
    ) -> Result<(), Status> {
        let call = DeleteCall {
            stores: &self.stores,
            cx,
            namespace,
            name,
            options,
            selection: None,
            admitting: None,
        };
        self.store.delete(call).await.map(drop)
    }

    /// Returns the objects of another resource, by its storage group and plural; `None` if it is
    /// not stored.
    pub fn other(&self, group: &str, plural: &str) -> Option<Self> {
        self.stores.resource(group, plural)
    }

    /// Returns a lookup of the objects of all resources.
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
