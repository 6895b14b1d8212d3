//! Clones many `Arc`s at once.

use std::hint::black_box;
use std::sync::Arc;

/// How many reference counts are read before any of them is incremented.
const BATCH: usize = 256;

/// Clones the references of an iterator.
///
/// Incrementing a reference count waits for its cache line, one object after the other. Reading the
/// counts of a batch first lets the processor fetch many cache lines at a time.
pub(crate) fn clone_refs<'a, K: 'a>(objects: impl Iterator<Item = &'a Arc<K>>) -> Vec<Arc<K>> {
    let mut objects = objects.inspect(|object| {
        black_box(Arc::strong_count(object));
    });
    let mut cloned = Vec::with_capacity(objects.size_hint().0);
    let mut warm = Vec::new();
    loop {
        warm.extend(objects.by_ref().take(BATCH));
        if warm.is_empty() {
            return cloned;
        }
        cloned.extend(warm.drain(..).map(Arc::clone));
    }
}
