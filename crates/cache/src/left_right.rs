//! `LeftRight`: the published state and the writer's working copy, after the left-right algorithm.
//!
//! Two states alternate. After one is published, the other lacks the latest steps. If no reader
//! holds it any more, the steps are repeated on it in place, and nothing is copied. Otherwise the
//! writer does not wait: it works on a clone of the published state, which shares all nodes and
//! copies only those that change.

use crate::numbering::Numbering;
use crate::published::Published;
use crate::retired::Retired;
use crate::store::{State, Step};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The maximum number of repeated steps; beyond it, cloning is cheaper.
const STEPS_MAX: usize = 2048;
/// How many times the writer checks whether a reader still holds the other state. A look-up by name
/// is over by then; a reader that is not may hold it for long.
const LOOKS_MAX: usize = 64;

pub(crate) struct LeftRight<K> {
    published: Arc<Published<K>>,
    front: Arc<State<K>>,
    back: Arc<State<K>>,
    /// The steps that one state has and the other lacks.
    steps: Vec<Step<K>>,
    /// Whether `steps` contains all differences.
    is_complete: bool,
    /// Whether `back` is ahead; otherwise `front` is.
    is_dirty: bool,
    /// The numbers that the working copy does not use.
    pub(crate) numbering: Numbering,
    /// Unused states that are still to be freed.
    retired: Retired<K>,
}

impl<K> LeftRight<K> {
    pub(crate) fn published(&self) -> &Arc<Published<K>> {
        &self.published
    }

    /// Returns the working copy with all writes.
    pub(crate) fn state(&self) -> &Arc<State<K>> {
        if self.is_dirty {
            &self.back
        } else {
            &self.front
        }
    }
}

impl<K: Object> LeftRight<K> {
    pub(crate) fn new() -> Self {
        let state = State::default();
        let back = Arc::new(state.clone());
        let front = Arc::new(state);
        Self {
            published: Arc::new(Published::new(Arc::clone(&front))),
            back,
            front,
            steps: Vec::new(),
            is_complete: true,
            is_dirty: false,
            numbering: Numbering::default(),
            retired: Retired::default(),
        }
    }

    pub(crate) fn apply(&mut self, step: Step<K>) -> Option<Arc<K>> {
        let old = self.work().apply(&step);
        if self.steps.len() == STEPS_MAX {
            self.is_complete = false;
            self.steps.clear();
        }
        if self.is_complete {
            self.steps.push(step);
        }
        old
    }

    /// Returns the working copy for a change that is not a step.
    pub(crate) fn edit(&mut self) -> &mut State<K> {
        self.work();
        self.is_complete = false;
        self.steps.clear();
        Arc::make_mut(&mut self.back)
    }

    pub(crate) fn set_version(&mut self, version: ResourceVersion) {
        self.work().resource_version = version;
    }

    pub(crate) fn set_unreadable(&mut self, names: Option<Arc<BTreeSet<ObjectName>>>) {
        self.work().unreadable = names;
    }

    /// Publishes the working copy. The state that readers no longer see is
    /// [released](Self::release) later.
    pub(crate) fn publish(&mut self) {
        if std::mem::take(&mut self.is_dirty) {
            std::mem::swap(&mut self.front, &mut self.back);
            self.published.store(Arc::clone(&self.front));
            if !self.is_complete {
                // It will not be used again, nor will the objects that only it holds.
                let old = std::mem::replace(&mut self.back, Arc::clone(&self.front));
                self.retired.add_state(old);
            }
        }
    }

    /// Frees about this many unused entries; returns true once nothing is left.
    pub(crate) fn release(&mut self, entries: usize) -> bool {
        self.retired.release(entries)
    }

    fn work(&mut self) -> &mut State<K> {
        if !self.is_dirty {
            self.catch_up();
            self.is_dirty = true;
        }
        Arc::make_mut(&mut self.back)
    }

    fn catch_up(&mut self) {
        if self.is_complete && self.is_left_alone() {
            let back = Arc::make_mut(&mut self.back);
            for step in self.steps.drain(..) {
                back.apply(&step);
            }
            back.resource_version = self.front.resource_version.clone();
            back.unreadable.clone_from(&self.front.unreadable);
        } else {
            self.back = Arc::clone(&self.front);
            self.steps.clear();
            self.is_complete = true;
        }
    }

    fn is_left_alone(&mut self) -> bool {
        for _ in 0..LOOKS_MAX {
            if Arc::get_mut(&mut self.back).is_some() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }
}
