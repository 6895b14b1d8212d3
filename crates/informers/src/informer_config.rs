//! `InformerConfig`: the configuration of an informer.

use crate::{OnProblem, Resync};
use kubist_apimachinery::{Object, Str};
use kubist_cache::{ByteBudget, Indexer, OverBudget, Weigh};
use kubist_reflector::{Config, Transform};
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The configuration of an informer. `Default` suits clients of any API server.
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct InformerConfig<K> {
    /// The informer's name in reports. Default: empty.
    pub name: Str,
    /// The configuration of lists and watches.
    pub reflector: Config,
    /// The seed of backoff jitter and watch timeouts. Default: `None`, a different one for each
    /// informer.
    pub seed: Option<u64>,
    /// Changes each object once before it enters the store. Default: none.
    pub transform: Option<Transform<K>>,
    /// The queue between the watch and the store. Default: [`QueueKind::RealFifo`].
    pub queue: QueueKind,
    /// How resyncs are timed. Default: [`Resync::Exact`].
    pub resync: Resync,
    /// The memory limit of the store's objects. Default: no limit.
    pub budget: Option<Budget<K>>,
    /// Receives every problem; the informer recovers by itself. Default: problems are logged as
    /// one-line warnings with advice, each kind at most every [`LOGGED_EVERY`].
    ///
    /// [`LOGGED_EVERY`]: crate::LOGGED_EVERY
    pub on_problem: Option<OnProblem>,
}

/// The memory limit of one informer's store.
pub struct Budget<K> {
    limit: ByteBudget,
    weigh: Weigher<K>,
}

/// Functions in place of a trait bound, so that informers of forms without a known size exist.
enum Weigher<K> {
    /// The form knows its size and can be reduced to metadata.
    Form(fn(&mut Indexer<K>, ByteBudget)),
    /// A function returns the size, and objects cannot be reduced.
    Function(fn(&K) -> u64),
}

impl<K: Weigh> Budget<K> {
    /// Limits the store to `limit`.
    pub fn new(limit: ByteBudget) -> Self {
        Self {
            limit,
            weigh: Weigher::Form(Indexer::set_budget),
        }
    }
}

impl<K: Object> Budget<K> {
    /// Limits the store to this many bytes, as `weight` measures them, and refuses objects that do
    /// not fit. For forms that cannot be reduced ([`ByteBudget::decoded_weight`],
    /// [`ByteBudget::projected_weight`]).
    pub fn refusing(max_bytes: u64, weight: fn(&K) -> u64) -> Self {
        let over = OverBudget::Refuse;
        Self {
            limit: ByteBudget { max_bytes, over },
            weigh: Weigher::Function(weight),
        }
    }

    pub(crate) fn limit(&self, indexer: &mut Indexer<K>) {
        match self.weigh {
            Weigher::Form(set) => set(indexer, self.limit),
            Weigher::Function(weight) => indexer.set_refusing_budget(self.limit.max_bytes, weight),
        }
    }
}

impl<K> Clone for Budget<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Budget<K> {}

impl<K> Clone for Weigher<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Weigher<K> {}

impl<K> fmt::Debug for Budget<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limit.fmt(f)
    }
}

/// The queue between the watch and the store. Both deliver the same events to handlers, but the
/// order across objects may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueKind {
    /// Every event in the order of arrival, and a list as one delta: client-go's current queue.
    #[default]
    RealFifo,
    /// Deltas grouped by object: client-go's original queue. A list becomes visible in parts.
    DeltaFifo,
}

impl<K> InformerConfig<K> {
    /// Returns the seed: the configured one, that of the source, or a random one.
    pub(crate) fn seed(&self, of_source: Option<u64>) -> u64 {
        // The standard library's hasher keys are a source of randomness that needs no crate.
        self.seed
            .or(of_source)
            .unwrap_or_else(|| RandomState::new().build_hasher().finish())
    }
}

impl<K> Default for InformerConfig<K> {
    fn default() -> Self {
        Self {
            name: Str::default(),
            reflector: Config::default(),
            seed: None,
            transform: None,
            queue: QueueKind::default(),
            resync: Resync::default(),
            budget: None,
            on_problem: None,
        }
    }
}

impl<K> Clone for InformerConfig<K> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            reflector: self.reflector.clone(),
            seed: self.seed,
            transform: self.transform.clone(),
            queue: self.queue,
            resync: self.resync,
            budget: self.budget,
            on_problem: self.on_problem.clone(),
        }
    }
}

impl<K> fmt::Debug for InformerConfig<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerConfig")
            .field("name", &self.name)
            .field("reflector", &self.reflector)
            .field("queue", &self.queue)
            .field("resync", &self.resync)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
