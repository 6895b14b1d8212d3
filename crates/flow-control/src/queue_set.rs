//! `QueueSet`: the fair queues of one priority level.
//!
//! In virtual time, all queues that have requests get the same number of seats at once. A request
//! that would end first in virtual time begins first in real time, so a queue that had much waits
//! longer. The next request is never overtaken because it needs many seats: it waits, and all
//! others of the level with it, until there are enough.

use crate::dealer::deal;
use crate::dump::QueueStats;
use crate::queue::{Queue, Waiting, estimated_work};
use crate::request::{Rejection, Ticket};
use crate::settings::{Queuing, Response};
use kubist_apimachinery::Str;
use std::time::Duration;

/// The queues and seats of a level.
#[derive(Debug)]
pub(crate) struct QueueSet {
    response: Response,
    /// Those beyond the configured number drain, and are not dealt.
    queues: Vec<Queue>,
    limit: u32,
    executing: u32,
    executing_seats: u32,
    waiting: usize,
    waiting_seats: u32,
    active: u32,
    virtual_time: f64,
    as_of: Duration,
    /// The queue whose turn was last, for ties.
    last: usize,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It begins, in this queue if there are queues.
    Begins(Option<usize>),
    /// It waits in this queue.
    Waits(usize),
    Rejected(Rejection),
}

/// A waiting request that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) ticket: Ticket,
    pub(crate) queue: usize,
    pub(crate) seats: u32,
}

impl QueueSet {
    pub(crate) fn new(response: Response) -> Self {
        let mut set = Self {
            response: Response::Reject,
            queues: Vec::new(),
            limit: 1,
            executing: 0,
            executing_seats: 0,
            waiting: 0,
            waiting_seats: 0,
            active: 0,
            virtual_time: 0.0,
            as_of: Duration::ZERO,
            last: 0,
        };
        set.configure(response);
        set
    }

    pub(crate) fn configure(&mut self, response: Response) {
        self.response = response;
        if let Response::Queue(queuing) = response
            && self.queues.len() < queuing.queues
        {
            self.queues.resize_with(queuing.queues, Queue::default);
        }
        self.shrink();
    }

    /// Removes queues that are no longer configured, from the end, once they have drained.
    fn shrink(&mut self) {
        let wanted = match self.response {
            Response::Queue(queuing) => queuing.queues,
            Response::Exempt | Response::Reject => 0,
        };
        while self.queues.len() > wanted && self.queues.last().is_some_and(|it| !it.is_active()) {
            self.queues.pop();
        }
    }

    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit.max(1);
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    pub(crate) fn executing(&self) -> u32 {
        self.executing
    }

    pub(crate) fn executing_seats(&self) -> u32 {
        self.executing_seats
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The number of queues with requests that wait.
    pub(crate) fn active_queues(&self) -> usize {
        self.queues
            .iter()
            .filter(|it| !it.waiting.is_empty())
            .count()
    }

    /// Returns the place of a waiting request in its queue.
    pub(crate) fn place_of(&self, queue: usize, ticket: Ticket) -> Option<usize> {
        let mut waiting = self.queues.get(queue)?.waiting.iter();
        waiting.position(|it| it.ticket == ticket)
    }

    /// Returns the state of each queue.
    pub(crate) fn stats_of(&self, level: &Str) -> impl Iterator<Item = QueueStats> {
        let queues = self.queues.iter().enumerate();
        queues.map(|(index, queue)| QueueStats {
            priority_level: level.clone(),
            index,
            waiting: queue.waiting.len(),
            waiting_seats: queue.waiting_seats,
            waiting_seats_max: queue.waiting.iter().map(|it| it.seats).max().unwrap_or(0),
            waiting_work: estimated_work(queue.waiting_seats),
            executing: queue.executing,
            executing_seats: queue.executing_seats,
            next_begins: queue.next_begins,
        })
    }

    /// The seats that requests have or wait for.
    pub(crate) fn demand(&self) -> u32 {
        self.executing_seats.saturating_add(self.waiting_seats)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.executing == 0 && self.waiting == 0
    }

    /// A request arrives.
    pub(crate) fn arrive(
        &mut self,
        now: Duration,
        flow: u64,
        seats: u32,
        ticket: Ticket,
    ) -> Placed {
        self.advance(now);
        match self.response {
            Response::Exempt => self.begin(None, seats),
            Response::Reject if self.fits(seats) => self.begin(None, seats),
            Response::Reject => Placed::Rejected(Rejection::ConcurrencyLimit),
            Response::Queue(queuing) => self.place(queuing, flow, seats, ticket),
        }
    }

    fn place(&mut self, queuing: Queuing, flow: u64, seats: u32, ticket: Ticket) -> Placed {
        let queue = self.choose(queuing, flow);
        if self.waiting == 0 && self.fits(seats) {
            return self.begin(Some(queue), seats);
        }
        if self.queues[queue].waiting.len() >= queuing.length_max {
            return Placed::Rejected(Rejection::QueueFull);
        }
        self.activate(queue);
        self.queues[queue].push(Waiting { ticket, seats });
        self.waiting += 1;
        self.waiting_seats += seats;
        Placed::Waits(queue)
    }

    /// The queue of the flow's hand that has the least.
    fn choose(&self, queuing: Queuing, flow: u64) -> usize {
        let mut best: Option<(usize, u32, usize)> = None;
        deal(flow, queuing.queues, queuing.hand, |number| {
            let queue = &self.queues[number];
            let load = (queue.waiting.len(), queue.seats());
            if best.is_none_or(|(waiting, seats, _)| load < (waiting, seats)) {
                best = Some((load.0, load.1, number));
            }
        });
        best.map_or(0, |(.., number)| number)
    }

    fn fits(&self, seats: u32) -> bool {
        // A request that needs more than there is gets all of them.
        self.response == Response::Exempt
            || self.executing_seats == 0
            || self.executing_seats.saturating_add(seats) <= self.limit
    }

    fn begin(&mut self, queue: Option<usize>, seats: u32) -> Placed {
        if let Some(number) = queue {
            self.activate(number);
            self.queues[number].begin(seats);
        }
        self.executing += 1;
        self.executing_seats = self.executing_seats.saturating_add(seats);
        Placed::Begins(queue)
    }

    /// A queue gets a request. One that had none begins now: it has not saved up for later.
    fn activate(&mut self, number: usize) {
        let queue = &mut self.queues[number];
        if !queue.is_active() {
            queue.next_begins = self.virtual_time;
            self.active += 1;
        }
    }

    fn deactivate(&mut self, number: usize) {
        if !self.queues[number].is_active() {
            self.active -= 1;
        }
    }

    /// Virtual time goes as fast as each queue gets seats.
    fn advance(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.as_of).as_secs_f64();
        self.as_of = self.as_of.max(now);
        if self.active > 0 {
            let seats = f64::from(self.demand().min(self.limit));
            self.virtual_time += passed * seats / f64::from(self.active);
        }
    }

    /// Lets the next waiting request begin, if there are seats for it. To be called until there is
    /// none, after a request has ended and when the limit grows.
    pub(crate) fn next(&mut self, now: Duration) -> Option<Begun> {
        self.advance(now);
        if self.waiting == 0 {
            return None;
        }
        let number = self.first()?;
        if !self.fits(self.queues[number].waiting.front()?.seats) {
            return None;
        }
        self.last = number;
        let Waiting { ticket, seats } = self.queues[number].pop()?;
        self.waiting -= 1;
        self.waiting_seats -= seats;
        self.queues[number].begin(seats);
        self.executing += 1;
        self.executing_seats = self.executing_seats.saturating_add(seats);
        Some(Begun {
            ticket,
            queue: number,
            seats,
        })
    }

    /// The queue whose next request ends first; of equal ones the next in turn.
    fn first(&self) -> Option<usize> {
        let count = self.queues.len();
        let mut best: Option<(f64, usize)> = None;
        for step in 1..=count {
            let number = (self.last + step) % count;
            if let Some(ends) = self.queues[number].next_ends()
                && best.is_none_or(|(least, _)| ends < least)
            {
                best = Some((ends, number));
            }
        }
        best.map(|(_, number)| number)
    }

    /// A request has ended.
    pub(crate) fn end(&mut self, now: Duration, queue: Option<usize>, seats: u32, took: Duration) {
        self.advance(now);
        self.executing -= 1;
        self.executing_seats -= seats;
        if let Some(number) = queue {
            self.queues[number].end(seats, took);
            self.deactivate(number);
            self.shrink();
        }
    }

    /// A waiting request gives up. Returns whether it was waiting.
    pub(crate) fn cancel(&mut self, now: Duration, queue: usize, ticket: Ticket) -> bool {
        self.advance(now);
        let removed = self.queues.get_mut(queue).and_then(|it| it.remove(ticket));
        let Some(removed) = removed else {
            return false;
        };
        self.waiting -= 1;
        self.waiting_seats -= removed.seats;
        self.deactivate(queue);
        self.shrink();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dealer::flow_hash;
    use std::collections::{BTreeMap, VecDeque};

    const QUEUES: Response = Response::Queue(Queuing {
        queues: 64,
        hand: 6,
        length_max: 50,
    });

    fn set(response: Response, limit: u32) -> QueueSet {
        let mut set = QueueSet::new(response);
        set.set_limit(limit);
        set
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn without_queues_what_does_not_fit_is_refused() {
        let mut set = set(Response::Reject, 2);
        let arrive = |set: &mut QueueSet| set.arrive(Duration::ZERO, 1, 1, Ticket(0));
        assert_eq!(arrive(&mut set), Placed::Begins(None));
        assert_eq!(arrive(&mut set), Placed::Begins(None));
        let full = Placed::Rejected(Rejection::ConcurrencyLimit);
        assert_eq!(arrive(&mut set), full);
        set.end(millis(1), None, 1, millis(1));
        assert_eq!(arrive(&mut set), Placed::Begins(None));
        let mut exempt = QueueSet::new(Response::Exempt);
        for _ in 0..1_000 {
            assert_eq!(arrive(&mut exempt), Placed::Begins(None));
        }
    }

    #[test]
    fn a_flow_fills_its_hand_and_no_more() {
        let mut set = set(QUEUES, 1);
        let flow = flow_hash("schema", "greedy");
        let mut waits = 0;
        for ticket in 0..1_000 {
            match set.arrive(Duration::ZERO, flow, 1, Ticket(ticket)) {
                Placed::Waits(_) => waits += 1,
                Placed::Begins(_) => assert_eq!(ticket, 0),
                Placed::Rejected(why) => assert_eq!(why, Rejection::QueueFull),
            }
        }
        assert_eq!(waits, 6 * 50);
        let modest = flow_hash("schema", "modest");
        let placed = set.arrive(Duration::ZERO, modest, 1, Ticket(9_999));
        assert!(matches!(placed, Placed::Waits(_)), "{placed:?}");
    }

    /// Serves flows that always have requests, and returns how much each got, in seat
    /// milliseconds.
    fn served(flows: &[(&str, u32, u64)], limit: u32, for_millis: u64) -> BTreeMap<String, u64> {
        let mut set = set(QUEUES, limit);
        let (mut next, mut got) = (0_u64, BTreeMap::new());
        let mut of = BTreeMap::new();
        let mut running: Vec<(u64, Option<usize>, u32, u64, usize)> = Vec::new();
        let mut outside: VecDeque<usize> =
            (0..flows.len()).cycle().take(flows.len() * 40).collect();
        for now in 0..for_millis {
            running.retain(|&(ends, queue, seats, took, flow)| {
                if ends > now {
                    return true;
                }
                set.end(millis(now), queue, seats, millis(took));
                *got.entry(flows[flow].0.to_owned()).or_default() += u64::from(seats) * took;
                outside.push_back(flow);
                false
            });
            while let Some(flow) = outside.pop_front() {
                let (name, seats, took) = flows[flow];
                let ticket = Ticket(next);
                next += 1;
                of.insert(ticket, flow);
                let hash = flow_hash("schema", name);
                match set.arrive(millis(now), hash, seats, ticket) {
                    Placed::Begins(queue) => running.push((now + took, queue, seats, took, flow)),
                    Placed::Waits(_) => {}
                    Placed::Rejected(why) => panic!("{why}"),
                }
            }
            while let Some(begun) = set.next(millis(now)) {
                let flow = of[&begun.ticket];
                let took = flows[flow].2;
                running.push((now + took, Some(begun.queue), begun.seats, took, flow));
            }
            assert!(set.executing_seats() <= limit);
        }
        got
    }

    #[test]
    fn flows_get_equal_shares_whatever_their_requests_are() {
        let flows = [("short", 1, 5), ("long", 1, 100), ("wide", 4, 20)];
        let got = served(&flows, 8, 20_000);
        let fair = 8 * 20_000 / 3;
        for (name, work) in got {
            // A flow may use several queues of its hand, so shares are fair within a factor.
            assert!(work > fair / 3, "{name} got {work} of {fair}");
        }
    }

    #[test]
    fn a_request_that_needs_all_seats_is_not_overtaken_for_ever() {
        let mut set = set(QUEUES, 4);
        let narrow = flow_hash("schema", "narrow");
        for ticket in 0..4 {
            let placed = set.arrive(Duration::ZERO, narrow, 1, Ticket(ticket));
            assert!(matches!(placed, Placed::Begins(_)));
        }
        let wide = flow_hash("schema", "wide");
        let Placed::Waits(queue) = set.arrive(Duration::ZERO, wide, 10, Ticket(10)) else {
            panic!("there was no seat");
        };
        let later = set.arrive(Duration::ZERO, narrow, 1, Ticket(11));
        assert!(matches!(later, Placed::Waits(_)));
        assert_eq!(set.next(Duration::ZERO), None);
        assert_eq!(set.demand(), 15);
        assert!(set.cancel(millis(1), queue, Ticket(10)));
        assert!(!set.cancel(millis(1), queue, Ticket(10)), "once");
        assert_eq!((set.waiting(), set.demand()), (1, 5));
    }

    #[test]
    fn fewer_queues_are_used_at_once_and_removed_when_they_are_empty() {
        let mut set = set(QUEUES, 1);
        let flows: Vec<u64> = (0..40)
            .map(|it| flow_hash("schema", &format!("{it}")))
            .collect();
        for (ticket, flow) in (0_u64..).zip(&flows) {
            set.arrive(Duration::ZERO, *flow, 1, Ticket(ticket));
        }
        set.configure(Response::Queue(Queuing {
            queues: 2,
            hand: 1,
            length_max: 100,
        }));
        assert!(set.queues.len() > 2);
        for (ticket, flow) in (100_u64..).zip(&flows) {
            let placed = set.arrive(Duration::ZERO, *flow, 1, Ticket(ticket));
            assert!(matches!(placed, Placed::Waits(0 | 1)), "{placed:?}");
        }
        set.configure(Response::Reject);
        set.set_limit(1_000);
        let mut begun = Vec::new();
        while let Some(one) = set.next(millis(1)) {
            begun.push(one);
        }
        assert_eq!(begun.len(), 79, "what waits is still served");
        for one in begun {
            set.end(millis(2), Some(one.queue), one.seats, millis(1));
        }
        assert_eq!(set.executing(), 1);
    }
}
