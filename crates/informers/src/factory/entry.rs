//! `Entry`: one informer of a factory, with its form erased.

use crate::processor;
use crate::shared::Shared;
use crate::{InformerState, InformerStats, SharedInformer, SyncError};
use futures_core::future::BoxFuture;
use kubist_apimachinery::{ApiResource, Object, Str};
use kubist_cache::Selection;
use std::any::{Any, TypeId};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The key by which requests share an informer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) form: TypeId,
    pub(super) resource: Option<ApiResource>,
    pub(super) selection: Selection,
    /// Sorted and unique; empty if the selection is sufficient.
    pub(super) namespaces: Vec<Str>,
}

pub(super) struct Entry {
    /// The `Arc<Shared<F>>` of the key's form.
    informer: Box<dyn Any + Send + Sync>,
    pub(super) erased: Arc<dyn Erased>,
    pub(super) started: bool,
}

impl Entry {
    pub(super) fn new<F: Object>(shared: Arc<Shared<F>>) -> Self {
        Self {
            informer: Box::new(Arc::clone(&shared)),
            erased: shared,
            started: false,
        }
    }

    /// Returns the informer, unless it was stopped because it was unused.
    pub(super) fn informer<F: Object>(&self) -> Option<SharedInformer<F>> {
        let shared = self.informer.downcast_ref::<Arc<Shared<F>>>()?;
        let usage = shared.users.acquire()?;
        Some(SharedInformer::held(Arc::clone(shared), usage))
    }
}

/// An informer with its form erased. It does not count as a use of the informer.
pub(super) trait Erased: Send + Sync {
    fn name(&self) -> Str;
    fn state(&self) -> InformerState;
    fn stats(&self) -> InformerStats;
    fn run(self: Arc<Self>, token: CancellationToken) -> BoxFuture<'static, ()>;
    fn settled(self: Arc<Self>) -> BoxFuture<'static, InformerState>;
    fn synced(self: Arc<Self>) -> BoxFuture<'static, Result<(), SyncError>>;
    fn last_problem(&self) -> Option<Str>;
    fn unused(self: Arc<Self>) -> BoxFuture<'static, u64>;
    fn retire(&self, made: u64) -> bool;
}

impl<K: Object> Erased for Shared<K> {
    fn name(&self) -> Str {
        self.config.name.clone()
    }

    fn state(&self) -> InformerState {
        self.status().state
    }

    fn stats(&self) -> InformerStats {
        self.stats()
    }

    fn run(self: Arc<Self>, token: CancellationToken) -> BoxFuture<'static, ()> {
        // An informer that was run by hand before needs no run.
        Box::pin(async move { processor::run(&self, token).await.unwrap_or(()) })
    }

    fn settled(self: Arc<Self>) -> BoxFuture<'static, InformerState> {
        Box::pin(async move { Self::settled(&self).await })
    }

    fn synced(self: Arc<Self>) -> BoxFuture<'static, Result<(), SyncError>> {
        Box::pin(async move { Self::synced(&self).await })
    }

    fn last_problem(&self) -> Option<Str> {
        self.last_problem.lock().clone()
    }

    fn unused(self: Arc<Self>) -> BoxFuture<'static, u64> {
        Box::pin(async move { self.users.unused().await })
    }

    fn retire(&self, made: u64) -> bool {
        self.users.retire(made)
    }
}
