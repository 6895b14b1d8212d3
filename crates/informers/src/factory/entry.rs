//! `Entry`: one informer of a factory, whose form is forgotten where it does not matter.

use crate::shared::Shared;
use crate::{InformerState, InformerStats, SharedInformer, SyncError};
use futures_core::future::BoxFuture;
use kubist_apimachinery::{ApiResource, Object, Str};
use kubist_cache::Selection;
use std::any::{Any, TypeId};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What makes two requests mean the same informer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) form: TypeId,
    pub(super) resource: Option<ApiResource>,
    pub(super) selection: Selection,
    /// Sorted, without repetitions; empty where the selection says it all.
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

    /// The informer, unless it was given up because nobody used it.
    pub(super) fn informer<F: Object>(&self) -> Option<SharedInformer<F>> {
        let shared = self.informer.downcast_ref::<Arc<Shared<F>>>()?;
        let usage = shared.users.acquire()?;
        Some(SharedInformer::held(Arc::clone(shared), usage))
    }
}

/// An informer whose form is forgotten. It is no use of it.
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
        self.standing().state
    }

    fn stats(&self) -> InformerStats {
        self.stats()
    }

    fn run(self: Arc<Self>, token: CancellationToken) -> BoxFuture<'static, ()> {
        // It was run by hand before: then there is nothing left to do.
        Box::pin(async move { Self::run(&self, token).await.unwrap_or(()) })
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
