//! `FlowController`: classifies requests, and says which are handled now, which wait, and which are
//! refused.

use crate::concurrency::{lend, nominal};
use crate::configuration::Configuration;
use crate::dump::{Live, Requests};
use crate::level::Level;
use crate::mandatory::CATCH_ALL;
use crate::plan::{Classified, Plan};
use crate::queue_set::Placed;
use crate::request::{Arrival, Class, Execution, Rejection, Ticket, Work};
use crate::settings::Settings;
use kubist_apimachinery::Str;
use kubist_authorization::Attributes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Requests of all levels of a server, and their seats.
#[derive(Debug)]
pub struct FlowController {
    total: u32,
    plan: Plan,
    /// A level that is not configured any more keeps its place until it has drained.
    pub(crate) levels: Vec<Level>,
    /// Level and queue of what waits.
    waiting: BTreeMap<Ticket, (usize, usize)>,
    pub(crate) live: Requests,
    next: u64,
}

/// The state of a priority level, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelStats {
    /// The name.
    pub name: Str,
    /// Seats by its shares.
    pub nominal_seats: u32,
    /// Seats that it never lends.
    pub min_seats: u32,
    /// Seats that it has at most, with borrowed ones; none: no limit.
    pub max_seats: Option<u32>,
    /// Seats that it has now, with borrowed ones.
    pub current_seats: u32,
    /// Requests being handled.
    pub executing: u32,
    /// The seats of these.
    pub executing_seats: u32,
    /// Requests in queues.
    pub waiting: usize,
    /// Queues with requests that wait.
    pub active_queues: usize,
    /// It has no requests.
    pub is_idle: bool,
    /// It is not configured any more, and drains.
    pub is_quiescing: bool,
}

/// Waiting requests that may go on.
type Begun = Vec<(Ticket, Execution)>;

impl FlowController {
    /// How often [`adjust`](Self::adjust) is to be called, as upstream.
    pub const ADJUST_EVERY: Duration = Duration::from_secs(10);

    /// Creates a controller with this many seats, at least one.
    pub fn new(seats: u32, configuration: &Configuration) -> Self {
        let mut controller = Self {
            total: seats.max(1),
            plan: Plan::default(),
            levels: Vec::new(),
            waiting: BTreeMap::new(),
            live: Requests::new(),
            next: 0,
        };
        let begun = controller.configure(Duration::ZERO, configuration);
        debug_assert!(begun.is_empty(), "nothing waits yet");
        controller
    }

    /// Takes another configuration. What waits keeps its place; seats are by shares until the next
    /// adjustment.
    pub fn configure(&mut self, now: Duration, configuration: &Configuration) -> Begun {
        self.levels.iter_mut().for_each(|it| it.is_removed = true);
        for level in configuration.levels() {
            let settings = Settings::of(level);
            let meta = &level.metadata;
            let known = self.levels.iter().position(|it| it.name == meta.name);
            let place = known.unwrap_or_else(|| self.place_for(&meta.name, settings));
            self.levels[place].configure(meta.uid.clone(), settings);
        }
        let stays = |it: &&mut Level| !it.is_removed;
        let settings = self.levels.iter().filter(|it| !it.is_removed);
        let seats = nominal(self.total, settings.map(|it| &it.settings));
        for (level, seats) in self.levels.iter_mut().filter(stays).zip(seats) {
            level.seats = seats;
            level.set.set_limit(seats.nominal);
        }
        let levels = &self.levels;
        self.plan = Plan::of(configuration, |name| {
            let place = levels
                .iter()
                .position(|it| *it.name == *name && !it.is_removed)?;
            Some((place, levels[place].uid.clone()))
        });
        self.go_on(now)
    }

    /// Returns the place of a new level: that of one that has drained, or a further one.
    fn place_for(&mut self, name: &Str, settings: Settings) -> usize {
        let level = Level::new(name.clone(), settings);
        let mut levels = self.levels.iter();
        // Those that are configured were marked as removed, too, but are found by their name.
        let free = levels.position(|it| it.is_removed && it.set.is_idle() && it.name.is_empty());
        if let Some(place) = free {
            self.levels[place] = level;
            return place;
        }
        self.levels.push(level);
        self.levels.len() - 1
    }

    /// A request arrives.
    pub fn arrive(&mut self, now: Duration, request: &Attributes<'_>, work: Work) -> Arrival {
        let Some(classified) = self.plan.classify(request) else {
            // Without the mandatory schemas, which cannot be removed, nothing is let in.
            let class = Class {
                flow_schema: CATCH_ALL.into(),
                flow_schema_uid: Str::default(),
                priority_level: CATCH_ALL.into(),
                priority_level_uid: Str::default(),
            };
            return Arrival::Rejected(Arc::new(class), Rejection::ConcurrencyLimit);
        };
        let Classified {
            class,
            level,
            flow,
            distinguisher,
        } = classified;
        let (seats, ticket) = (work.seats.max(1), Ticket(self.next));
        let of = &mut self.levels[level];
        let placed = of.set.arrive(now, flow, seats, ticket);
        of.note_demand(now);
        let (queue, began) = match placed {
            Placed::Begins(queue) => (queue, Some(now)),
            Placed::Waits(queue) => (Some(queue), None),
            Placed::Rejected(why) => return Arrival::Rejected(class, why),
        };
        self.next += 1;
        let live = Live {
            class: Arc::clone(&class),
            distinguisher: distinguisher.into(),
            level,
            queue,
            seats,
            arrived: now,
            began,
        };
        self.live.insert(ticket, live);
        match placed {
            Placed::Begins(queue) => {
                let execution = Execution {
                    ticket,
                    level,
                    queue,
                    seats,
                    began: now,
                };
                Arrival::Executes(class, execution)
            }
            Placed::Waits(queue) => {
                self.waiting.insert(ticket, (level, queue));
                Arrival::Waits(class, ticket)
            }
            Placed::Rejected(why) => Arrival::Rejected(class, why),
        }
    }

    /// A request has ended. Returns those that may go on.
    pub fn finish(&mut self, now: Duration, execution: Execution) -> Begun {
        let Execution {
            ticket,
            level,
            queue,
            seats,
            began,
        } = execution;
        self.live.remove(&ticket);
        let took = now.saturating_sub(began);
        self.levels[level].set.end(now, queue, seats, took);
        let begun = self.go_on_at(now, level);
        self.forget_drained();
        begun
    }

    /// A waiting request gives up: its client is gone, or it has waited too long. Returns false if
    /// it does not wait any more, and those that may go on.
    pub fn cancel(&mut self, now: Duration, ticket: Ticket) -> (bool, Begun) {
        let Some((level, queue)) = self.waiting.remove(&ticket) else {
            return (false, Begun::new());
        };
        self.live.remove(&ticket);
        let waited = self.levels[level].set.cancel(now, queue, ticket);
        // It may have needed more seats than the next one.
        let begun = self.go_on_at(now, level);
        self.forget_drained();
        (waited, begun)
    }

    /// Lends seats between levels, by what they were asked for since the last time. To be called
    /// [every ten seconds](Self::ADJUST_EVERY).
    pub fn adjust(&mut self, now: Duration) -> Begun {
        let stays = |it: &&mut Level| !it.is_removed;
        let levels = self.levels.iter_mut().filter(stays);
        let borrowers: Vec<_> = levels.map(|it| it.borrower(now)).collect();
        let lent = lend(self.total, &borrowers);
        for (level, seats) in self.levels.iter_mut().filter(stays).zip(lent) {
            level.set.set_limit(seats);
        }
        self.go_on(now)
    }

    /// Returns the state of each level.
    pub fn levels(&self) -> impl Iterator<Item = LevelStats> {
        let levels = self.levels.iter().filter(|it| !it.name.is_empty());
        levels.map(|level| LevelStats {
            name: level.name.clone(),
            nominal_seats: level.seats.nominal,
            min_seats: level.seats.min,
            max_seats: level.seats.max,
            current_seats: level.set.limit(),
            executing: level.set.executing(),
            executing_seats: level.set.executing_seats(),
            waiting: level.set.waiting(),
            active_queues: level.set.active_queues(),
            is_idle: level.set.is_idle(),
            is_quiescing: level.is_removed,
        })
    }

    fn go_on(&mut self, now: Duration) -> Begun {
        let mut begun = Begun::new();
        for level in 0..self.levels.len() {
            begun.append(&mut self.go_on_at(now, level));
        }
        self.forget_drained();
        begun
    }

    fn go_on_at(&mut self, now: Duration, level: usize) -> Begun {
        let mut begun = Begun::new();
        let of = &mut self.levels[level];
        while let Some(next) = of.set.next(now) {
            self.waiting.remove(&next.ticket);
            if let Some(live) = self.live.get_mut(&next.ticket) {
                live.began = Some(now);
            }
            let execution = Execution {
                ticket: next.ticket,
                level,
                queue: Some(next.queue),
                seats: next.seats,
                began: now,
            };
            begun.push((next.ticket, execution));
        }
        of.note_demand(now);
        begun
    }

    /// Frees the places of levels that have drained.
    fn forget_drained(&mut self) {
        for level in &mut self.levels {
            if level.is_removed && level.set.is_idle() {
                level.name = Str::default();
            }
        }
    }
}

#[cfg(test)]
mod tests;
