//! `Resync`: how resyncs are timed. `Resyncs`: when each handler's resync is due. Pure.

use crate::handler::RESYNC_MIN;
use std::time::Duration;

/// How resyncs are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resync {
    /// Each handler has exactly its own period, in milliseconds; without one it has no resyncs.
    #[default]
    Exact,
    /// client-go's behaviour, with the informer's own period (0: no handler has resyncs). Handlers
    /// without a period have this one; a period of 0 means no resyncs. A handler that is added
    /// before the start with a shorter period makes the informer check that often; one that is
    /// added after the start has no shorter period than the check. Periods are rounded up to the
    /// next check.
    Checked(Duration),
}

/// The resync times of handlers, which are identified by numbers of the caller's choice.
#[derive(Debug)]
pub(crate) struct Resyncs {
    mode: Resync,
    /// The check period; 0 in exact mode, or if no handler can have resyncs.
    check: Duration,
    /// The time of the next check, once started.
    next_check: Option<Duration>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    id: u64,
    asked: Duration,
    /// 0: none.
    period: Duration,
    next: Duration,
}

impl Resyncs {
    pub(crate) fn new(mode: Resync) -> Self {
        let check = match mode {
            Resync::Exact => Duration::ZERO,
            Resync::Checked(period) => period,
        };
        Self {
            mode,
            check,
            next_check: None,
            members: Vec::new(),
        }
    }

    /// Starts the clock.
    pub(crate) fn start(&mut self, now: Duration) {
        self.next_check = Some(now.saturating_add(self.check));
    }

    /// Adds a handler. The periods of others may change.
    pub(crate) fn join(&mut self, id: u64, asked: Option<Duration>, now: Duration) {
        let member = Member {
            id,
            asked: Duration::ZERO,
            period: Duration::ZERO,
            next: Duration::ZERO,
        };
        self.members.push(member);
        self.change(id, asked, now);
    }

    /// Changes a handler's period, by the rules for one that is added now. Its first resync is due
    /// after the new period.
    pub(crate) fn change(&mut self, id: u64, asked: Option<Duration>, now: Duration) {
        let asked = self.admitted(asked);
        let (mode, check) = (self.mode, self.check);
        for member in &mut self.members {
            if member.id == id {
                member.asked = asked;
            }
            member.period = match mode {
                _ if member.asked.is_zero() => Duration::ZERO,
                Resync::Exact => member.asked,
                Resync::Checked(_) if check.is_zero() => Duration::ZERO,
                Resync::Checked(_) => member.asked.max(check),
            };
            if member.id == id {
                member.next = now.saturating_add(member.period);
            }
        }
    }

    /// Returns the effective period for a requested one. Before the start it may shorten the check
    /// period.
    fn admitted(&mut self, asked: Option<Duration>) -> Duration {
        let asked = match (asked, self.mode) {
            (Some(asked), _) => asked,
            (None, Resync::Exact) => Duration::ZERO,
            (None, Resync::Checked(period)) => period,
        };
        if asked.is_zero() {
            return asked;
        }
        let asked = asked.max(RESYNC_MIN);
        if asked >= self.check {
            return asked;
        }
        if self.next_check.is_none() {
            self.check = asked;
        }
        self.check
    }

    /// Removes all other handlers.
    pub(crate) fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.members.retain(|member| keep(member.id));
    }

    /// Returns a handler's period; `None` if it has no resyncs.
    pub(crate) fn period(&self, id: u64) -> Option<Duration> {
        let member = self.members.iter().find(|member| member.id == id)?;
        (!member.period.is_zero()).then_some(member.period)
    }

    /// Returns when to call [`Self::take_due`] next.
    pub(crate) fn due(&self) -> Option<Duration> {
        let with_period = self.members.iter().filter(|it| !it.period.is_zero());
        let first = with_period.map(|it| it.next).min()?;
        match self.mode {
            Resync::Exact => Some(first),
            Resync::Checked(_) => {
                let check = self.next_check?;
                // The first check at which a resync is due.
                let looks = first.saturating_sub(check).as_nanos();
                let looks = looks.div_ceil(self.check.as_nanos().max(1));
                let looks = u32::try_from(looks).unwrap_or(u32::MAX);
                Some(check.saturating_add(self.check.saturating_mul(looks)))
            }
        }
    }

    /// Returns the handlers that are due now; each is due again after its period.
    pub(crate) fn take_due(&mut self, now: Duration) -> Vec<u64> {
        if let (Resync::Checked(_), Some(check)) = (self.mode, self.next_check) {
            if now < check || self.check.is_zero() {
                return Vec::new();
            }
            let looks = now.saturating_sub(check).as_nanos() / self.check.as_nanos() + 1;
            let looks = u32::try_from(looks).unwrap_or(u32::MAX);
            self.next_check = Some(check.saturating_add(self.check.saturating_mul(looks)));
        }
        let mut due = Vec::new();
        for member in &mut self.members {
            if !member.period.is_zero() && member.next <= now {
                member.next = now.saturating_add(member.period);
                due.push(member.id);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn periods(resyncs: &Resyncs, members: u64) -> Vec<u64> {
        let period = |id| resyncs.period(id).map_or(0, |it| it.as_secs());
        (0..members).map(period).collect()
    }

    /// Returns which handlers are due, and when, in seconds, until `end`.
    fn observed(resyncs: &mut Resyncs, end: u64) -> Vec<(u64, Vec<u64>)> {
        let mut observed = Vec::new();
        while let Some(due) = resyncs.due().filter(|due| *due <= seconds(end)) {
            observed.push((due.as_secs(), resyncs.take_due(due)));
        }
        observed
    }

    #[test]
    fn a_shorter_period_before_the_start_is_looked_for_by_all() {
        let mut resyncs = Resyncs::new(Resync::Checked(seconds(12 * 3600)));
        for (id, asked, expected) in [
            (0, 0, vec![0]),
            (1, 60, vec![0, 60]),
            (2, 55, vec![0, 60, 55]),
            (3, 5, vec![0, 60, 55, 5]),
        ] {
            resyncs.join(id, Some(seconds(asked)), Duration::ZERO);
            assert_eq!(periods(&resyncs, id + 1), expected);
        }
        assert_eq!(resyncs.check, seconds(5));
    }

    #[test]
    fn a_shorter_period_after_the_start_is_raised_to_when_the_informer_looks() {
        let mut resyncs = Resyncs::new(Resync::Checked(seconds(30)));
        resyncs.join(0, None, Duration::ZERO);
        resyncs.start(Duration::ZERO);
        resyncs.join(1, Some(seconds(5)), seconds(10));
        resyncs.join(2, Some(seconds(40)), seconds(10));
        assert_eq!(periods(&resyncs, 3), [30, 30, 40]);
        // It checks at 30, 60, 90 …; handlers that are due at 40 or 50 are resynced at 60.
        assert_eq!(
            observed(&mut resyncs, 120),
            [
                (30, vec![0]),
                (60, vec![0, 1, 2]),
                (90, vec![0, 1]),
                (120, vec![0, 1, 2])
            ]
        );
    }

    #[test]
    fn periods_are_rounded_up_to_when_the_informer_looks() {
        let mut resyncs = Resyncs::new(Resync::Checked(seconds(2)));
        resyncs.join(0, Some(seconds(2)), Duration::ZERO);
        resyncs.join(1, Some(seconds(3)), Duration::ZERO);
        resyncs.start(Duration::ZERO);
        let seen: Vec<_> = observed(&mut resyncs, 12)
            .into_iter()
            .filter(|(_, who)| who.contains(&1))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(seen, [4, 8, 12]);
    }

    /// Contract INF-11.
    #[test]
    fn an_informer_without_a_period_has_no_resyncs_and_a_second_is_the_least() {
        let mut resyncs = Resyncs::new(Resync::Checked(Duration::ZERO));
        resyncs.join(0, Some(seconds(5)), Duration::ZERO);
        resyncs.join(1, None, Duration::ZERO);
        resyncs.start(Duration::ZERO);
        assert_eq!((periods(&resyncs, 2), resyncs.due()), (vec![0, 0], None));

        for mode in [Resync::Exact, Resync::Checked(seconds(10))] {
            let mut resyncs = Resyncs::new(mode);
            resyncs.join(0, Some(Duration::from_millis(1)), Duration::ZERO);
            assert_eq!(resyncs.period(0), Some(RESYNC_MIN));
        }
    }

    /// Contract INF-11.
    #[test]
    fn a_changed_period_follows_the_rules_of_a_new_handler_and_counts_from_the_change() {
        let mut resyncs = Resyncs::new(Resync::Checked(seconds(10)));
        resyncs.join(0, Some(seconds(30)), Duration::ZERO);
        resyncs.join(1, None, Duration::ZERO);
        resyncs.change(0, Some(seconds(4)), Duration::ZERO);
        assert_eq!(
            (periods(&resyncs, 2), resyncs.check),
            (vec![4, 10], seconds(4))
        );
        resyncs.start(Duration::ZERO);
        assert_eq!(observed(&mut resyncs, 8), [(4, vec![0]), (8, vec![0])]);
        // After the start no handler has a shorter period than the check.
        resyncs.change(0, Some(seconds(1)), seconds(9));
        resyncs.change(1, Some(seconds(6)), seconds(9));
        assert_eq!(periods(&resyncs, 2), [4, 6]);
        assert_eq!(observed(&mut resyncs, 16), [(16, vec![0, 1])]);
        resyncs.change(0, Some(Duration::ZERO), seconds(16));
        resyncs.change(1, None, seconds(16));
        assert_eq!(periods(&resyncs, 2), [0, 10]);
        assert_eq!(observed(&mut resyncs, 28), [(28, vec![1])]);

        let mut exact = Resyncs::new(Resync::Exact);
        exact.join(0, None, Duration::ZERO);
        exact.start(Duration::ZERO);
        exact.change(0, Some(Duration::from_millis(20)), seconds(5));
        assert_eq!(exact.period(0), Some(RESYNC_MIN));
        assert_eq!(exact.due(), Some(seconds(6)));
        exact.change(0, None, seconds(6));
        assert_eq!(exact.due(), None);
    }

    #[test]
    fn exact_periods_are_each_handlers_own_whenever_it_comes() {
        let mut resyncs = Resyncs::new(Resync::Exact);
        resyncs.join(0, Some(seconds(10)), Duration::ZERO);
        resyncs.join(1, None, Duration::ZERO);
        resyncs.start(Duration::ZERO);
        resyncs.join(2, Some(seconds(3)), seconds(4));
        assert_eq!(
            observed(&mut resyncs, 13),
            [(7, vec![2]), (10, vec![0, 2]), (13, vec![2])]
        );
        resyncs.retain(|id| id != 2);
        assert_eq!(resyncs.due(), Some(seconds(20)));
    }
}
