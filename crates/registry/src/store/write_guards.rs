//! Checks that an object may be written.
//!
//! To be created, its namespace and its definition have to exist, and neither may be terminating.
//! To be written at all, its definition has to store the version in which it is written. What was
//! checked guards the write, so that no object is created in a namespace that has been deleted
//! meanwhile, and none is stored in a version that its definition no longer has.

use super::{Defined, Store};
use crate::storage::error::{Operation, StorageError};
use crate::store::stores::Stores;
use crate::stored::Stored;
use bytes::Bytes;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::{GroupResource, Status, StatusCause, StatusReason};
use kubist_storage::{Guard, Revision};
use std::any::Any;
use std::sync::atomic::Ordering;

/// The resource of custom resource definitions.
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// 403: objects cannot be created in a terminating namespace.
pub fn namespace_terminating(resource: &GroupResource, name: &str, namespace: &str) -> Status {
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let mut status = Status::forbidden(resource, name, why);
    if let Some(details) = &mut status.details {
        details.causes.push(StatusCause {
            reason: "NamespaceTerminating".into(),
            message: format!("namespace {namespace} is being terminated").into(),
            field: "metadata.namespace".into(),
        });
    }
    status
}

/// Which states may be judged: see [`Storage::get`](crate::Storage::get).
type NotOlderThan = Option<u64>;
/// Any state, for instance that of a watch cache.
const ANY: NotOlderThan = Some(0);
const LATEST: NotOlderThan = None;

impl Store {
    /// Checks that an object may be created in a namespace. Returns 404 if the namespace does not
    /// exist and 403 if it is terminating; 404 or 405 for a definition. On success, returns the
    /// guards of the write.
    pub(super) async fn creation_guards(
        &self,
        stores: &Stores,
        namespace: &str,
        name: &str,
    ) -> Result<Vec<Guard>, Status> {
        self.guards_at(stores, namespace, name, LATEST).await
    }

    /// Does the same for a write that checks its guards: what permits it is looked for in a cache
    /// first. If that was of the past, the write finds its guards changed.
    pub(super) async fn likely_creation_guards(
        &self,
        stores: &Stores,
        namespace: &str,
        name: &str,
    ) -> Result<Vec<Guard>, Status> {
        match self.guards_at(stores, namespace, name, ANY).await {
            Ok(guards) => Ok(guards),
            Err(_) => self.creation_guards(stores, namespace, name).await,
        }
    }

    async fn guards_at(
        &self,
        stores: &Stores,
        namespace: &str,
        name: &str,
        not_older_than: NotOlderThan,
    ) -> Result<Vec<Guard>, Status> {
        let mut guards = Vec::new();
        if self.namespaced {
            let namespace = self.check_namespace(stores, namespace, name, not_older_than);
            guards.extend(namespace.await?);
        }
        if let Some(definition) = &self.definition {
            let definition = self.check_creation_by(stores, definition, name, not_older_than);
            guards.extend(definition.await?);
        }
        Ok(guards)
    }

    async fn check_namespace(
        &self,
        stores: &Stores,
        namespace: &str,
        name: &str,
        not_older_than: NotOlderThan,
    ) -> Result<Option<Guard>, Status> {
        if namespace.is_empty() {
            // The validation of the object reports a missing namespace together with all other
            // errors.
            return Ok(None);
        }
        let Some(namespaces) = stores.find("", "namespaces") else {
            return Ok(None);
        };
        let resource = GroupResource::new("", "namespaces");
        let key = namespaces.storage.keys().key("", namespace)?;
        let found = stores.one_at(namespaces, "", namespace, not_older_than);
        let Some(found) = found.await? else {
            return Err(Status::not_found(&resource, namespace));
        };
        if !found.object()?.meta().is_terminating() {
            return Ok(Some(guard(key, &found)));
        }
        Err(namespace_terminating(&self.resource(), name, namespace))
    }

    /// Returns the guards of a write to an object that exists: the definition still stores the
    /// version in which this store writes. `is_first`: what permits the write may be of the past,
    /// and the write then finds its guards changed.
    pub(super) async fn write_guards(
        &self,
        stores: &Stores,
        name: &str,
        is_first: bool,
    ) -> Result<Vec<Guard>, Status> {
        let Some(definition) = &self.definition else {
            return Ok(Vec::new());
        };
        let guards = |checked: Option<(Guard, Stored)>| -> Vec<Guard> {
            checked.into_iter().map(|(guard, _)| guard).collect()
        };
        if is_first {
            let likely = self.check_definition(stores, definition, name, ANY).await;
            if let Ok(checked) = likely {
                return Ok(guards(checked));
            }
        }
        let checked = self.check_definition(stores, definition, name, LATEST);
        Ok(guards(checked.await?))
    }

    async fn check_creation_by(
        &self,
        stores: &Stores,
        definition: &Defined,
        name: &str,
        not_older_than: NotOlderThan,
    ) -> Result<Option<Guard>, Status> {
        let checked = self.check_definition(stores, definition, name, not_older_than);
        let Some((guard, found)) = checked.await? else {
            return Ok(None);
        };
        if found.object()?.meta().is_terminating() {
            let message = "create not allowed while custom resource definition is terminating";
            let reason = StatusReason::MethodNotAllowed;
            return Err(Status::failure(405, reason, message));
        }
        Ok(Some(guard))
    }

    /// Checks that the definition is there, and that objects are stored in the version in which
    /// this store writes them: a request may have been begun before that was changed.
    async fn check_definition(
        &self,
        stores: &Stores,
        definition: &Defined,
        name: &str,
        not_older_than: NotOlderThan,
    ) -> Result<Option<(Guard, Stored)>, Status> {
        let Some(definitions) = stores.find(DEFINITIONS.0, DEFINITIONS.1) else {
            return Ok(None);
        };
        let by = &definition.by;
        let key = definitions.storage.keys().key("", &by.name)?;
        let found = stores.one_at(definitions, "", &by.name, not_older_than);
        let Some(found) = found.await? else {
            return Err(Status::not_found(&self.resource(), name));
        };
        if definition.judged.load(Ordering::Relaxed) != found.revision() {
            if found.object()?.meta().uid != by.uid {
                return Err(Status::not_found(&self.resource(), name));
            }
            if !stores_as(&found, definition.stored)? {
                let error = StorageError::NotReady { retry_after: 1 };
                return Err(error.to_status(Operation::Update, &self.resource(), name));
            }
            definition.judged.store(found.revision(), Ordering::Relaxed);
        }
        Ok(Some((guard(key, &found), found)))
    }
}

/// Reports whether a definition stores objects in a version.
fn stores_as(definition: &Stored, version: &str) -> Result<bool, Status> {
    let object: &dyn Any = &**definition.object()?;
    let definition = object.downcast_ref::<CustomResourceDefinition>();
    let mut versions = definition.into_iter().flat_map(|it| &it.spec.versions);
    Ok(versions.any(|it| it.storage && it.name == *version))
}

fn guard(key: String, judged: &Stored) -> Guard {
    Guard {
        key: Bytes::from(key),
        revision: Revision(judged.revision()),
    }
}
