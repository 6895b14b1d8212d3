//! `Intake`: applies the events of a reflector's queue to a store, step by step.

use crate::{InformerConfig, QueueKind};
use kubist_apimachinery::Object;
use kubist_cache::{
    Delta, DeltaFifo, DeltaFifoConfig, Indexer, ListerWatcher, Queue, RealFifo, Replacing,
    ResourceEvent,
};
use kubist_reflector::Reflector;
use std::sync::Arc;

/// Creates the reflector and the queue for a store.
pub(crate) fn open<K: Object>(
    source: Arc<dyn ListerWatcher<K>>,
    config: &InformerConfig<K>,
    indexer: &mut Indexer<K>,
) -> (Reflector<K>, Box<dyn Queue<K>>) {
    let ordered = source.is_ordered();
    if !ordered {
        indexer.ignore_object_versions();
    }
    let seed = config.seed(source.seed());
    let mut reflector =
        Reflector::new(source, config.reflector.clone(), seed).with_known(indexer.lister());
    if let Some(transform) = &config.transform {
        reflector = reflector.with_transform(Arc::clone(transform));
    }
    let queue: Box<dyn Queue<K>> = match config.queue {
        QueueKind::RealFifo => Box::new(RealFifo::new()),
        // This queue would report object versions as the store's.
        QueueKind::DeltaFifo if !ordered => Box::new(RealFifo::new()),
        QueueKind::DeltaFifo => Box::new(DeltaFifo::new(DeltaFifoConfig {
            known: Some(indexer.lister()),
            ..DeltaFifoConfig::default()
        })),
    };
    (reflector, queue)
}

/// The number of list objects that one step applies; each may call index functions.
pub(crate) const AT_ONCE: usize = 32;

/// The batch that is being applied. A list is applied in steps, between which other tasks may run;
/// readers see it once it is complete.
pub(crate) struct Intake<K> {
    /// The rest of the batch.
    batch: Option<std::vec::IntoIter<Delta<K>>>,
    replacing: Option<Replacing<K>>,
    /// Whether states that readers no longer see remain to be freed.
    is_releasing: bool,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing is queued.
    Idle,
    /// The batch needs further steps.
    Partial,
    /// The batch was applied and published.
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
    /// Performs the next step of applying queued deltas, and appends the events to `changes`.
    pub(crate) fn step(
        &mut self,
        queue: &mut dyn Queue<K>,
        indexer: &mut Indexer<K>,
        changes: &mut Vec<ResourceEvent<K>>,
    ) -> Step {
        if self.is_releasing {
            self.is_releasing = !indexer.release(AT_ONCE);
            return Step::Partial;
        }
        if let Some(replacing) = &mut self.replacing {
            if !indexer.replace_step(replacing, AT_ONCE, changes) {
                return Step::Partial;
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
                    return Step::Partial;
                }
                delta => indexer.apply(delta, changes),
            }
        }
        if queue.has_synced() {
            // The other queue delivers a list object by object.
            indexer.finish_first_list();
        }
        indexer.publish_first();
        self.is_releasing = !indexer.release(AT_ONCE);
        Step::Batch
    }

    /// Reports whether a list is partially applied, so that nothing else may be written.
    pub(crate) fn is_within_list(&self) -> bool {
        self.replacing.is_some()
    }
}
