//! What a controller holds, for those who look at a server: queues, and requests.

use crate::controller::FlowController;
use crate::request::{Class, Ticket};
use kubist_apimachinery::Str;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The state of a queue. Times are in seat seconds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueStats {
    /// The name of its priority level.
    pub priority_level: Str,
    /// Its number, in its level.
    pub index: usize,
    /// Requests that wait.
    pub waiting: usize,
    /// The seats that they wait for.
    pub waiting_seats: u32,
    /// The seats of the one that waits for most.
    pub waiting_seats_max: u32,
    /// The work that those are taken to be.
    pub waiting_work: f64,
    /// Requests being handled.
    pub executing: u32,
    /// The seats of these.
    pub executing_seats: u32,
    /// The virtual time at which its next request begins.
    pub next_begins: f64,
}

/// A request that waits or is being handled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestStats {
    /// How it was classified.
    pub class: Arc<Class>,
    /// What tells its flow apart; empty if its schema has one flow.
    pub distinguisher: Str,
    /// Its queue; none in levels without queues.
    pub queue: Option<usize>,
    /// Its place in the queue, while it waits.
    pub place: Option<usize>,
    /// Its seats.
    pub seats: u32,
    /// When it arrived.
    pub arrived: Duration,
    /// When it began to be handled; none while it waits.
    pub began: Option<Duration>,
}

/// A request that waits or is being handled, and its level.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) class: Arc<Class>,
    pub(crate) distinguisher: Str,
    pub(crate) level: usize,
    pub(crate) queue: Option<usize>,
    pub(crate) seats: u32,
    pub(crate) arrived: Duration,
    pub(crate) began: Option<Duration>,
}

/// All requests that wait or are being handled.
pub(crate) type Requests = BTreeMap<Ticket, Live>;

impl FlowController {
    /// Returns the state of each queue.
    pub fn queues(&self) -> impl Iterator<Item = QueueStats> {
        let levels = self.levels.iter().filter(|it| !it.name.is_empty());
        levels.flat_map(|level| level.set.stats_of(&level.name))
    }

    /// Returns the requests that wait or are being handled, in the order of their arrival.
    pub fn requests(&self) -> impl Iterator<Item = RequestStats> {
        self.live.iter().map(|(ticket, live)| {
            let waits = live.queue.filter(|_| live.began.is_none());
            let set = &self.levels[live.level].set;
            RequestStats {
                class: Arc::clone(&live.class),
                distinguisher: live.distinguisher.clone(),
                queue: live.queue,
                place: waits.and_then(|queue| set.place_of(queue, *ticket)),
                seats: live.seats,
                arrived: live.arrived,
                began: live.began,
            }
        })
    }
}
