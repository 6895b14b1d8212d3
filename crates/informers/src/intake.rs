//! `Intake`: what brings news into a store: a reflector, a queue, and the steps from the queue to
//! the indexer.

use crate::{InformerConfig, QueueKind};
use kubist_apimachinery::Object;
use kubist_cache::{
    Delta, DeltaFifo, DeltaFifoConfig, Indexer, ListerWatcher, Queue, RealFifo, Replacing,
    ResourceEvent,
};
use kubist_reflector::Reflector;
use std::sync::Arc;

/// A reflector and a queue for this store.
pub(crate) fn open<K: Object>(
    source: Arc<dyn ListerWatcher<K>>,
    config: &InformerConfig<K>,
    indexer: &mut Indexer<K>,
) -> (Reflector<K>, Box<dyn Queue<K>>) {
    let ordered = source.is_ordered();
    if !ordered {
        indexer.ignore_object_versions();
    }
    let mut reflector = Reflector::new(source, config.reflector.clone(), config.seed())
        .with_known(indexer.lister());
    if let Some(transform) = &config.transform {
        reflector = reflector.with_transform(Arc::clone(transform));
    }
    let queue: Box<dyn Queue<K>> = match config.queue {
        QueueKind::RealFifo => Box::new(RealFifo::new()),
        // It would tell versions of objects as the store's.
        QueueKind::DeltaFifo if !ordered => Box::new(RealFifo::new()),
        QueueKind::DeltaFifo => Box::new(DeltaFifo::new(DeltaFifoConfig {
            known: Some(indexer.lister()),
            ..DeltaFifoConfig::default()
        })),
    };
    (reflector, queue)
}

/// Objects of a list that are applied in one step; each may be a call of an index function.
pub(crate) const AT_ONCE: usize = 32;

/// What is on its way from a queue into a store. A list is applied in steps, between which others
/// have their turn; readers see it when it is whole.
pub(crate) struct Intake<K> {
    /// What is left of a batch.
    batch: Option<std::vec::IntoIter<Delta<K>>>,
    replacing: Option<Replacing<K>>,
    /// Whether there are states that readers see no more.
    is_releasing: bool,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing is queued.
    Idle,
    /// There is more to do.
    Part,
    /// A batch is applied, and readers see it.
    Batch,
}

impl<K> Default for Intake<K> {
    fn default() -> Self {
        Self {
            batch: None,
            replacing: None,
            is_releasing: false,
        }
    }
}

impl<K: Object> Intake<K> {
    /// Does the next step of applying what is queued, and adds what it did to `changes`.
    pub(crate) fn step(
        &mut self,
        queue: &mut dyn Queue<K>,
        indexer: &mut Indexer<K>,
        changes: &mut Vec<ResourceEvent<K>>,
    ) -> Step {
        if self.is_releasing {
            self.is_releasing = !indexer.release(AT_ONCE);
            return Step::Part;
        }
        if let Some(replacing) = &mut self.replacing {
            if !indexer.replace_step(replacing, AT_ONCE, changes) {
                return Step::Part;
            }
            self.replacing = None;
        }
        let mut batch = match self.batch.take() {
            Some(batch) => batch,
            None => match queue.pop_batch() {
                Some(batch) => batch.deltas.into_iter(),
                None => return Step::Idle,
            },
        };
        while let Some(delta) = batch.next() {
            match delta {
                Delta::ReplacedAll(list) => {
                    self.replacing = Some(indexer.begin_replace(list));
                    self.batch = Some(batch);
                    return Step::Part;
                }
                delta => indexer.apply(delta, changes),
            }
        }
        if queue.has_synced() {
            // The other queue gives a list object by object.
            indexer.finish_first_list();
        }
        indexer.publish_first();
        self.is_releasing = !indexer.release(AT_ONCE);
        Step::Batch
    }

    /// Whether a list is applied in part, and nothing else may be written.
    pub(crate) fn is_within_list(&self) -> bool {
        self.replacing.is_some()
    }
}
