//! The index of a cache, which follows the events in its ring.

use super::Shared;
use crate::storage::index::{Changes, Follow, ObjectIndex, Step};
use crate::storage::raw::RawStorage;
use crate::strategy::BoxFuture;
use std::sync::{Arc, Weak};

/// The maximum of events at once.
const EVENTS_MAX: usize = 512;

/// The events of a cache.
#[derive(Debug)]
struct CacheChanges(Weak<Shared>);

struct Followed {
    shared: Weak<Shared>,
    generation: u64,
    at: u64,
}

/// Creates the index of a cache, like that of the storage below it.
pub(super) fn index(raw: &RawStorage, shared: &Weak<Shared>) -> Arc<ObjectIndex> {
    let changes = Box::new(CacheChanges(Weak::clone(shared)));
    let config = raw.index.config();
    Arc::new(ObjectIndex::new(raw.codec.clone(), config, changes))
}

impl Changes for CacheChanges {
    fn follow(&self, after: u64) -> BoxFuture<'_, Option<Box<dyn Follow>>> {
        Box::pin(async move {
            let generation = self.0.upgrade()?.state.lock().generation;
            Some(Box::new(Followed {
                shared: Weak::clone(&self.0),
                generation,
                at: after,
            }) as Box<dyn Follow>)
        })
    }
}

impl Follow for Followed {
    fn next(&mut self) -> Step {
        let Some(shared) = self.shared.upgrade() else {
            return Step::Lost;
        };
        let (events, reached) = {
            let state = shared.state.lock();
            let content = state.content.as_ref();
            let Some(content) = content.filter(|_| state.generation == self.generation) else {
                return Step::Lost;
            };
            let reached = content.revision();
            if reached <= self.at {
                return Step::Nothing;
            }
            match content.events(self.at, reached, EVENTS_MAX) {
                Ok(events) => (events, reached),
                Err(_) => return Step::Lost,
            }
        };
        let last = events.last().map(|it| it.revision.0);
        let is_full = events.len() >= EVENTS_MAX;
        self.at = last.filter(|_| is_full).unwrap_or(reached);
        Step::Events(events, self.at)
    }
}
