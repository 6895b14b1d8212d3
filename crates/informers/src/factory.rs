//! `SharedInformerFactory`: one informer for each kind, selection and held form, shared by all who
//! ask for it.
//!
//! It is generic over its [`Source`], and so knows no client. Informers run in tasks that the
//! factory owns, from [`SharedInformerFactory::start`] until
//! [`SharedInformerFactory::shutdown`] or until the last handle of the factory is dropped.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use futures_core::future::BoxFuture;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object, ResourceFacts as _, Str};
use kubist_cache::{IngestAny, Selection, Source};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::shared_informer::OnProblem;
use crate::{InformerConfig, InformerState, InformerStats, SharedInformer, Stopped};

/// How a factory makes informers.
#[derive(Clone, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct FactoryConfig {
    /// What [`SharedInformerFactory::informer`] selects. Default: everything.
    pub selection: Selection,
    /// How informers list and watch.
    pub reflector: kubist_reflector::Config,
    /// As [`InformerConfig::seed`].
    pub seed: Option<u64>,
    /// As [`InformerConfig::on_problem`], of all informers.
    pub on_problem: Option<OnProblem>,
}

impl fmt::Debug for FactoryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FactoryConfig")
            .field("selection", &self.selection)
            .field("reflector", &self.reflector)
            .finish_non_exhaustive()
    }
}

/// Makes informers and shares them. Clones are the same factory.
///
/// Typed accessors (`factory.core().v1().pods()`) come with the features named after groups and
/// versions; they call [`SharedInformerFactory::informer`].
pub struct SharedInformerFactory<S> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    source: S,
    config: FactoryConfig,
    token: CancellationToken,
    informers: Mutex<BTreeMap<Key, Entry>>,
    tasks: Mutex<JoinSet<()>>,
}

/// What makes two requests mean the same informer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    form: TypeId,
    resource: Option<ApiResource>,
    selection: Selection,
}

struct Entry {
    /// The `SharedInformer<F>` of the key's form.
    informer: Box<dyn Any + Send + Sync>,
    erased: Arc<dyn Erased>,
    started: bool,
}

/// An informer whose form is forgotten.
trait Erased: Send + Sync {
    fn name(&self) -> Str;
    fn state(&self) -> InformerState;
    fn stats(&self) -> InformerStats;
    fn run(&self, token: CancellationToken) -> BoxFuture<'static, ()>;
    fn synced(&self) -> BoxFuture<'static, Result<(), Stopped>>;
}

impl<K: Object> Erased for SharedInformer<K> {
    fn name(&self) -> Str {
        Self::name(self).clone()
    }

    fn state(&self) -> InformerState {
        Self::state(self)
    }

    fn stats(&self) -> InformerStats {
        Self::stats(self)
    }

    fn run(&self, token: CancellationToken) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        // It was run by hand before: then there is nothing left to do.
        Box::pin(async move { informer.run(token).await.unwrap_or(()) })
    }

    fn synced(&self) -> BoxFuture<'static, Result<(), Stopped>> {
        let informer = self.clone();
        Box::pin(async move { informer.synced().await.map(drop) })
    }
}

/// One informer of a factory, as its name, state and figures.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerSummary {
    /// The kind, and the selection if there is one.
    pub name: Str,
    /// Where it stands.
    pub state: InformerState,
    /// What it has done, and what it holds.
    pub stats: InformerStats,
}

/// Informers that stopped before their first list was complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the first list was complete: {}", .informers.join(", "))]
pub struct NotSynced {
    /// Their names.
    pub informers: Vec<Str>,
}

impl<S: Source> SharedInformerFactory<S> {
    /// A factory whose informers hold everything.
    pub fn new(source: S) -> Self {
        Self::with_config(source, FactoryConfig::default())
    }

    /// A factory with other choices.
    pub fn with_config(source: S, config: FactoryConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                source,
                config,
                token: CancellationToken::new(),
                informers: Mutex::default(),
                tasks: Mutex::default(),
            }),
        }
    }

    /// The informer of objects in the form `F` (`Pod`, `Encoded<Pod>`, `Metadata<Pod>`, …), made
    /// when first asked for.
    pub fn informer<F: Ingest>(&self) -> SharedInformer<F> {
        self.informer_of(&self.inner.config.selection)
    }

    /// As [`Self::informer`], of a part of the objects.
    pub fn informer_of<F: Ingest>(&self, selection: &Selection) -> SharedInformer<F> {
        let key = Key {
            form: TypeId::of::<F>(),
            resource: None,
            selection: selection.clone(),
        };
        self.shared(key, || {
            let decodes = Arc::<AtomicU64>::default();
            let counter = Arc::clone(&decodes);
            let mut config = self.config_of(&F::Kind::api_resource().kind, selection);
            config.transform = Some(Arc::new(move |object: &mut F| {
                object.count_decodes(&counter);
            }));
            let source = self.inner.source.lister_watcher::<F>(selection);
            SharedInformer::with_decodes(source, config, decodes)
        })
    }

    /// The informer of a resource that is known at run time only.
    pub fn dynamic<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> SharedInformer<F> {
        let key = Key {
            form: TypeId::of::<F>(),
            resource: Some(resource.clone()),
            selection: selection.clone(),
        };
        self.shared(key, || {
            let config = self.config_of(&resource.kind, selection);
            let source = self
                .inner
                .source
                .dynamic_lister_watcher::<F>(resource, selection);
            SharedInformer::new(source, config)
        })
    }

    /// The source of all its informers.
    pub fn source(&self) -> &S {
        &self.inner.source
    }

    /// Runs every informer that is not running yet, in tasks that the factory owns. To be called
    /// again after further informers were asked for. After [`Self::shutdown`] it does nothing.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        if self.inner.token.is_cancelled() {
            return;
        }
        let mut tasks = self.inner.tasks.lock();
        for entry in self.inner.informers.lock().values_mut() {
            if !std::mem::replace(&mut entry.started, true) {
                // A child, so that the informer ends with the factory and with nothing else.
                tasks.spawn(entry.erased.run(self.inner.token.child_token()));
            }
        }
    }

    /// Waits until each informer that was asked for so far has its first list.
    ///
    /// # Errors
    /// Some stopped before.
    pub async fn wait_for_sync(&self) -> Result<(), NotSynced> {
        let all: Vec<_> = self
            .inner
            .informers
            .lock()
            .values()
            .map(|it| Arc::clone(&it.erased))
            .collect();
        let mut informers = Vec::new();
        for informer in all {
            if informer.synced().await.is_err() {
                informers.push(informer.name());
            }
        }
        if informers.is_empty() {
            Ok(())
        } else {
            Err(NotSynced { informers })
        }
    }

    /// Starts, waits until `token` is cancelled, and shuts down: a factory as one future.
    pub async fn run(&self, token: CancellationToken) {
        self.start();
        token.cancelled().await;
        self.shutdown().await;
    }

    /// Stops all informers and waits until they have. They cannot be started again.
    pub async fn shutdown(&self) {
        self.inner.token.cancel();
        let mut tasks = std::mem::take(&mut *self.inner.tasks.lock());
        while tasks.join_next().await.is_some() {}
    }

    /// Each informer's state and figures.
    pub fn summary(&self) -> Vec<InformerSummary> {
        let informers = self.inner.informers.lock();
        let summary = |entry: &Entry| InformerSummary {
            name: entry.erased.name(),
            state: entry.erased.state(),
            stats: entry.erased.stats(),
        };
        informers.values().map(summary).collect()
    }

    fn config_of<K>(&self, kind: &str, selection: &Selection) -> InformerConfig<K> {
        let mut name = kind.to_owned();
        let parts = [
            selection.namespace.as_deref(),
            Some(&selection.labels),
            Some(&selection.fields),
        ];
        for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
            name.push(' ');
            name.push_str(part);
        }
        let config = &self.inner.config;
        InformerConfig {
            name: name.into(),
            reflector: config.reflector.clone(),
            seed: config.seed,
            transform: None,
            on_problem: config.on_problem.clone(),
        }
    }

    fn shared<F: Object>(
        &self,
        key: Key,
        make: impl FnOnce() -> SharedInformer<F>,
    ) -> SharedInformer<F> {
        let mut informers = self.inner.informers.lock();
        let found = informers
            .get(&key)
            .and_then(|entry| entry.informer.downcast_ref());
        if let Some(informer) = found {
            return SharedInformer::clone(informer);
        }
        let informer = make();
        let entry = Entry {
            informer: Box::new(informer.clone()),
            erased: Arc::new(informer.clone()),
            started: false,
        };
        informers.insert(key, entry);
        informer
    }
}

/// The last handle is gone: informers stop gracefully where they are awaited, else at once.
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
