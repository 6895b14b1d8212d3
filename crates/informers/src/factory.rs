//! `SharedInformerFactory`: one shared informer per kind, selection and stored form.
//!
//! The factory is generic over its [`Source`] and independent of any client. Informers run in tasks
//! that the factory owns. A task runs from [`SharedInformerFactory::start`] until
//! [`SharedInformerFactory::shutdown`], until the last handle of the factory is dropped, or until
//! the informer has been unused for a while ([`FactoryConfig::unused_after`]).

mod entry;
mod kind_config;
mod lifecycle;

use crate::namespaces::Namespaces;
use crate::shared::Shared;
use crate::{InformerConfig, SharedInformer};
use entry::{Entry, Key};
pub use kind_config::{FactoryConfig, KindConfig, UNUSED_AFTER};
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, GroupVersionResource, Object, Str};
use kubist_cache::{IngestAny, ListerWatcher, Selection, Source};
pub use lifecycle::{InformerSummary, NotSynced, SyncResult, Unsynced};
use parking_lot::Mutex;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Creates and shares informers. Clones refer to the same factory.
///
/// Typed accessors (`factory.core().v1().pods()`) are enabled by the features named after groups
/// and versions; they call [`SharedInformerFactory::informer`].
///
/// An informer is in use as long as a handle or lister of it exists, or a handler is registered.
pub struct SharedInformerFactory<S> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    source: S,
    config: FactoryConfig,
    token: CancellationToken,
    informers: Mutex<BTreeMap<Key, Entry>>,
    /// The `KindConfig<F>` of each configured form.
    kinds: Mutex<BTreeMap<KindKey, Box<dyn Any + Send + Sync>>>,
    tasks: Mutex<JoinSet<()>>,
}

/// A form, with the resource for forms of any kind.
type KindKey = (TypeId, Option<ApiResource>);

/// A resource that the factory does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the resource {resource} is neither built in nor configured")]
pub struct UnknownResource {
    /// The requested resource.
    pub resource: GroupVersionResource,
}

impl<S: Source> SharedInformerFactory<S> {
    /// Creates a factory whose informers select all objects.
    pub fn new(source: S) -> Self {
        Self::with_config(source, FactoryConfig::default())
    }

    /// Creates a factory with a configuration.
    pub fn with_config(source: S, config: FactoryConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                source,
                config,
                token: CancellationToken::new(),
                informers: Mutex::default(),
                kinds: Mutex::default(),
                tasks: Mutex::default(),
            }),
        }
    }

    /// Configures the informers in the form `F` that are created from now on.
    pub fn configure<F: Ingest>(&self, config: KindConfig<F>) {
        self.set_kind((TypeId::of::<F>(), None), config);
    }

    /// Does the same as [`Self::configure`] for a resource that is known only at run time.
    pub fn configure_dynamic<F: IngestAny>(&self, resource: &ApiResource, config: KindConfig<F>) {
        self.set_kind((TypeId::of::<F>(), Some(resource.clone())), config);
    }

    fn set_kind<F: 'static>(&self, key: KindKey, config: KindConfig<F>) {
        self.inner.kinds.lock().insert(key, Box::new(config));
    }

    /// Returns the informer of objects in the form `F` (`Pod`, `Encoded<Pod>`, `Metadata<Pod>`, …),
    /// and creates it on first use.
    pub fn informer<F: Ingest>(&self) -> SharedInformer<F> {
        self.typed(None)
    }

    /// Does the same as [`Self::informer`] for a selection of the objects.
    pub fn informer_of<F: Ingest>(&self, selection: &Selection) -> SharedInformer<F> {
        self.typed(Some((selection.clone(), Vec::new())))
    }

    /// Does the same as [`Self::informer`] for the objects of some namespaces, in one store.
    pub fn informer_in<F: Ingest>(
        &self,
        namespaces: impl IntoIterator<Item = impl Into<Str>>,
    ) -> SharedInformer<F> {
        let namespaces = namespaces.into_iter().map(Into::into).collect();
        let selection = self.inner.config.selection.clone();
        self.typed(Some((selection, namespaces)))
    }

    fn typed<F: Ingest>(&self, asked: Option<(Selection, Vec<Str>)>) -> SharedInformer<F> {
        let form = TypeId::of::<F>();
        let kind = self.kind::<F>(&(form, None));
        let resource = ApiResource::of::<F::Kind>();
        let (selection, namespaces) = self.scope(asked, &kind, resource.namespaced);
        let key = Key {
            form,
            resource: None,
            selection,
            namespaces,
        };
        self.shared(key, |key| {
            let decodes = Arc::<AtomicU64>::default();
            let counter = Arc::clone(&decodes);
            let mut config = self.config_of(&resource.kind, key, &kind);
            config.transform = Some(match kind.transform.clone() {
                None => Arc::new(move |object: &mut F| object.count_decodes(&counter)),
                Some(transform) => Arc::new(move |object: &mut F| {
                    transform(object);
                    object.count_decodes(&counter);
                }),
            });
            let source = lister_watcher(key, |it| self.inner.source.lister_watcher::<F>(it));
            Shared::new(source, config, decodes)
        })
    }

    /// Returns the informer of a resource that is known only at run time, as `Unstructured`,
    /// `Metadata<()>` or another form of any kind.
    pub fn dynamic<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> SharedInformer<F> {
        self.of_any_kind(resource, Some((selection.clone(), Vec::new())))
    }

    /// Returns the informer of a resource by its name: a built-in one whose feature is enabled, or
    /// one of [`FactoryConfig::resources`].
    ///
    /// # Errors
    /// The resource is neither.
    pub fn for_resource<F: IngestAny>(
        &self,
        resource: &GroupVersionResource,
    ) -> Result<SharedInformer<F>, UnknownResource> {
        let known = self
            .inner
            .config
            .resources
            .iter()
            .find(|it| it.gvr() == *resource);
        let found = known
            .cloned()
            .or_else(|| crate::builtin::resource(resource));
        let found = found.ok_or_else(|| UnknownResource {
            resource: resource.clone(),
        })?;
        Ok(self.of_any_kind(&found, None))
    }

    fn of_any_kind<F: IngestAny>(
        &self,
        resource: &ApiResource,
        asked: Option<(Selection, Vec<Str>)>,
    ) -> SharedInformer<F> {
        let form = TypeId::of::<F>();
        let kind = self.kind::<F>(&(form, Some(resource.clone())));
        let (selection, namespaces) = self.scope(asked, &kind, resource.namespaced);
        let key = Key {
            form,
            resource: Some(resource.clone()),
            selection,
            namespaces,
        };
        self.shared(key, |key| {
            let mut config = self.config_of(&resource.kind, key, &kind);
            config.transform.clone_from(&kind.transform);
            let source = &self.inner.source;
            let source = lister_watcher(key, |it| source.dynamic_lister_watcher::<F>(resource, it));
            Shared::new(source, config, Arc::default())
        })
    }

    /// Returns the source of all informers.
    pub fn source(&self) -> &S {
        &self.inner.source
    }

    fn kind<F: 'static>(&self, key: &KindKey) -> KindConfig<F> {
        let kinds = self.inner.kinds.lock();
        let kind = kinds
            .get(key)
            .and_then(|it| it.downcast_ref::<KindConfig<F>>());
        kind.cloned().unwrap_or_default()
    }

    /// Returns the selection, and the namespaces if there are several.
    fn scope<F>(
        &self,
        asked: Option<(Selection, Vec<Str>)>,
        kind: &KindConfig<F>,
        namespaced: bool,
    ) -> (Selection, Vec<Str>) {
        let config = &self.inner.config;
        let (mut selection, mut namespaces) = asked.unwrap_or_else(|| {
            let selection = kind.selection.as_ref().unwrap_or(&config.selection);
            let namespaces = kind.namespaces.as_ref().unwrap_or(&config.namespaces);
            (selection.clone(), namespaces.clone())
        });
        if !namespaced {
            (selection.namespace, namespaces) = (None, Vec::new());
        }
        namespaces.sort();
        namespaces.dedup();
        match namespaces.len() {
            0 => {}
            1 => selection.namespace = namespaces.pop(),
            _ => selection.namespace = None,
        }
        (selection, namespaces)
    }

    fn config_of<F>(&self, name: &str, key: &Key, kind: &KindConfig<F>) -> InformerConfig<F> {
        let config = &self.inner.config;
        let mut parts: Vec<&str> = vec![&config.name, kind.name.as_deref().unwrap_or(name)];
        parts.extend(key.selection.namespace.as_deref());
        let namespaces = key.namespaces.join(",");
        parts.extend([&*namespaces, &key.selection.labels, &key.selection.fields]);
        parts.retain(|part| !part.is_empty());
        InformerConfig {
            name: parts.join(" ").into(),
            reflector: kind.reflector.as_ref().unwrap_or(&config.reflector).clone(),
            seed: config.seed,
            transform: None,
            queue: kind.queue.unwrap_or(config.queue),
            resync: kind.resync.unwrap_or(config.resync),
            budget: kind.budget,
            on_problem: config.on_problem.clone(),
        }
    }

    fn shared<F: Object>(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Shared<F>,
    ) -> SharedInformer<F> {
        let mut informers = self.inner.informers.lock();
        if let Some(informer) = informers.get(&key).and_then(Entry::informer) {
            return informer;
        }
        let shared = Arc::new(make(&key));
        let usage = shared.new_usage();
        let given_up = informers.insert(key, Entry::new(Arc::clone(&shared)));
        drop(informers);
        drop(given_up);
        SharedInformer::held(shared, usage)
    }
}

/// Combines the lister-watchers of several namespaces into one.
fn lister_watcher<F: Object>(
    key: &Key,
    make: impl Fn(&Selection) -> Arc<dyn ListerWatcher<F>>,
) -> Arc<dyn ListerWatcher<F>> {
    if key.namespaces.is_empty() {
        return make(&key.selection);
    }
    let in_each = key.namespaces.iter();
    let in_each = in_each.map(|it| make(&key.selection.clone().in_namespace(it.clone())));
    Arc::new(Namespaces::new(in_each.collect()))
}

/// Called when the last handle is dropped: informers that are awaited stop gracefully, the others
/// at once.
impl<S> Drop for Inner<S> {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl<S> Clone for SharedInformerFactory<S> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<S> fmt::Debug for SharedInformerFactory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformerFactory")
            .field("config", &self.inner.config)
            .finish_non_exhaustive()
    }
}
