//! The life of namespaces: nothing is created in one that is missing or ending, and a namespace
//! itself ends only when what is in it is gone.

use super::Store;
use crate::registry::Shared;
use kubist_api::core::v1::Namespace;
use kubist_apimachinery::{AnyObject, GroupResource, Status, StatusCause};
use std::any::Any;

/// Namespaces that cannot be deleted, as upstream.
pub(super) const PROTECTED: [&str; 3] = ["default", "kube-system", "kube-public"];
/// `status.phase` of a namespace that is ending.
const TERMINATING: &str = "Terminating";

pub(super) fn namespace_mut(object: &mut dyn AnyObject) -> Option<&mut Namespace> {
    (object as &mut dyn Any).downcast_mut()
}

/// Whether somebody still has to clear the namespace.
pub(super) fn has_finalizers(object: &dyn AnyObject) -> bool {
    let namespace: Option<&Namespace> = (object as &dyn Any).downcast_ref();
    namespace.is_some_and(|it| !it.spec.finalizers.is_empty())
}

/// Marks a namespace as ending.
pub(super) fn terminate(object: &mut dyn AnyObject) {
    if let Some(namespace) = namespace_mut(object) {
        namespace.status.phase = TERMINATING.into();
    }
}

impl Store {
    /// Whether something new may come into a namespace. 404 if it does not exist, 403 if it is
    /// ending. Cluster-scoped objects may always.
    pub(super) async fn check_namespace(
        &self,
        shared: &Shared,
        namespace: &str,
        name: &str,
    ) -> Result<(), Status> {
        if !self.namespaced {
            return Ok(());
        }
        let Some(namespaces) = shared.find("", "namespaces") else {
            return Ok(());
        };
        let resource = GroupResource::new("", "namespaces");
        let key = namespaces.storage.keys().key("", namespace)?;
        let found = namespaces.storage.get(&key, None).await;
        let found = found.map_err(|error| {
            error.to_status(crate::storage_error::Operation::Get, &resource, namespace)
        })?;
        let Some(found) = found else {
            return Err(Status::not_found(&resource, namespace));
        };
        if !found.object()?.meta().is_terminating() {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut status = Status::forbidden(&self.resource(), name, why);
        if let Some(details) = &mut status.details {
            details.causes.push(StatusCause {
                reason: "NamespaceTerminating".into(),
                message: format!("namespace {namespace} is being terminated").into(),
                field: "metadata.namespace".into(),
            });
        }
        Err(status)
    }
}
