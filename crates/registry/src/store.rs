//! `Store`: all objects of one resource under the rules of the API.
//!
//! The generic road of every write: namespace, defaults, admission, preparation, checks, canonical
//! form, storage; deletion in its stages. A strategy fills in what is special about a kind. The
//! store works in the storage version only; `Rest` converts.

pub(crate) mod action;
pub(crate) mod announcement;
pub(crate) mod clock;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deletion;
pub(crate) mod engine;
pub(crate) mod finishing;
mod hooked;
pub(crate) mod hooks;
pub(crate) mod kinds;
mod namespaces;
pub(crate) mod place;
pub(crate) mod random;
pub(crate) mod resource_store;
pub(crate) mod stores;
pub(crate) mod update;
pub(crate) mod updated_object;

use crate::storage::DryRunnable;
use crate::storage::error::{Operation, StorageError};
use crate::store::finishing::Finishing;
use crate::store::hooks::Hooks;
use crate::strategy::Strategy;
use crate::strategy::object_fields::number_of;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, FieldError, GroupKind, GroupResource, Status, Str};
use std::sync::Arc;
use tokio::sync::watch;

/// What an object must satisfy where the group that it is written to has rules of its own, in
/// place of those of the strategy.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a group has no other rules")]
pub struct GroupRules {
    /// What is wrong with a new object.
    pub create: fn(&dyn AnyObject) -> Vec<FieldError>,
    /// What is wrong with a new object in place of an old one.
    pub update: fn(&dyn AnyObject, &dyn AnyObject) -> Vec<FieldError>,
}

/// All objects of one resource.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) storage: DryRunnable,
    pub(crate) strategy: Arc<dyn Strategy>,
    /// Whether the status is a subresource, so that the main path leaves it alone.
    pub(crate) has_status: bool,
    pub(crate) hooks: Vec<Arc<dyn Hooks>>,
    /// What brings writes with hooks to their end.
    pub(crate) finishing: Finishing,
    /// What defines the resource; none for built-in ones.
    pub(crate) definition: Option<DefinedBy>,
    /// When watches end, which the definition decides; none for built-in ones.
    pub(crate) ends: Option<watch::Receiver<()>>,
}

/// The CustomResourceDefinition that a resource is served for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefinedBy {
    pub(crate) name: Str,
    pub(crate) uid: Str,
}

impl Store {
    /// The kind in its storage version.
    pub(crate) fn kind(&self) -> &'static Kind {
        self.storage.kind().kind
    }

    /// Group and plural.
    pub(crate) fn resource(&self) -> GroupResource {
        GroupResource::new(self.group, self.plural)
    }

    /// Group and kind.
    pub(crate) fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group, self.kind().facts().kind)
    }

    /// Whether these are the namespaces.
    pub(crate) fn is_namespaces(&self) -> bool {
        self.group.is_empty() && self.plural == "namespaces"
    }

    /// The number of the status field, if the kind has one.
    fn status_number(&self) -> Option<u32> {
        number_of(self.kind().schema(), "status")
    }

    fn failed(&self, operation: Operation, name: &str) -> impl Fn(StorageError) -> Status {
        let (resource, name) = (self.resource(), name.to_owned());
        move |error| error.to_status(operation, &resource, &name)
    }

    pub(crate) fn invalid(&self, name: &str, errors: &[FieldError]) -> Result<(), Status> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Status::invalid(&self.group_kind(), name, errors))
        }
    }

    /// Puts an object into the namespace of its request. 400 if it says another.
    pub(crate) fn settle_namespace(
        &self,
        object: &mut dyn AnyObject,
        namespace: &str,
    ) -> Result<(), Status> {
        let meta = object.meta_mut();
        if !self.namespaced {
            meta.namespace = Str::default();
        } else if meta.namespace.is_empty() {
            meta.namespace = namespace.into();
        } else if meta.namespace != *namespace {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the \
                 request",
            ));
        }
        Ok(())
    }
}
