//! `ObjectIndex`: finds the objects of a resource that a selector may select, without reading the
//! others.
//!
//! It answers for one state: the caller brings a snapshot, and what is found is from that snapshot,
//! so that a list by the index is the list that a scan would give. What it finds may be too much,
//! never too little; each object is still matched by the whole predicate.
//!
//! It is built by the first list that could have used it, catches up with the changes when the next
//! one comes, and is dropped when none comes for some minutes. So writes do not pay for it, and
//! resources that nobody selects from have none. While it is being built, lists of few objects are
//! scans, and those of many wait for it: that many scans at once would take the processors that
//! build it.

mod changes;
mod fields;
mod postings;
mod properties;
mod recent;

pub(crate) use self::changes::{Changes, Follow, KvChanges, Step};
pub(crate) use self::fields::indexed_fields;
use self::postings::Postings;
use self::properties::PropertyReader;
use self::recent::{Recent, Undone};
use crate::storage::predicate::Predicate;
use crate::storage::work_budget::{OBJECT, WorkBudget};
use crate::stored::codec::StoredCodec;
use kubist_apimachinery::wire::DecodeContext;
use kubist_storage::memory::Tree;
use kubist_storage::{Event, KeyRange, KeyValue};
use parking_lot::Mutex;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::Notify;

/// The configuration of an index.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IndexConfig {
    /// The selectable fields to index beside labels. Default: none.
    pub fields: &'static [&'static str],
    /// The number of objects in a list's range from which on the index is used. Default: 512.
    pub objects_min: usize,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            fields: &[],
            objects_min: 512,
        }
    }
}

impl IndexConfig {
    /// Sets the selectable fields to index.
    #[must_use]
    pub fn fields(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    /// Sets from how many objects on the index is used.
    #[must_use]
    pub fn objects_min(mut self, objects: usize) -> Self {
        self.objects_min = objects;
        self
    }
}

/// A candidate costs about as much as this many scanned objects, because it is looked up.
const CANDIDATE_COST: u64 = 2;
/// The maximum of steps to catch up in one call.
const STEPS_MAX: usize = 256;
/// Lists of a range with this many objects wait while the index is being built.
const WAIT_MIN: usize = 10_000;
/// How often a source may know nothing yet before the caller scans.
const NOTHING_MAX: usize = 8;
/// After so many calls of [`ObjectIndex::forget_unused`] without a use, it is dropped: about five
/// minutes.
const IDLE_MAX: u32 = 30;

/// An index of one resource.
pub(crate) struct ObjectIndex {
    config: IndexConfig,
    reader: PropertyReader,
    /// The keys of the resource.
    range: KeyRange,
    changes: Box<dyn Changes>,
    state: Mutex<State>,
    /// Tells those who wait that it is built, or that its building was given up.
    built: Notify,
}

#[derive(Default)]
enum State {
    #[default]
    Absent,
    Building,
    Ready(Box<Ready>),
}

struct Ready {
    postings: Postings,
    recent: Recent,
    /// It contains the changes up to this revision.
    at: u64,
    follow: Box<dyn Follow>,
    /// The calls of [`ObjectIndex::forget_unused`] since its last use.
    idle: u32,
}

/// A snapshot to find objects in.
#[derive(Clone, Debug)]
pub(crate) struct Indexed<'a> {
    pub(crate) index: &'a ObjectIndex,
    pub(crate) tree: Tree,
    pub(crate) revision: u64,
    /// Earlier states may not be read, even if they are known.
    pub(crate) oldest: u64,
}

/// The objects that may be selected.
#[derive(Debug)]
pub(crate) struct Found {
    /// In the order of their keys.
    pub(crate) kvs: Vec<Arc<KeyValue>>,
    /// The revision of the state that they are from.
    pub(crate) revision: u64,
    tree: Tree,
    undone: Undone,
}

impl Found {
    /// Returns the number of all keys of a range at that state.
    pub(crate) fn count(&self, range: &KeyRange) -> usize {
        let mut count = self.tree.count(range);
        for (key, before) in &self.undone {
            if range.contains(key) {
                count += usize::from(before.is_some());
                count -= usize::from(self.tree.get(key).is_some());
            }
        }
        count
    }
}

impl ObjectIndex {
    /// Creates an index of the resource of a codec. Nothing is read yet.
    pub(crate) fn new(codec: StoredCodec, config: IndexConfig, changes: Box<dyn Changes>) -> Self {
        Self {
            config,
            range: codec.keys().range(""),
            reader: PropertyReader::new(codec, config.fields),
            changes,
            state: Mutex::default(),
            built: Notify::new(),
        }
    }

    /// Returns the configuration.
    pub(crate) fn config(&self) -> IndexConfig {
        self.config
    }

    /// Drops it if it was not used for some minutes. Otherwise brings it up to date, so that the
    /// next list has little to catch up with.
    pub(crate) fn forget_unused(&self) {
        {
            let mut state = self.state.lock();
            let State::Ready(ready) = &mut *state else {
                return;
            };
            ready.idle += 1;
            ready.recent.clear();
            if ready.idle > IDLE_MAX {
                let unused = std::mem::take(&mut *state);
                drop(state);
                // Outside the lock, because it may be large.
                drop(unused);
                return;
            }
        }
        let mut cx = DecodeContext::new();
        for _ in 0..STEPS_MAX {
            if !matches!(self.step(u64::MAX, &mut cx), Caught::Some(_)) {
                return;
            }
        }
    }

    /// Makes it ready for a snapshot. Returns whether it is. `waits`: also if another caller builds
    /// it.
    async fn reach(&self, view: &Indexed<'_>, waits: bool) -> bool {
        let mut budget = WorkBudget::new();
        let mut nothing = 0;
        for _ in 0..STEPS_MAX {
            let step = self.step(view.revision, &mut DecodeContext::new());
            match step {
                Caught::Up => return true,
                Caught::Some(bytes) => budget.spend(bytes).await,
                Caught::Nothing if nothing < NOTHING_MAX => {
                    nothing += 1;
                    tokio::task::yield_now().await;
                }
                Caught::Building if waits => self.until_built().await,
                Caught::Nothing | Caught::Building => return false,
                Caught::Absent(building) => {
                    if self.build(building, view, &mut budget).await.is_none() {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// Waits while another caller builds it.
    async fn until_built(&self) {
        let mut built = pin!(self.built.notified());
        // Whoever is done after this look notifies.
        built.as_mut().enable();
        if matches!(*self.state.lock(), State::Building) {
            built.await;
        }
    }

    /// Takes one batch of changes, if it is not at the revision yet.
    fn step(&self, until: u64, cx: &mut DecodeContext) -> Caught<'_> {
        let mut state = self.state.lock();
        let ready = match &mut *state {
            State::Building => return Caught::Building,
            State::Absent => {
                *state = State::Building;
                return Caught::Absent(Building(self));
            }
            State::Ready(ready) => ready,
        };
        if ready.at >= until {
            return Caught::Up;
        }
        match ready.follow.next() {
            Step::Events(events, revision) => {
                let mut bytes = 0;
                for event in &events {
                    bytes += OBJECT + self.apply(ready, event, cx);
                }
                let is_news = revision > ready.at;
                ready.at = ready.at.max(revision);
                if is_news {
                    Caught::Some(bytes)
                } else {
                    Caught::Nothing
                }
            }
            Step::Nothing => Caught::Nothing,
            Step::Lost => {
                *state = State::Absent;
                Caught::Nothing
            }
        }
    }

    /// Applies a change. Returns how many bytes were read.
    fn apply(&self, ready: &mut Ready, event: &Event, cx: &mut DecodeContext) -> usize {
        ready.recent.push(event);
        let Some(kv) = event.current() else {
            ready.postings.remove(&event.key);
            return 0;
        };
        let postings = &mut ready.postings;
        self.reader.read(kv, cx, |it| postings.put(&kv.key, it));
        kv.value.len()
    }

    async fn build(
        &self,
        building: Building<'_>,
        view: &Indexed<'_>,
        budget: &mut WorkBudget,
    ) -> Option<()> {
        let follow = self.changes.follow(view.revision).await?;
        let mut postings = Postings::default();
        for kv in view.tree.range(&self.range) {
            let mut cx = DecodeContext::new();
            self.reader
                .read(kv, &mut cx, |it| postings.put(&kv.key, it));
            budget.spend(OBJECT + kv.value.len()).await;
        }
        building.finish(Ready {
            postings,
            recent: Recent::after(view.revision),
            at: view.revision,
            follow,
            idle: 0,
        });
        Some(())
    }
}

impl Indexed<'_> {
    /// Finds the objects of a range that a predicate may select; `at`: in the state at this
    /// revision, not after the snapshot. `None` if a scan is better, or the index does not go back
    /// that far.
    pub(crate) async fn find(
        &self,
        predicate: &Predicate,
        range: &KeyRange,
        at: Option<u64>,
    ) -> Option<Found> {
        let index = self.index;
        let at = at.unwrap_or(self.revision);
        let wanted = predicate.wanted(|field| index.reader.has_field(field));
        let is_readable = self.oldest <= at && at <= self.revision;
        if wanted.is_empty() || !is_readable || range.as_key().is_some() {
            return None;
        }
        let total = self.tree.count(range);
        if total < index.config.objects_min || !index.reader.may_read() {
            return None;
        }
        if !index.reach(self, total >= WAIT_MIN).await {
            return None;
        }
        let (keys, undone) = {
            let mut state = index.state.lock();
            let State::Ready(ready) = &mut *state else {
                return None;
            };
            ready.idle = 0;
            if ready.at < self.revision {
                return None;
            }
            let undone = ready.recent.since(at, range)?;
            let candidates = ready.postings.candidates(wanted.into_iter())?;
            let most = u64::try_from(total).unwrap_or(u64::MAX);
            if candidates.len().saturating_mul(CANDIDATE_COST) > most {
                return None;
            }
            (ready.postings.keys(&candidates, range), undone)
        };
        let unchanged = keys.iter().filter(|key| !undone.contains_key(&key[..]));
        let mut kvs: Vec<_> = unchanged
            .filter_map(|it| self.tree.get(it).cloned())
            .collect();
        if !undone.is_empty() {
            kvs.extend(undone.values().flatten().cloned());
            kvs.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        }
        Some(Found {
            kvs,
            revision: at,
            tree: self.tree.clone(),
            undone,
        })
    }
}

/// The result of a step.
enum Caught<'a> {
    /// It is where it should be.
    Up,
    /// It has read this many bytes; there may be more.
    Some(usize),
    /// No event came.
    Nothing,
    /// Another caller builds it.
    Building,
    /// This caller has to build it.
    Absent(Building<'a>),
}

/// The right to build an index. Dropped unfinished, another caller gets it.
struct Building<'a>(&'a ObjectIndex);

impl Building<'_> {
    fn finish(self, ready: Ready) {
        *self.0.state.lock() = State::Ready(Box::new(ready));
        self.0.built.notify_waiters();
    }
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if matches!(*state, State::Building) {
            *state = State::Absent;
            drop(state);
            self.0.built.notify_waiters();
        }
    }
}

impl fmt::Debug for ObjectIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectIndex")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
