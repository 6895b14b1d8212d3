//! `Api<K>`: one resource, and the verbs on it.
//!
//! `K` determines the resource and the form of its objects: a generated type, an `Encoded<Pod>`, a
//! `Metadata<Pod>` (the server then sends only metadata), a projection, or, for kinds known at run
//! time, `Unstructured` and `Metadata<()>`. With the features `k8s-openapi` and `kube` of
//! `kubist-apimachinery`, the types of those crates work too.

mod create;
mod delete;
mod edit;
mod get;
mod list;
mod patch;
mod replace;
mod subresource;
mod wait_until;
mod watch;
mod watch_on;

use crate::Client;
use crate::endpoint::{Endpoint, Form};
use crate::request::Target;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Namespaced, Object, ResourceFacts, Str};
use kubist_cache::{IngestAny, WriteLog};
use std::fmt;
use std::sync::Arc;

pub use delete::DeleteAnswer;
pub use edit::EditOptions;
pub use list::PAGE_SIZE;
pub use patch::Patch;
pub use subresource::Subresource;
pub use wait_until::WaitUntilError;
pub use watch_on::WatchOn;

/// A resource in one namespace, or in all. Cheap to clone.
///
/// A cluster-scoped kind has no namespaces:
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
    /// Returns an API for all objects of the kind, in every namespace. To read single objects of a
    /// namespaced kind use [`Self::in_namespace`]; create and replace take the namespace from the
    /// object.
    pub fn all(client: Client) -> Self {
        Self::new(client, ApiResource::of::<K::Kind>(), None, Form::of_kind())
    }
}

impl<K: Ingest> Api<K>
where
    K::Kind: ResourceFacts<Scope = Namespaced>,
{
    /// Returns an API for the objects in one namespace.
    pub fn namespaced(client: Client, namespace: impl Into<Str>) -> Self {
        let namespace = Some(namespace.into());
        Self::new(
            client,
            ApiResource::of::<K::Kind>(),
            namespace,
            Form::of_kind(),
        )
    }

    /// Returns an API for the objects in the client's default namespace.
    pub fn default_namespaced(client: Client) -> Self {
        let namespace = client.default_namespace().clone();
        Self::namespaced(client, namespace)
    }
}

impl<K: IngestAny> Api<K> {
    /// Returns an API for all objects of a kind known at run time, for example from
    /// [`Discovery`](crate::Discovery).
    pub fn dynamic(client: Client, resource: &ApiResource) -> Self {
        Self::new(client, resource.clone(), None, Form::of_any_kind())
    }

    /// Returns an API for the objects in one namespace. A cluster-scoped kind ignores it.
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
        Self {
            endpoint: Endpoint::new(client, resource, namespace, form),
        }
    }

    /// Returns the same API, recording the objects that its writes return: create, replace, patch,
    /// apply and delete, of objects and of their subresources. A cache reader can then tell whether
    /// the cache includes them yet.
    ///
    /// Not recorded are dry runs, collection deletes, and writes whose response was lost or cannot
    /// be read.
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

    /// Returns the same API in another namespace. A cluster-scoped kind ignores it.
    pub fn in_namespace(&self, namespace: impl Into<Str>) -> Self {
        let mut endpoint = self.endpoint.clone();
        endpoint.namespace = Some(namespace.into());
        Self { endpoint }
    }

    /// Returns the resource.
    pub fn resource(&self) -> &ApiResource {
        &self.endpoint.resource
    }

    /// Returns the namespace; `None` for all namespaces and for cluster-scoped kinds.
    pub fn namespace(&self) -> Option<&Str> {
        self.endpoint
            .namespace
            .as_ref()
            .filter(|_| self.endpoint.resource.namespaced)
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.endpoint.client
    }

    /// Returns a subresource whose objects have a kind known at compile time.
    pub fn subresource<S: Ingest>(&self, name: impl Into<Str>) -> Subresource<S> {
        self.subresource_of(
            name,
            Arc::new(ApiResource::of::<S::Kind>()),
            Form::of_kind(),
        )
    }

    /// Returns a subresource whose objects have the kind `kind`.
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

    /// Returns the `status` subresource, whose objects are whole objects of the same kind.
    pub fn status(&self) -> Subresource<K> {
        self.subresource_of(
            "status",
            Arc::clone(&self.endpoint.kind),
            self.endpoint.form,
        )
    }

    /// Returns the `resize` subresource of Pods, whose objects are whole Pods: through it, the
    /// resources of the containers of a running Pod can be changed, which the Pod itself refuses.
    /// The counterpart of client-go's `UpdateResize`.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, ApiError, Patch};
    /// # async fn example(pods: Api<Pod>) -> Result<(), ApiError> {
    /// let resources = serde_json::json!({"requests": {"cpu": "500m"}});
    /// let containers = serde_json::json!([{"name": "web", "resources": resources}]);
    /// let patch = Patch::Strategic(serde_json::json!({"spec": {"containers": containers}}));
    /// let pod = pods.resize().patch("web-0", &patch).await?;
    /// # drop(pod);
    /// # Ok(()) }
    /// ```
    pub fn resize(&self) -> Subresource<K> {
        self.subresource_of(
            "resize",
            Arc::clone(&self.endpoint.kind),
            self.endpoint.form,
        )
    }
}

impl<K: Object> Api<K> {
    /// Returns the target of a write: for an API of all namespaces, the object's own namespace.
    fn target_of<'a>(&'a self, namespace: &'a str, name: Option<&'a str>) -> Target<'a> {
        let namespace = self.endpoint.namespace.as_deref().or(Some(namespace));
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
