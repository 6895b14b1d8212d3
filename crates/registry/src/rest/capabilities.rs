//! The verbs of a stored resource, as capabilities.

use super::{Deleted, ListPage, Rest, Updated, Verb};
use crate::custom::shape::shape_of;
use crate::rest::apply::AppliedConfig;
use crate::rest::capability::{
    Applier, CollectionDeleter, Creater, Deleter, Getter, Lister, RestStorage, Updater, Watcher,
};
use crate::storage::watch::EventStream;
use crate::store::action::Created;
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{
    AnyObject, DeleteOptions, ListOptions, PostOptions, ResourceVersion, Status,
};
use std::sync::Arc;
use std::time::Duration;

/// Returns the resource as one of its capabilities, if it has the verb.
macro_rules! capability {
    ($($method:ident: $trait:ident => $verb:ident),* $(,)?) => {$(
        fn $method(&self) -> Option<&dyn $trait> {
            self.has(Verb::$verb).then_some(self as &dyn $trait)
        }
    )*};
}

impl RestStorage for Rest {
    fn facts(&self) -> &'static ResourceFacts {
        self.facts
    }
    fn kind(&self) -> &'static Kind {
        self.kind
    }
    fn body_kind(&self) -> &'static Kind {
        Self::body_kind(self)
    }
    fn list_kind(&self) -> String {
        match self
            .kind
            .is_custom()
            .then(|| shape_of(self.facts))
            .flatten()
        {
            Some(shape) => shape.list_kind.to_owned(),
            None => Self::list_kind(self),
        }
    }
    fn subresource(&self, name: &str) -> Option<Arc<dyn RestStorage>> {
        Some(Arc::new(Self::subresource(self, name)?))
    }
    fn prune(
        &self,
        object: &mut dyn AnyObject,
        api_version: &str,
        reports: bool,
    ) -> Result<Vec<String>, Status> {
        self.strategy().prune(object, api_version, reports)
    }
    capability! {
        creater: Creater => Create,
        getter: Getter => Get,
        lister: Lister => List,
        watcher: Watcher => Watch,
        updater: Updater => Update,
        applier: Applier => Patch,
        deleter: Deleter => Delete,
        collection_deleter: CollectionDeleter => DeleteCollection,
    }
}

impl Applier for Rest {
    fn merge_applied(
        &self,
        cx: &RequestContext,
        old: Option<&dyn AnyObject>,
        applied: &AppliedConfig<'_>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        Self::merge_applied(self, cx, old, applied)
    }
}

impl Creater for Rest {
    fn create<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: Box<dyn AnyObject>,
        options: &'a PostOptions,
    ) -> BoxFuture<'a, Result<Created, Status>> {
        Box::pin(Self::create(self, cx, namespace, name, object, options))
    }
}

impl Getter for Rest {
    fn get<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        version: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<Stored, Status>> {
        Box::pin(Self::get(self, cx, namespace, name, version))
    }
}

impl Lister for Rest {
    fn list<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        options: &'a ListOptions,
    ) -> BoxFuture<'a, Result<ListPage, Status>> {
        Box::pin(Self::list(self, cx, namespace, options))
    }
}

impl Watcher for Rest {
    fn watch<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: Option<&'a str>,
        options: &'a ListOptions,
        timeout: Option<Duration>,
    ) -> BoxFuture<'a, Result<EventStream, Status>> {
        Box::pin(Self::watch(self, cx, namespace, name, options, timeout))
    }
}

impl Updater for Rest {
    fn update<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: &'a dyn UpdatedObject,
        options: &'a PostOptions,
    ) -> BoxFuture<'a, Result<Updated, Status>> {
        Box::pin(Self::update(self, cx, namespace, name, object, options))
    }
}

impl Deleter for Rest {
    fn delete<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        options: &'a DeleteOptions,
    ) -> BoxFuture<'a, Result<Deleted, Status>> {
        Box::pin(Self::delete(self, cx, namespace, name, options))
    }
}

impl CollectionDeleter for Rest {
    fn check_list(&self, list: &ListOptions) -> Result<(), Status> {
        self.selected(list).map(drop)
    }

    fn delete_collection<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        list: &'a ListOptions,
        options: &'a DeleteOptions,
    ) -> BoxFuture<'a, Result<ListPage, Status>> {
        Box::pin(Self::delete_collection(self, cx, namespace, list, options))
    }
}
