//! `Api<K>`: one resource, and the verbs on it.
//!
//! `K` says both what the resource is and in which form its objects come: a generated type, an
//! `Encoded<Pod>`, a `Metadata<Pod>` (the server then sends no more than metadata), a projection of
//! your own, or, for kinds known at run time, `Unstructured` and `Metadata<()>`. With the features
//! `k8s-openapi` and `kube` of `kubist-apimachinery`, those crates' types too.

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod replace;
mod wait_until;
mod watch;
mod watch_on;

use std::fmt;
use std::sync::Arc;

use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Namespaced, Object, ResourceFacts, Str};
use kubist_cache::{IngestAny, WriteLog};

use crate::Client;
use crate::endpoint::{Endpoint, Form};
use crate::request::Target;
use crate::subresource::Subresource;

pub use delete::DeleteAnswer;
pub use list::PAGE_SIZE;
pub use patch::Patch;
pub use wait_until::WaitUntilError;
pub use watch_on::WatchOn;

/// One resource in one namespace, or in all. Cheap to clone.
///
/// A kind that lives in the cluster has no namespaces:
///
/// ```
/// # use kubist_api::core::v1::{Namespace, Pod};
/// # use kubist_client::{Api, Client};
/// # fn example(client: Client) {
/// let pods: Api<Pod> = Api::namespaced(client.clone(), "shop");
/// let namespaces: Api<Namespace> = Api::all(client);
/// # }
/// ```
///
/// ```compile_fail,E0271
/// # use kubist_api::core::v1::Namespace;
/// # use kubist_client::{Api, Client};
/// # fn example(client: Client) {
/// let namespaces: Api<Namespace> = Api::namespaced(client, "shop"); // does not compile
/// # }
/// ```
pub struct Api<K> {
    pub(crate) endpoint: Endpoint<K>,
}

impl<K: Ingest> Api<K> {
    /// All objects of the kind: the whole cluster's, or those in every namespace. Single objects
    /// of a kind that lives in namespaces are reached through [`Self::in_namespace`]; creating and
    /// replacing take the namespace from the object.
    pub fn all(client: Client) -> Self {
        Self::new(client, ApiResource::of::<K::Kind>(), None, Form::of_kind())
    }
}

impl<K: Ingest> Api<K>
where
    K::Kind: ResourceFacts<Scope = Namespaced>,
{
    /// The objects in one namespace.
    pub fn namespaced(client: Client, namespace: impl Into<Str>) -> Self {
        let namespace = Some(namespace.into());
        Self::new(
            client,
            ApiResource::of::<K::Kind>(),
            namespace,
            Form::of_kind(),
        )
    }

    /// The objects in the client's own namespace.
    pub fn default_namespaced(client: Client) -> Self {
        let namespace = client.default_namespace().clone();
        Self::namespaced(client, namespace)
    }
}

impl<K: IngestAny> Api<K> {
    /// All objects of a kind that is known at run time, as from
    /// [`Discovery`](crate::Discovery).
    pub fn dynamic(client: Client, resource: &ApiResource) -> Self {
        Self::new(client, resource.clone(), None, Form::of_any_kind())
    }

    /// The objects in one namespace. A kind that lives in the cluster ignores it.
    pub fn dynamic_namespaced(
        client: Client,
        resource: &ApiResource,
        namespace: impl Into<Str>,
    ) -> Self {
        Self::new(
            client,
            resource.clone(),
            Some(namespace.into()),
            Form::of_any_kind(),
        )
    }
}

impl<K> Api<K> {
    fn new(client: Client, resource: ApiResource, namespace: Option<Str>, form: Form<K>) -> Self {
        let resource = Arc::new(resource);
        let kind = Arc::clone(&resource);
        let subresource = Str::default();
        Self {
            endpoint: Endpoint {
                client,
                resource,
                kind,
                namespace,
                subresource,
                form,
                recorder: None,
            },
        }
    }

    /// The same, writing what its writes return into a log: create, replace, patch, apply and
    /// delete, of objects and of their subresources. Whoever reads a cache can then tell whether
    /// it shows them yet.
    ///
    /// Dry runs are not recorded, nor is deleting a collection, nor a write whose answer was lost
    /// on the way or cannot be read.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_apimachinery::ObjectName;
    /// # use kubist_cache::WriteLog;
    /// # use kubist_client::Api;
    /// # fn example(pods: Api<Pod>, key: ObjectName) {
    /// let log = WriteLog::<Pod>::new();
    /// let pods = pods.with_write_log(&log.for_key(&key)); // what is written for this key
    /// # }
    /// ```
    pub fn with_write_log(&self, log: &WriteLog<K>) -> Self
    where
        K: 'static,
    {
        let mut endpoint = self.endpoint.clone();
        let log = log.clone();
        endpoint.recorder = Some(Arc::new(move |written| log.record(written)));
        Self { endpoint }
    }

    /// The same resource in another namespace. A kind that lives in the cluster ignores it.
    pub fn in_namespace(&self, namespace: impl Into<Str>) -> Self {
        let mut endpoint = self.endpoint.clone();
        endpoint.namespace = Some(namespace.into());
        Self { endpoint }
    }

    /// The resource.
    pub fn resource(&self) -> &ApiResource {
        &self.endpoint.resource
    }

    /// The namespace; `None` if it is all of them, or the kind lives in none.
    pub fn namespace(&self) -> Option<&Str> {
        self.endpoint
            .namespace
            .as_ref()
            .filter(|_| self.endpoint.resource.namespaced)
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.endpoint.client
    }

    /// A subresource whose objects are of a kind known at compile time.
    pub fn subresource<S: Ingest>(&self, name: impl Into<Str>) -> Subresource<S> {
        self.subresource_of(
            name,
            Arc::new(ApiResource::of::<S::Kind>()),
            Form::of_kind(),
        )
    }

    /// A subresource whose objects are of the kind `kind`.
    pub fn dynamic_subresource<S: IngestAny>(
        &self,
        name: impl Into<Str>,
        kind: &ApiResource,
    ) -> Subresource<S> {
        self.subresource_of(name, Arc::new(kind.clone()), Form::of_any_kind())
    }

    fn subresource_of<S>(
        &self,
        name: impl Into<Str>,
        kind: Arc<ApiResource>,
        form: Form<S>,
    ) -> Subresource<S> {
        let Endpoint {
            client,
            resource,
            namespace,
            recorder,
            ..
        } = self.endpoint.clone();
        let subresource = name.into();
        Subresource {
            endpoint: Endpoint {
                client,
                resource,
                kind,
                namespace,
                subresource,
                form,
                recorder,
            },
        }
    }

    /// The `status` subresource, whose objects are whole ones of the same kind.
    pub fn status(&self) -> Subresource<K> {
        self.subresource_of(
            "status",
            Arc::clone(&self.endpoint.kind),
            self.endpoint.form,
        )
    }
}

impl<K: Object> Api<K> {
    /// Where an object goes: in its own namespace if this is about all.
    fn target_of<'a>(&'a self, object: &'a impl Object, name: Option<&'a str>) -> Target<'a> {
        let namespace = self
            .endpoint
            .namespace
            .as_deref()
            .or_else(|| Some(object.namespace()));
        Target {
            namespace,
            ..self.endpoint.target(name)
        }
    }
}

impl<K> Clone for Api<K> {
    fn clone(&self) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
        }
    }
}

impl<K> fmt::Debug for Api<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("resource", &self.resource().gvr().to_string())
            .field("namespace", &self.namespace())
            .finish_non_exhaustive()
    }
}
