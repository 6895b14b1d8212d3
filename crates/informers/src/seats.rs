//! `Seats`: the handlers of one informer, as its task sees them: who is told, and when again.
//!
//! What is told goes into a mailbox, or, of a handler that wants it so, is a call at once. After
//! each few of either the task yields.

use std::sync::Arc;

use kubist_apimachinery::Object;
use kubist_cache::{Change, Snapshot};
use tokio::time::Instant;

use crate::name_hash::NameHash;
use crate::resync::Resyncs;
use crate::seat::Seat;
use crate::serving::InPlace;
use crate::shared::Shared;
use crate::{HandlerState, Pace, Problem};

/// Changes that are put into one mailbox before the next one has its turn.
const CHANGES_AT_ONCE: usize = 64;

pub(crate) struct Seats<K: Object> {
    shared: Arc<Shared<K>>,
    all: Vec<Served<K>>,
    next_id: u64,
    resyncs: Resyncs,
    /// That of the informer's task.
    pub(crate) pace: Pace,
    /// What the resyncs count from.
    started: Instant,
}

struct Served<K: Object> {
    /// Its number, for resyncs.
    id: u64,
    seat: Arc<Seat<K>>,
    in_place: Option<InPlace<K>>,
}

impl<K: Object> Served<K> {
    /// Tells some changes; false once the seat has ended.
    async fn offer(&mut self, changes: &[Change<K>], pace: &mut Pace) -> bool {
        let Some(handler) = &mut self.in_place else {
            let hashed = changes.iter().map(|it| (NameHash::of(it), it));
            let goes_on = self.seat.push(hashed);
            pace.keep().await;
            return goes_on;
        };
        for change in changes {
            if self.seat.is_ended() {
                return false;
            }
            handler.call(change.clone());
            pace.keep().await;
        }
        true
    }
}

impl<K: Object> Seats<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>) -> Self {
        Self {
            resyncs: Resyncs::new(shared.config.resync),
            pace: Pace::begin(),
            started: Instant::now(),
            shared,
            all: Vec::new(),
            next_id: 0,
        }
    }

    /// The informer starts.
    pub(crate) fn start(&mut self) {
        self.resyncs.start(self.started.elapsed());
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whoever comes late hears of what is there, as additions.
    pub(crate) async fn join(
        &mut self,
        seat: Arc<Seat<K>>,
        in_place: Option<InPlace<K>>,
        present: &Snapshot<K>,
        is_whole: bool,
    ) {
        let id = self.next_id;
        self.next_id += 1;
        // Before it is told anything: whoever drops this future ends every seat.
        self.all.push(Served { id, seat, in_place });
        let Some(served) = self.all.last_mut() else {
            return;
        };
        for object in present.iter() {
            let change = Change::Added {
                object: Arc::clone(object),
                initial: true,
            };
            let changes = std::slice::from_ref(&change);
            if !served.offer(changes, &mut self.pace).await {
                break;
            }
        }
        if is_whole {
            served.seat.fill();
        }
        let asked = served.seat.config.resync;
        self.resyncs.join(id, asked, self.started.elapsed());
        self.note_periods();
    }

    /// Does what handles of handlers asked for.
    pub(crate) fn change_periods(&mut self) {
        let now = self.started.elapsed();
        let mut changed = false;
        for served in &self.all {
            if let Some(asked) = served.seat.take_asked() {
                self.resyncs.change(served.id, asked.period, now);
                changed = true;
            }
        }
        if changed {
            self.note_periods();
        }
    }

    fn note_periods(&self) {
        for served in &self.all {
            served.seat.set_resync(self.resyncs.period(served.id));
        }
    }

    /// When [`Self::resync`] is to be called next.
    pub(crate) fn resync_due(&self) -> Option<Instant> {
        self.resyncs.due().map(|due| self.started + due)
    }

    /// Tells every object again to those whose time has come.
    pub(crate) async fn resync(&mut self, present: &Snapshot<K>) {
        let due = self.resyncs.take_due(self.started.elapsed());
        let objects: Vec<_> = present.iter().collect();
        let mut changes = Vec::with_capacity(CHANGES_AT_ONCE);
        for some in objects.chunks(CHANGES_AT_ONCE) {
            changes.extend(some.iter().map(|it| Change::Resynced(Arc::clone(it))));
            self.tell_to(&changes, |id| due.contains(&id)).await;
            changes.clear();
        }
    }

    /// Tells all.
    pub(crate) async fn tell(&mut self, changes: &[Change<K>]) {
        self.tell_to(changes, |_| true).await;
    }

    /// Tells those that are chosen; those that have ended go.
    async fn tell_to(
        &mut self,
        changes: &[Change<K>],
        is_chosen: impl Fn(u64) -> bool + Send + Sync,
    ) {
        // What came of a long list or batch took its time too.
        self.pace.keep().await;
        for some in changes.chunks(CHANGES_AT_ONCE) {
            let mut index = 0;
            while let Some(served) = self.all.get_mut(index) {
                if !is_chosen(served.id) || served.offer(some, &mut self.pace).await {
                    index += 1;
                } else {
                    let ended = self.all.remove(index);
                    self.note_end(&ended);
                }
            }
        }
    }

    fn note_end(&mut self, ended: &Served<K>) {
        self.resyncs.retain(|id| id != ended.id);
        if ended.seat.current() == HandlerState::Overflowed {
            self.shared.stats.lock().handler_overflows += 1;
            let handler = ended.seat.config.name.clone();
            self.shared.report(&Problem::HandlerOverflowed { handler });
        }
    }

    /// The first list is told.
    pub(crate) fn fill(&self) {
        self.all.iter().for_each(|served| served.seat.fill());
    }

    /// Forgets those that have ended.
    pub(crate) fn prune(&mut self) {
        let before = self.all.len();
        self.all.retain(|served| !served.seat.is_ended());
        if self.all.len() < before {
            let all = &self.all;
            self.resyncs.retain(|id| all.iter().any(|it| it.id == id));
        }
    }

    /// Nobody is told anything any more.
    pub(crate) fn stop(&mut self) {
        for served in self.all.drain(..) {
            served.seat.end(HandlerState::Stopped);
        }
    }
}
