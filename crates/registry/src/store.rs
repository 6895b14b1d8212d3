//! `Store`: all objects of one resource under the API rules.
//!
//! Implements the generic write path: namespace, defaults, admission, preparation, validation,
//! canonical form and storage; and deletion in its stages. A strategy supplies the kind-specific
//! steps. The store works in the storage version only; `Rest` converts.

pub(crate) mod action;
pub mod admission;
pub(crate) mod admitting;
pub(crate) mod announcement;
pub(crate) mod body_managers;
pub(crate) mod clock;
pub(crate) mod create;
pub(crate) mod custom_version;
pub(crate) mod delete;
pub(crate) mod deletion;
pub(crate) mod engine;
pub(crate) mod field_managers;
mod hooked;
pub(crate) mod hooks;
pub(crate) mod kept_metadata;
pub(crate) mod kinds;
pub(crate) mod known_objects;
mod log_limit;
mod namespaces;
pub(crate) mod random;
pub(crate) mod reset_filter;
pub(crate) mod resource_store;
pub(crate) mod stores;
pub(crate) mod track_fields;
pub(crate) mod tracking;
pub(crate) mod update;
pub(crate) mod updated_object;
pub(crate) mod write_guards;

use crate::finishing::Finishing;
use crate::storage::DryRunnable;
use crate::storage::error::{Operation, StorageError};
use crate::store::field_managers::FieldManagers;
use crate::store::hooks::Hooks;
use crate::stored::Stored;
use crate::strategy::Strategy;
use crate::strategy::context::RequestContext;
use crate::strategy::object_fields::number_of;
use crate::strategy::object_write::{ObjectChange, ObjectWrite};
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{AnyObject, FieldError, GroupKind, GroupResource, Status, Str};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::watch;

/// The validation of objects written through a group with its own rules. Replaces the strategy's
/// validation.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a group has no other rules")]
pub struct GroupRules {
    /// Returns the validation errors of a new object.
    pub create: fn(&dyn AnyObject) -> Vec<FieldError>,
    /// Returns the validation errors of an update, from the new and the old object.
    pub update: fn(&dyn AnyObject, &dyn AnyObject) -> Vec<FieldError>,
}

/// The store of one resource.
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
    /// Completes writes with hooks.
    pub(crate) finishing: Finishing,
    /// Who owns the fields of objects.
    pub(crate) field_managers: Arc<FieldManagers>,
    /// The CustomResourceDefinition of the resource; `None` for built-in resources.
    pub(crate) definition: Option<Defined>,
    /// The served resources with these objects.
    pub(crate) served_as: Arc<[&'static ResourceFacts]>,
    /// Signals the end of watches when the definition changes; `None` for built-in resources.
    pub(crate) ends: Option<watch::Receiver<()>>,
}

/// Identifies the CustomResourceDefinition that a resource is served for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefinedBy {
    pub(crate) name: Str,
    pub(crate) uid: Str,
}

/// The definition for which a store writes.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub(crate) by: DefinedBy,
    /// The version in which the store writes objects.
    pub(crate) stored: &'static str,
    /// The last revision of the definition that was found to store that version.
    pub(crate) judged: Arc<AtomicU64>,
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

    /// Reports whether this is the namespace store.
    pub(crate) fn is_namespaces(&self) -> bool {
        self.group.is_empty() && self.plural == "namespaces"
    }

    /// Returns the field number of `status`, if the kind has one.
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

    /// Notes a committed write of the request.
    fn note(&self, cx: &RequestContext, at: (&str, &str), stored: &Stored, change: ObjectChange) {
        cx.wrote(ObjectWrite {
            group: self.group,
            resource: self.plural,
            namespace: at.0.into(),
            name: at.1.into(),
            revision: stored.revision(),
            change,
        });
    }

    /// Sets the object's namespace to that of the request. 400 if the object names another
    /// namespace.
    pub(crate) fn ensure_namespace_matches(
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
