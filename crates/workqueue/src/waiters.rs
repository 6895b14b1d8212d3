//! The workers that wait for an item, and which of them owns the timer.
//!
//! A worker is woken only if there is an item for it, or to take over the timer. There is one timer
//! for the whole queue, in the worker that is the *timer owner*. A worker that leaves, with an item
//! or cancelled, leaves no wake-up unused if [`Waiters::wake_one`] is called afterwards.
//!
//! It calls no wakers: it returns them, to be called after the lock is released. Workers that
//! started to wait last are woken first, because their caches are warm.

use std::mem;
use std::task::Waker;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Waiters {
    entries: Vec<Waiter>,
    free: Vec<usize>,
    idle: Vec<usize>,
    timer_owner: Option<TimerOwner>,
    woken: usize,
}

#[derive(Debug, Clone, Copy)]
struct TimerOwner {
    index: usize,
    /// The deadline of its timer.
    deadline: Duration,
}

#[derive(Debug)]
enum Waiter {
    Free,
    /// Waits until woken.
    Idle(Waker),
    /// Waits until woken or until its timer fires.
    TimerOwner(Waker),
    /// Was woken and has not returned yet.
    Woken,
}

impl Waiters {
    /// Returns how many were woken and have not returned.
    pub(crate) fn woken(&self) -> usize {
        self.woken
    }

    /// Reports whether any worker waits that was not woken.
    pub(crate) fn any_waiting(&self) -> bool {
        !self.idle.is_empty() || self.timer_owner.is_some()
    }

    /// Registers a worker that found nothing, at `index` if it has one already. If a deadline is
    /// returned, the worker owns the timer and must return then.
    pub(crate) fn register(
        &mut self,
        index: &mut Option<usize>,
        waker: &Waker,
        deadline: Option<Duration>,
    ) -> Option<Duration> {
        let index = *index.get_or_insert_with(|| self.free.pop().unwrap_or(self.entries.len()));
        if index == self.entries.len() {
            self.entries.push(Waiter::Free);
        }
        self.vacate(index);
        if let (None, Some(deadline)) = (self.timer_owner, deadline) {
            self.entries[index] = Waiter::TimerOwner(waker.clone());
            self.timer_owner = Some(TimerOwner { index, deadline });
            Some(deadline)
        } else {
            self.entries[index] = Waiter::Idle(waker.clone());
            self.idle.push(index);
            None
        }
    }

    /// Removes a worker, with an item or without.
    pub(crate) fn leave(&mut self, index: usize) {
        self.vacate(index);
        self.free.push(index);
    }

    /// Wakes one worker to take an item: an idle one, else the timer owner.
    pub(crate) fn wake_one(&mut self) -> Option<Waker> {
        let timer_owner = self.timer_owner.map(|timer_owner| timer_owner.index);
        let index = self.idle.last().copied().or(timer_owner)?;
        self.wake(index)
    }

    /// Wakes one worker if none would be awake at `deadline`.
    pub(crate) fn wake_for(&mut self, deadline: Duration) -> Option<Waker> {
        match self.timer_owner {
            Some(timer_owner) if timer_owner.deadline <= deadline => None,
            Some(timer_owner) => self.wake(timer_owner.index),
            // A woken worker checks the deadline itself when it returns.
            None if self.woken > 0 => None,
            None => self.wake_one(),
        }
    }

    pub(crate) fn wake_all(&mut self) -> Vec<Waker> {
        std::iter::from_fn(|| self.wake_one()).collect()
    }

    fn wake(&mut self, index: usize) -> Option<Waker> {
        let before = self.vacate(index);
        self.entries[index] = Waiter::Woken;
        self.woken += 1;
        match before {
            Waiter::Idle(waker) | Waiter::TimerOwner(waker) => Some(waker),
            Waiter::Free | Waiter::Woken => None,
        }
    }

    fn vacate(&mut self, index: usize) -> Waiter {
        let before = mem::replace(&mut self.entries[index], Waiter::Free);
        match before {
            Waiter::Free => {}
            // Those that are woken are at the end; only one that gives up is further ahead.
            Waiter::Idle(_) => {
                if let Some(at) = self.idle.iter().rposition(|idle| *idle == index) {
                    self.idle.remove(at);
                }
            }
            Waiter::TimerOwner(_) => self.timer_owner = None,
            Waiter::Woken => self.woken -= 1,
        }
        before
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    const AT: Duration = Duration::from_secs(5);

    fn register(waiters: &mut Waiters, deadline: Option<Duration>) -> (usize, Option<Duration>) {
        let mut index = None;
        let timer = waiters.register(&mut index, Waker::noop(), deadline);
        (index.expect("it is registered"), timer)
    }

    #[test]
    fn one_owns_the_timer_and_is_woken_last() {
        let mut waiters = Waiters::default();
        let (timer_owner, timer) = register(&mut waiters, Some(AT));
        assert_eq!(timer, Some(AT));
        let (_, timer) = register(&mut waiters, Some(AT));
        assert_eq!(timer, None);
        assert!(waiters.wake_one().is_some());
        assert_eq!(waiters.timer_owner.map(|it| it.index), Some(timer_owner));
        assert!(waiters.wake_one().is_some());
        assert!(waiters.wake_one().is_none());
        assert_eq!(waiters.woken(), 2);
    }

    #[test]
    fn an_earlier_deadline_wakes_the_timer_owner_and_a_later_one_none() {
        let mut waiters = Waiters::default();
        let _ = register(&mut waiters, Some(AT));
        assert!(waiters.wake_for(2 * AT).is_none());
        assert!(waiters.wake_for(AT / 2).is_some());
        assert!(waiters.wake_for(AT / 2).is_none(), "it is on its way");
    }

    #[test]
    fn when_the_timer_owner_leaves_another_is_woken() {
        let mut waiters = Waiters::default();
        let (timer_owner, _) = register(&mut waiters, Some(AT));
        let _ = register(&mut waiters, Some(AT));
        waiters.leave(timer_owner);
        assert!(waiters.wake_for(AT).is_some());
    }

    #[test]
    fn seats_are_used_again() {
        let mut waiters = Waiters::default();
        for _ in 0..100 {
            let (first, _) = register(&mut waiters, None);
            let (second, _) = register(&mut waiters, None);
            assert!(waiters.wake_one().is_some());
            waiters.leave(first);
            waiters.leave(second);
        }
        assert_eq!(
            (waiters.entries.len(), waiters.woken(), waiters.idle.len()),
            (2, 0, 0)
        );
    }
}
