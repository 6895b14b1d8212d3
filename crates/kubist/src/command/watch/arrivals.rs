//! `Arrivals`: the arrival times of events, to measure their delay until output.
//!
//! It wraps an informer's source and records the time of each watch batch. Objects of a list have
//! no arrival time.

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use kubist_apimachinery::{Object, ResourceVersion};
use kubist_cache::{
    Deleted, FetchError, ListRequest, ListStream, ListerWatcher, ResourceEvent, WatchItem,
    WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Number of batches kept; the age of older ones is unknown.
const BATCHES_MAX: usize = 16_384;

/// The arrival times of the last batches. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// The last version of each batch, and its arrival.
    batches: Arc<Mutex<VecDeque<(u64, Instant)>>>,
}

impl Arrivals {
    /// Wraps a source to record its arrival times.
    pub(super) fn stamp<K: Object>(
        &self,
        source: Arc<dyn ListerWatcher<K>>,
    ) -> Arc<dyn ListerWatcher<K>> {
        Arc::new(Stamped {
            source,
            arrivals: self.clone(),
        })
    }

    /// Returns how long ago a change arrived; `None` for objects of a list.
    pub(super) fn age<K: Object>(&self, change: &ResourceEvent<K>) -> Option<Duration> {
        let (ResourceEvent::Added {
            object,
            initial: false,
        }
        | ResourceEvent::Updated { new: object, .. }
        | ResourceEvent::Deleted(Deleted::Known(object))) = change
        else {
            return None;
        };
        let version = ResourceVersion::from(object.resource_version()).to_u64()?;
        let mut batches = self.batches.lock();
        while batches.front().is_some_and(|(last, _)| *last < version) {
            batches.pop_front();
        }
        batches.front().map(|(_, came)| came.elapsed())
    }

    fn note<K: Object>(&self, batch: &[WatchItem<K>]) {
        let version = |item: &WatchItem<K>| match item {
            WatchItem::Added(object) | WatchItem::Modified(object) | WatchItem::Deleted(object) => {
                ResourceVersion::from(object.resource_version()).to_u64()
            }
            _ => None,
        };
        let Some(last) = batch.iter().filter_map(version).max() else {
            return;
        };
        let mut batches = self.batches.lock();
        if batches.len() == BATCHES_MAX {
            batches.pop_front();
        }
        batches.push_back((last, Instant::now()));
    }
}

struct Stamped<K> {
    source: Arc<dyn ListerWatcher<K>>,
    arrivals: Arrivals,
}

impl<K: Object> ListerWatcher<K> for Stamped<K> {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>> {
        self.source.list(request)
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>> {
        // A streaming list is in arbitrary order, so its versions have no arrival times.
        if request.send_initial_events {
            return Box::pin(self.watch_after_list(request));
        }
        Box::pin(async move {
            let arrivals = self.arrivals.clone();
            let stream = self.source.watch(request).await?;
            Ok(stream.inspect(move |batch| note(&arrivals, batch)).boxed())
        })
    }

    fn supports_streaming_list(&self) -> bool {
        self.source.supports_streaming_list()
    }

    fn streaming_list_refused(&self) {
        self.source.streaming_list_refused();
    }
}

impl<K: Object> Stamped<K> {
    /// Records what follows the bookmark that ends the list.
    async fn watch_after_list(&self, request: WatchRequest) -> Result<WatchStream<K>, FetchError> {
        let arrivals = self.arrivals.clone();
        let stream = self.source.watch(request).await?;
        let mut listed = false;
        let inspect = move |batch: &Result<Vec<WatchItem<K>>, FetchError>| {
            if listed {
                note(&arrivals, batch);
            }
            let ends = |item: &WatchItem<K>| {
                matches!(
                    item,
                    WatchItem::Bookmark {
                        initial_events_end: true,
                        ..
                    }
                )
            };
            listed |= batch.as_ref().is_ok_and(|batch| batch.iter().any(ends));
        };
        Ok(stream.inspect(inspect).boxed())
    }
}

fn note<K: Object>(arrivals: &Arrivals, batch: &Result<Vec<WatchItem<K>>, FetchError>) {
    if let Ok(batch) = batch {
        arrivals.note(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Unstructured;

    fn object(version: &str) -> Unstructured {
        let mut object = Unstructured::default();
        object.set_metadata("resourceVersion", version);
        object
    }

    fn added(version: &str, initial: bool) -> ResourceEvent<Unstructured> {
        ResourceEvent::Added {
            object: Arc::new(object(version)),
            initial,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_is_as_old_as_the_batch_that_brought_it() {
        let arrivals = Arrivals::default();
        arrivals.note(&[
            WatchItem::Added(object("5")),
            WatchItem::Modified(object("7")),
        ]);
        tokio::time::advance(Duration::from_millis(10)).await;
        arrivals.note(&[WatchItem::Added(object("9"))]);
        tokio::time::advance(Duration::from_millis(1)).await;

        assert_eq!(arrivals.age(&added("3", true)), None, "listed");
        for (version, millis) in [("5", 11), ("7", 11), ("9", 1)] {
            let age = arrivals.age(&added(version, false));
            assert_eq!(age, Some(Duration::from_millis(millis)), "{version}");
        }
        assert_eq!(arrivals.age(&added("10", false)), None, "never came");
    }
}
