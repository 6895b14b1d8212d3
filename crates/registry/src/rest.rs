//! `Rest`: one served resource, or one of its subresources, with its verbs.
//!
//! Called by the HTTP layer. Objects are passed in the served version; the store below works in the
//! storage version. Every error is the `Status` for the client. It decodes no bodies and checks no
//! permissions.

pub(crate) mod apply;
mod capabilities;
pub(crate) mod capability;
mod check;
mod delete;
mod read;
pub(crate) mod scale;
pub(crate) mod subresource;
mod write;

use crate::custom::scale::ScalePaths;
use crate::custom::shape::shape_of;
use crate::rest::subresource::Subresource;
use crate::store::Store;
use crate::store::action::Created;
use crate::store::admission::options::Options;
use crate::store::admitting::{Admitting, ObjectView};
use crate::store::stores::Stores;
use crate::stored::Stored;
use crate::stored::scheme::Scheme;
use crate::strategy::Strategy;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{AnyObject, GroupResource, ListMeta, Status};
use std::fmt;
use std::sync::Arc;

/// One served resource, or one of its subresources. A clone is another handle.
#[derive(Clone)]
pub struct Rest {
    pub(crate) stores: Arc<Stores>,
    pub(crate) facts: &'static ResourceFacts,
    /// The kind of the resource in the served version.
    pub(crate) kind: &'static Kind,
    pub(crate) store: Arc<Store>,
    pub(crate) subresource: Subresource,
}

/// The result of an update.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct Updated {
    /// The object as stored, or its last state if the update removed it.
    pub object: Stored,
    /// Whether the object was created (201 instead of 200).
    pub created: bool,
}

/// The result of a delete.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct Deleted {
    /// The object or a status.
    pub answer: Created,
    /// Whether the object is removed; otherwise it waits for its grace period or for finalizers.
    pub gone: bool,
}

/// The result of a list.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct ListPage {
    /// The version of the list and the token of the next page.
    pub metadata: ListMeta,
    /// The objects in the served version, ordered by namespace and name.
    pub items: Vec<Stored>,
}

/// The verbs of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the API has no other verbs")]
#[expect(missing_docs, reason = "the words of discovery")]
pub enum Verb {
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Update,
    Watch,
}

impl Verb {
    /// All verbs, in alphabetical order.
    pub(crate) const ALL: [Self; 8] = [
        Self::Create,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Patch,
        Self::Update,
        Self::Watch,
    ];

    /// Returns the verb as in discovery.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Watch => "watch",
        }
    }
}

impl Rest {
    /// Returns the facts of the resource (not of the subresource).
    pub fn facts(&self) -> &'static ResourceFacts {
        self.facts
    }

    /// Returns the kind of the resource in the served version.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Returns the kind of request bodies: that of the subresource, if it has its own.
    pub fn body_kind(&self) -> &'static Kind {
        self.subresource.kind().unwrap_or(self.kind)
    }

    /// Returns the deprecation warning for clients of this version of a custom resource.
    pub fn deprecation(&self) -> Option<&'static str> {
        deprecation_of(self.facts)
    }

    /// Returns the list kind.
    pub fn list_kind(&self) -> String {
        format!("{}List", self.facts.kind)
    }

    /// Returns the subresource name; empty for the resource itself.
    pub fn subresource_name(&self) -> &'static str {
        self.subresource.name()
    }

    /// Returns group and plural, as in messages.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.facts.group, self.facts.plural)
    }

    /// Reports whether the resource has the verb.
    pub fn has(&self, verb: Verb) -> bool {
        self.subresource.verbs(self.facts).contains(&verb.as_str())
    }

    /// Returns one of its subresources, if it is served.
    pub fn subresource(&self, name: &str) -> Option<Self> {
        let subresource = Subresource::find(self.facts, name, &*self.stores.kinds)?;
        Some(Self {
            subresource,
            ..self.clone()
        })
    }

    /// Returns a resource that stores nothing, and whose creation does what that of a subresource
    /// of this one does.
    pub(crate) fn acting(&self, facts: &'static ResourceFacts, subresource: &str) -> Option<Self> {
        let action = self.stores.kinds.action(self.facts, subresource)?;
        Some(Self {
            facts,
            subresource: Subresource::Action("", action),
            ..self.clone()
        })
    }

    /// Returns an empty object of the body kind; `None` for kinds without metadata.
    pub fn new_object(&self) -> Option<Box<dyn AnyObject>> {
        self.body_kind().new_object()
    }

    /// Returns the strategy of the kind. Its objects are of the storage version.
    pub fn strategy(&self) -> &Arc<dyn Strategy> {
        &self.store().strategy
    }

    /// Sets defaults, the first step for every request body. PATCH applies them to the patched
    /// object.
    pub fn apply_defaults(&self, object: Box<dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut stored = self.to_storage(object)?;
        self.strategy().apply_defaults(&mut *stored);
        self.to_served(stored)
    }

    /// Returns the conversions between the versions of the kind.
    pub(crate) fn scheme(&self) -> &'static Scheme {
        self.stores.kinds.scheme()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the paths of the scale of a custom resource.
    pub(crate) fn scale_paths(&self) -> Option<ScalePaths> {
        let shape = self.kind.is_custom().then(|| shape_of(self.facts))??;
        shape.scale.clone()
    }

    /// Returns what admission is told of a write through this path.
    pub(crate) fn admitting<'a>(
        &'a self,
        options: Options<'a>,
        view: Option<&'a dyn ObjectView>,
    ) -> Option<Admitting<'a>> {
        let admitting = Admitting {
            stores: &self.stores,
            resource: self.facts,
            kind: self.body_kind(),
            subresource: self.subresource.name(),
            options,
            view,
        };
        (!self.stores.admission.is_empty()).then_some(admitting)
    }

    pub(crate) fn check_verb(&self, verb: Verb) -> Result<(), Status> {
        if self.has(verb) {
            Ok(())
        } else {
            Err(Status::method_not_supported(
                &self.group_resource(),
                verb.as_str(),
            ))
        }
    }

    pub(crate) fn to_storage(
        &self,
        object: Box<dyn AnyObject>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        self.scheme()
            .convert(object, self.kind, self.store().kind())
    }

    pub(crate) fn to_served(
        &self,
        object: Box<dyn AnyObject>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        self.scheme()
            .convert(object, self.store().kind(), self.kind)
    }

    pub(crate) fn serve(&self, stored: &Stored) -> Result<Stored, Status> {
        stored.in_version(self.kind)
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest")
            .field("group", &self.facts.group)
            .field("version", &self.facts.version)
            .field("plural", &self.facts.plural)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}

/// Returns the deprecation warning of a custom resource in a version that its definition marks as
/// deprecated.
pub fn deprecation_of(facts: &'static ResourceFacts) -> Option<&'static str> {
    shape_of(facts)?.warning
}
