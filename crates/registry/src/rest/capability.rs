//! What a resource can do: each verb is a trait, and a resource says which of them it has.
//!
//! The server installs and advertises exactly the verbs that a resource has; nothing else lists
//! them. A PATCH needs a resource that can be read and updated. [`Rest`](crate::Rest) is the
//! resource that is stored; others are given to the registry by whoever embeds it.

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

/// A resource, or a subresource, as it is served.
pub trait RestStorage: fmt::Debug + Send + Sync {
    /// Its names. The verbs there are an order to list them in, and no more.
    fn facts(&self) -> &'static ResourceFacts;

    /// The kind of the resource.
    fn kind(&self) -> &'static Kind;

    /// The kind that bodies have; that of the resource, unless a subresource has its own.
    fn body_kind(&self) -> &'static Kind {
        self.kind()
    }

    /// The kind of lists.
    fn list_kind(&self) -> String {
        format!("{}List", self.facts().kind)
    }

    /// One of its subresources.
    fn subresource(&self, name: &str) -> Option<Arc<dyn RestStorage>> {
        let _ = name;
        None
    }

    /// Whether objects can be made.
    fn creater(&self) -> Option<&dyn Creater> {
        None
    }
    /// Whether one object can be read.
    fn getter(&self) -> Option<&dyn Getter> {
        None
    }
    /// Whether objects can be listed.
    fn lister(&self) -> Option<&dyn Lister> {
        None
    }
    /// Whether objects can be watched.
    fn watcher(&self) -> Option<&dyn Watcher> {
        None
    }
    /// Whether objects can be changed.
    fn updater(&self) -> Option<&dyn Updater> {
        None
    }
    /// Whether objects can be deleted.
    fn deleter(&self) -> Option<&dyn Deleter> {
        None
    }
    /// Whether many objects can be deleted at once.
    fn collection_deleter(&self) -> Option<&dyn CollectionDeleter> {
        None
    }
}

impl dyn RestStorage + '_ {
    /// Whether it can do that.
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

    /// The verbs that it has, as discovery lists them.
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

    /// Group and plural, as messages name them.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.facts().group, self.facts().plural)
    }
}

/// Makes objects: POST.
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

/// Follows objects: GET with `watch`.
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

/// Changes objects: PUT, and PATCH of what can be read too.
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
    /// Whether these options are those of a list, and of fields that objects can be selected by:
    /// what is said before the options of the deletion are read.
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
