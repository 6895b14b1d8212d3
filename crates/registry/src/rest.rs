//! `Rest`: one served resource, or one of its subresources, with the verbs that it has.
//!
//! What the HTTP layer calls. Objects come and go in the served version; the store below works in
//! the storage version. Every error is the `Status` that the client gets. It decodes no bodies and
//! checks no permissions.

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

/// What an update answers.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct Updated {
    /// The object, as it is stored now, or as it last was if the update ended it.
    pub object: Stored,
    /// Whether it did not exist before (201 in place of 200).
    pub created: bool,
}

/// What a delete answers.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct Deleted {
    /// The object or a status.
    pub answer: Created,
    /// Whether it is gone; otherwise it waits for its grace period or for finalizers.
    pub gone: bool,
}

/// What a list answers.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the HTTP layer reads it")]
pub struct ListPage {
    /// The version of the list and the token of the next page.
    pub metadata: ListMeta,
    /// The objects in the served version, ordered by namespace and name.
    pub items: Vec<Stored>,
}

/// What a resource can do.
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
    /// All of them, in the order of their words.
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

    /// The word in discovery.
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
    /// The facts of the resource (not of the subresource).
    pub fn facts(&self) -> &'static ResourceFacts {
        self.facts
    }

    /// The kind of the resource in the served version.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// The kind that the body of a request has: that of the subresource, if it has its own.
    pub fn body_kind(&self) -> &'static Kind {
        self.subresource.kind().unwrap_or(self.kind)
    }

    /// What whoever uses this version of a custom resource is warned of.
    pub fn deprecation(&self) -> Option<&'static str> {
        deprecation_of(self.facts)
    }

    /// The kind of lists.
    pub fn list_kind(&self) -> String {
        format!("{}List", self.facts.kind)
    }

    /// The name of the subresource; empty for the resource itself.
    pub fn subresource_name(&self) -> &'static str {
        self.subresource.name()
    }

    /// Group and plural, as messages name them.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.facts.group, self.facts.plural)
    }

    /// Whether it can do that.
    pub fn has(&self, verb: Verb) -> bool {
        self.subresource.verbs(self.facts).contains(&verb.as_str())
    }

    /// One of its subresources, if it is served.
    pub fn subresource(&self, name: &str) -> Option<Self> {
        let subresource = Subresource::find(self.facts, name, &*self.stores.kinds)?;
        Some(Self {
            subresource,
            ..self.clone()
        })
    }

    /// An empty object of the kind that bodies have. None for kinds without metadata.
    pub fn new_object(&self) -> Option<Box<dyn AnyObject>> {
        self.body_kind().new_object()
    }

    /// The strategy of the kind. Its objects are of the storage version.
    pub fn strategy(&self) -> &Arc<dyn Strategy> {
        &self.store().strategy
    }

    /// Fills in defaults, as is done with the body of a request before anything else. PATCH does
    /// it to the patched object.
    pub fn apply_defaults(&self, object: Box<dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut stored = self.to_storage(object)?;
        self.strategy().apply_defaults(&mut *stored);
        self.to_served(stored)
    }

    /// How the versions of the kind are converted.
    pub(crate) fn scheme(&self) -> &'static Scheme {
        self.stores.kinds.scheme()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Where the scale of a custom resource is.
    pub(crate) fn scale_paths(&self) -> Option<ScalePaths> {
        let shape = self.kind.is_custom().then(|| shape_of(self.facts))??;
        shape.scale.clone()
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

/// What whoever uses a resource is warned of, if it is a custom one, in a version that its
/// definition calls deprecated.
pub fn deprecation_of(facts: &'static ResourceFacts) -> Option<&'static str> {
    shape_of(facts)?.warning
}
