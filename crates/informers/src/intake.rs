//! What brings news into a store: a reflector, a queue, and the step from the queue to the indexer.

use std::sync::Arc;

use kubist_apimachinery::Object;
use kubist_cache::{Change, DeltaFifo, DeltaFifoConfig, Indexer, ListerWatcher, Queue, RealFifo};
use kubist_reflector::Reflector;

use crate::{InformerConfig, QueueKind};

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

/// Applies the next batch, shows it to readers, and adds what it did to `changes`; false if nothing
/// is queued.
pub(crate) fn apply_next<K: Object>(
    queue: &mut dyn Queue<K>,
    indexer: &mut Indexer<K>,
    changes: &mut Vec<Change<K>>,
) -> bool {
    let Some(batch) = queue.pop_batch() else {
        return false;
    };
    for delta in batch.deltas {
        indexer.apply(delta, changes);
    }
    if queue.has_synced() {
        // The other queue gives a list object by object.
        indexer.finish_first_list();
    }
    indexer.publish();
    true
}
