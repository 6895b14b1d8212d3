//! `Entry`: one event, its count, and how far it is written.

use super::Write;
use kubist_api::events::v1::{Event, EventSeries};
use kubist_apimachinery::MicroTime;

#[derive(Debug)]
pub(super) struct Entry {
    event: Event,
    count: i32,
    last_observed: Option<MicroTime>,
    /// The count that was written, or given up.
    settled: i32,
    /// Whether the server has it, as far as is known.
    pub(super) exists: bool,
    pub(super) progress: Progress,
    /// Failed attempts of the present write.
    pub(super) attempts: u32,
    /// Whether it gets no more events.
    pub(super) is_finished: bool,
    is_dirty: bool,
}

#[derive(Debug)]
pub(super) enum Progress {
    Idle,
    Waiting,
    UnderWay {
        write: UnderWay,
        /// Whether another write is wanted after this one.
        is_dirty: bool,
    },
}

/// What is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    count: i32,
    pub(super) is_create: bool,
}

impl Entry {
    pub(super) fn new(event: Event) -> Self {
        Self {
            last_observed: event.event_time,
            event,
            count: 1,
            settled: 0,
            exists: false,
            progress: Progress::Idle,
            attempts: 0,
            is_finished: false,
            is_dirty: false,
        }
    }

    pub(super) fn repeat(&mut self, event: &Event) {
        self.count = self.count.saturating_add(1);
        self.last_observed = event.event_time;
    }

    pub(super) fn count(&self) -> i32 {
        self.count
    }

    /// Reports whether there is a count that was neither written nor given up.
    pub(super) fn has_news(&self) -> bool {
        self.count > self.settled
    }

    /// Reports, once, whether another write was wanted meanwhile.
    pub(super) fn is_dirty(&mut self) -> bool {
        std::mem::take(&mut self.is_dirty) && self.has_news()
    }

    pub(super) fn begin_write(&mut self) -> Write {
        let is_create = !self.exists;
        self.progress = Progress::UnderWay {
            write: UnderWay {
                count: self.count,
                is_create,
            },
            is_dirty: false,
        };
        let series = EventSeries {
            count: self.count,
            last_observed_time: self.last_observed,
        };
        if !is_create {
            return Write::Patch {
                namespace: self.event.metadata.namespace.clone(),
                name: self.event.metadata.name.clone(),
                series,
            };
        }
        let mut event = self.event.clone();
        event.series = (self.count > 1).then(|| Box::new(series));
        Write::Create(Box::new(event))
    }

    /// Ends the present write.
    pub(super) fn end_write(&mut self) -> Option<UnderWay> {
        match std::mem::replace(&mut self.progress, Progress::Idle) {
            Progress::UnderWay { write, is_dirty } => {
                self.is_dirty = is_dirty;
                Some(write)
            }
            other => {
                self.progress = other;
                None
            }
        }
    }

    /// Takes the write as final. What was rejected is not repeated either; a later count is
    /// another matter.
    pub(super) fn settle(&mut self, write: UnderWay, is_done: bool) {
        self.settled = write.count;
        self.exists |= is_done;
    }

    pub(super) fn give_up(&mut self) {
        self.progress = Progress::Idle;
        self.settled = self.count;
    }
}
