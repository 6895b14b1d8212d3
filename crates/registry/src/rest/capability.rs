//! The verbs of a resource: each verb is a trait, and a resource returns those that it implements.
//!
//! The server installs and advertises exactly the verbs of a resource; there is no other list of
//! them. A PATCH needs a resource with get and update. [`Rest`](crate::Rest) is the stored
//! resource; an embedder can register others.

use crate::rest::apply::AppliedConfig;
use crate::rest::{Deleted, ListPage, Updated, Verb};
use crate::storage::watch::EventStream;
use crate::store::action::Created;
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{
    AnyObject, DeleteOptions, GroupResource, ListOptions, PostOptions, ResourceVersion, Status,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A served resource or subresource.
pub trait RestStorage: fmt::Debug + Send + Sync {
    /// Returns its names. The verbs there only determine the order of listing.
    fn facts(&self) -> &'static ResourceFacts;

    /// Returns the kind of the resource.
    fn kind(&self) -> &'static Kind;

    /// Returns the body kind; that of the resource, unless a subresource has its own.
    fn body_kind(&self) -> &'static Kind {
        self.kind()
    }

    /// Returns the list kind.
    fn list_kind(&self) -> String {
        format!("{}List", self.facts().kind)
    }

    /// Returns one of its subresources.
    fn subresource(&self, name: &str) -> Option<Arc<dyn RestStorage>> {
        let _ = name;
        None
    }

    /// Removes the fields of a request body that its schema does not specify, where kinds have more
    /// fields than they declare: custom objects. Returns a message for each, if they are reported
    /// to the client. `api_version` is that of the body: an object of another version of the
    /// resource, which is refused afterwards, is judged by the schema of that version.
    ///
    /// # Errors
    /// 400 for a body that cannot be completed.
    fn prune(
        &self,
        object: &mut dyn AnyObject,
        api_version: &str,
        reports: bool,
    ) -> Result<Vec<String>, Status> {
        let _ = (object, api_version, reports);
        Ok(Vec::new())
    }

    /// Returns the resource as a [`Creater`], if objects can be created.
    fn creater(&self) -> Option<&dyn Creater> {
        None
    }
    /// Returns the resource as a [`Getter`], if one object can be read.
    fn getter(&self) -> Option<&dyn Getter> {
        None
    }
    /// Returns the resource as a [`Lister`], if objects can be listed.
    fn lister(&self) -> Option<&dyn Lister> {
        None
    }
    /// Returns the resource as a [`Watcher`], if objects can be watched.
    fn watcher(&self) -> Option<&dyn Watcher> {
        None
    }
    /// Returns the resource as an [`Updater`], if objects can be updated.
    fn updater(&self) -> Option<&dyn Updater> {
        None
    }
    /// Returns the resource as an [`Applier`], if configurations can be applied.
    fn applier(&self) -> Option<&dyn Applier> {
        None
    }
    /// Returns the resource as a [`Deleter`], if objects can be deleted.
    fn deleter(&self) -> Option<&dyn Deleter> {
        None
    }
    /// Returns the resource as a [`CollectionDeleter`], if collections can be deleted.
    fn collection_deleter(&self) -> Option<&dyn CollectionDeleter> {
        None
    }
}

impl dyn RestStorage + '_ {
    /// Reports whether the resource has the verb.
    pub fn has(&self, verb: Verb) -> bool {
        match verb {
            Verb::Create => self.creater().is_some(),
            Verb::Delete => self.deleter().is_some(),
            Verb::DeleteCollection => self.collection_deleter().is_some(),
            Verb::Get => self.getter().is_some(),
            Verb::List => self.lister().is_some(),
            Verb::Patch => self.getter().is_some() && self.updater().is_some(),
            Verb::Update => self.updater().is_some(),
            Verb::Watch => self.watcher().is_some(),
        }
    }

    /// Returns its verbs, as in discovery.
    pub fn verbs(&self) -> Vec<&'static str> {
        let all = Verb::ALL.into_iter();
        let mut verbs: Vec<_> = all
            .filter(|verb| self.has(*verb))
            .map(Verb::as_str)
            .collect();
        let order = self.facts().verbs;
        verbs.sort_by_key(|verb| order.iter().position(|it| it == verb));
        verbs
    }

    /// Returns group and plural, as in messages.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.facts().group, self.facts().plural)
    }
}

/// Creates objects: POST.
pub trait Creater: Send + Sync {
    /// See [`Rest::create`](crate::Rest::create).
    fn create<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: Box<dyn AnyObject>,
        options: &'a PostOptions,
    ) -> BoxFuture<'a, Result<Created, Status>>;
}

/// Reads one object: GET.
pub trait Getter: Send + Sync {
    /// See [`Rest::get`](crate::Rest::get).
    fn get<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        version: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<Stored, Status>>;
}

/// Lists objects: GET of a collection.
pub trait Lister: Send + Sync {
    /// See [`Rest::list`](crate::Rest::list).
    fn list<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        options: &'a ListOptions,
    ) -> BoxFuture<'a, Result<ListPage, Status>>;
}

/// Watches objects: GET with `watch`.
pub trait Watcher: Send + Sync {
    /// See [`Rest::watch`](crate::Rest::watch).
    fn watch<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: Option<&'a str>,
        options: &'a ListOptions,
        timeout: Option<Duration>,
    ) -> BoxFuture<'a, Result<EventStream, Status>>;
}

/// Updates objects: PUT, and PATCH if objects can be read too.
pub trait Updater: Send + Sync {
    /// See [`Rest::update`](crate::Rest::update).
    fn update<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: &'a dyn UpdatedObject,
        options: &'a PostOptions,
    ) -> BoxFuture<'a, Result<Updated, Status>>;
}

/// Merges applied configurations into objects, for server-side apply, which is a PATCH.
pub trait Applier: Send + Sync {
    /// See [`Rest::merge_applied`](crate::Rest::merge_applied).
    fn merge_applied(
        &self,
        cx: &RequestContext,
        old: Option<&dyn AnyObject>,
        applied: &AppliedConfig<'_>,
    ) -> Result<Box<dyn AnyObject>, Status>;
}

/// Deletes one object: DELETE.
pub trait Deleter: Send + Sync {
    /// See [`Rest::delete`](crate::Rest::delete).
    fn delete<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        options: &'a DeleteOptions,
    ) -> BoxFuture<'a, Result<Deleted, Status>>;
}

/// Deletes many objects: DELETE of a collection.
pub trait CollectionDeleter: Send + Sync {
    /// Validates the list options, including the selectable fields. Runs before the delete options
    /// are decoded.
    fn check_list(&self, list: &ListOptions) -> Result<(), Status>;

    /// See [`Rest::delete_collection`](crate::Rest::delete_collection).
    fn delete_collection<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        list: &'a ListOptions,
        options: &'a DeleteOptions,
    ) -> BoxFuture<'a, Result<ListPage, Status>>;
}
