//! `InformerConfig`: how an informer works.

use crate::{OnProblem, Resync};
use kubist_apimachinery::{Object, Str};
use kubist_cache::{ByteBudget, Indexer, OverBudget, Weigh};
use kubist_reflector::{Config, Transform};
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// How an informer works. `Default` is right for a client of any API server.
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct InformerConfig<K> {
    /// A name for reports. Default: empty.
    pub name: Str,
    /// How to list and watch.
    pub reflector: Config,
    /// Varies pauses and watch timeouts. Default: `None`, a different one for each informer.
    pub seed: Option<u64>,
    /// Changes each object as it arrives, once, before anybody sees it. Default: none.
    pub transform: Option<Transform<K>>,
    /// What stands between the watch and the store. Default: [`QueueKind::RealFifo`].
    pub queue: QueueKind,
    /// How resyncs are timed. Default: [`Resync::Exact`].
    pub resync: Resync,
    /// What the objects of the store may occupy, and what happens beyond. Default: no limit.
    pub budget: Option<Budget<K>>,
    /// Told of everything that went wrong; the informer goes on by itself. Default: it is logged,
    /// as warnings of one line that say what to do, each kind at most every [`LOGGED_EVERY`].
    ///
    /// [`LOGGED_EVERY`]: crate::LOGGED_EVERY
    pub on_problem: Option<OnProblem>,
}

/// A limit for the store of one informer.
pub struct Budget<K> {
    limit: ByteBudget,
    weigh: Weigher<K>,
}

/// Functions instead of a bound, so that informers of forms that cannot be weighed exist.
enum Weigher<K> {
    /// The form weighs itself, and can be cut.
    Form(fn(&mut Indexer<K>, ByteBudget)),
    /// A function weighs it, and it cannot be cut.
    Function(fn(&K) -> u64),
}

impl<K: Weigh> Budget<K> {
    /// Keeps the store within `limit`.
    pub fn new(limit: ByteBudget) -> Self {
        Self {
            limit,
            weigh: Weigher::Form(Indexer::set_budget),
        }
    }
}

impl<K: Object> Budget<K> {
    /// Keeps the store within so many bytes, as `weight` counts them, by refusing what does not
    /// fit: for objects that have no smaller form
    /// ([`ByteBudget::decoded_weight`],
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

/// What stands between the watch and the store. Handlers hear the same of both, save that events
/// of several objects may come in another order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueKind {
    /// Every event in the order of arrival, a list as one: client-go's present queue.
    #[default]
    RealFifo,
    /// Events gathered by object: client-go's original queue. A list reaches readers in parts.
    DeltaFifo,
}

impl<K> InformerConfig<K> {
    pub(crate) fn seed(&self) -> u64 {
        // The standard library's hasher keys are the one source of randomness that needs no crate.
        self.seed
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
