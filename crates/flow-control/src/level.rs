//! `Level`: a priority level with its seats and queues.

use crate::concurrency::{Borrower, Seats};
use crate::demand::Demand;
use crate::queue_set::QueueSet;
use crate::settings::{Response, Settings};
use kubist_apimachinery::Str;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) name: Str,
    pub(crate) uid: Str,
    pub(crate) settings: Settings,
    pub(crate) seats: Seats,
    pub(crate) set: QueueSet,
    demand: Demand,
    /// It is not configured any more, and drains.
    pub(crate) is_removed: bool,
}

impl Level {
    pub(crate) fn new(name: Str, settings: Settings) -> Self {
        Self {
            name,
            uid: Str::default(),
            settings,
            seats: Seats::default(),
            set: QueueSet::new(settings.response),
            demand: Demand::default(),
            is_removed: false,
        }
    }

    pub(crate) fn configure(&mut self, uid: Str, settings: Settings) {
        self.uid = uid;
        self.settings = settings;
        self.set.configure(settings.response);
        self.is_removed = false;
    }

    pub(crate) fn is_exempt(&self) -> bool {
        self.settings.response == Response::Exempt
    }

    /// To be called after each change of what has or waits for seats.
    pub(crate) fn note_demand(&mut self, now: Duration) {
        self.demand.set(now, self.set.demand());
    }

    /// Ends a period of demand, for the lending of seats.
    pub(crate) fn borrower(&mut self, now: Duration) -> Borrower {
        Borrower {
            seats: self.seats,
            demand: self.demand.period(now),
            is_exempt: self.is_exempt(),
        }
    }
}
