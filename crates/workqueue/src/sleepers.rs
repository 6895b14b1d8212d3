//! The workers that wait for an item, and who of them keeps the time.
//!
//! Promises: a worker is woken only if there is something for it, or to keep the time; one timer
//! runs for the whole queue, in the worker that is *keeper*; a worker that leaves, served or
//! cancelled, leaves no call unanswered if [`Sleepers::call`] is asked again afterwards.
//!
//! It wakes nobody itself: it hands out wakers, to be woken when the lock is released. Those that
//! waited last are called first, as their caches are warm.

use std::mem;
use std::task::Waker;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    seats: Vec<Seat>,
    free: Vec<usize>,
    idle: Vec<usize>,
    keeper: Option<Keeper>,
    called: usize,
}

#[derive(Debug, Clone, Copy)]
struct Keeper {
    seat: usize,
    /// What its timer is set to.
    deadline: Duration,
}

#[derive(Debug)]
enum Seat {
    Free,
    /// Sleeps until called.
    Idle(Waker),
    /// Sleeps until called or until its timer fires.
    Keeper(Waker),
    /// Was woken and has not come back yet.
    Called,
}

impl Sleepers {
    /// How many were called and have not come back.
    pub(crate) fn called(&self) -> usize {
        self.called
    }

    /// Whether any worker sleeps that was not called.
    pub(crate) fn any_asleep(&self) -> bool {
        !self.idle.is_empty() || self.keeper.is_some()
    }

    /// A worker found nothing and sleeps, in `seat` if it has one already. If it gets a deadline
    /// back it is the keeper and must come back then.
    pub(crate) fn sit(
        &mut self,
        seat: &mut Option<usize>,
        waker: &Waker,
        deadline: Option<Duration>,
    ) -> Option<Duration> {
        let seat = *seat.get_or_insert_with(|| self.free.pop().unwrap_or(self.seats.len()));
        if seat == self.seats.len() {
            self.seats.push(Seat::Free);
        }
        self.vacate(seat);
        if let (None, Some(deadline)) = (self.keeper, deadline) {
            self.seats[seat] = Seat::Keeper(waker.clone());
            self.keeper = Some(Keeper { seat, deadline });
            Some(deadline)
        } else {
            self.seats[seat] = Seat::Idle(waker.clone());
            self.idle.push(seat);
            None
        }
    }

    /// A worker goes away, with an item or without.
    pub(crate) fn leave(&mut self, seat: usize) {
        self.vacate(seat);
        self.free.push(seat);
    }

    /// Calls one to take an item: an idle one, else the keeper.
    pub(crate) fn call(&mut self) -> Option<Waker> {
        let keeper = self.keeper.map(|keeper| keeper.seat);
        let seat = self.idle.last().copied().or(keeper)?;
        self.call_seat(seat)
    }

    /// Calls one if nobody would be awake at `deadline`.
    pub(crate) fn call_for(&mut self, deadline: Duration) -> Option<Waker> {
        match self.keeper {
            Some(keeper) if keeper.deadline <= deadline => None,
            Some(keeper) => self.call_seat(keeper.seat),
            // One that was called looks at the deadline itself when it comes back.
            None if self.called > 0 => None,
            None => self.call(),
        }
    }

    pub(crate) fn call_all(&mut self) -> Vec<Waker> {
        std::iter::from_fn(|| self.call()).collect()
    }

    fn call_seat(&mut self, seat: usize) -> Option<Waker> {
        let before = self.vacate(seat);
        self.seats[seat] = Seat::Called;
        self.called += 1;
        match before {
            Seat::Idle(waker) | Seat::Keeper(waker) => Some(waker),
            Seat::Free | Seat::Called => None,
        }
    }

    fn vacate(&mut self, seat: usize) -> Seat {
        let before = mem::replace(&mut self.seats[seat], Seat::Free);
        match before {
            Seat::Free => {}
            Seat::Idle(_) => self.idle.retain(|idle| *idle != seat),
            Seat::Keeper(_) => self.keeper = None,
            Seat::Called => self.called -= 1,
        }
        before
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    const AT: Duration = Duration::from_secs(5);

    fn sit(sleepers: &mut Sleepers, deadline: Option<Duration>) -> (usize, Option<Duration>) {
        let mut seat = None;
        let alarm = sleepers.sit(&mut seat, Waker::noop(), deadline);
        (seat.expect("it sits"), alarm)
    }

    #[test]
    fn one_keeps_the_time_and_is_called_last() {
        let mut sleepers = Sleepers::default();
        let (keeper, alarm) = sit(&mut sleepers, Some(AT));
        assert_eq!(alarm, Some(AT));
        let (_, alarm) = sit(&mut sleepers, Some(AT));
        assert_eq!(alarm, None);
        assert!(sleepers.call().is_some());
        assert_eq!(sleepers.keeper.map(|it| it.seat), Some(keeper));
        assert!(sleepers.call().is_some());
        assert!(sleepers.call().is_none());
        assert_eq!(sleepers.called(), 2);
    }

    #[test]
    fn an_earlier_deadline_calls_the_keeper_and_a_later_one_nobody() {
        let mut sleepers = Sleepers::default();
        let _ = sit(&mut sleepers, Some(AT));
        assert!(sleepers.call_for(2 * AT).is_none());
        assert!(sleepers.call_for(AT / 2).is_some());
        assert!(sleepers.call_for(AT / 2).is_none(), "it is on its way");
    }

    #[test]
    fn when_the_keeper_leaves_another_is_called() {
        let mut sleepers = Sleepers::default();
        let (keeper, _) = sit(&mut sleepers, Some(AT));
        let _ = sit(&mut sleepers, Some(AT));
        sleepers.leave(keeper);
        assert!(sleepers.call_for(AT).is_some());
    }

    #[test]
    fn seats_are_used_again() {
        let mut sleepers = Sleepers::default();
        for _ in 0..100 {
            let (first, _) = sit(&mut sleepers, None);
            let (second, _) = sit(&mut sleepers, None);
            assert!(sleepers.call().is_some());
            sleepers.leave(first);
            sleepers.leave(second);
        }
        assert_eq!(
            (sleepers.seats.len(), sleepers.called(), sleepers.idle.len()),
            (2, 0, 0)
        );
    }
}
