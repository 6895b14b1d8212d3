//! `Missed`: which times of a schedule have come since the last Job. It has no clock.

use super::schedule::Schedule;
use kubist_api::batch::v1::CronJob;
use kubist_apimachinery::Time;

/// The times that have come since the last Job.
pub(super) struct Missed {
    pub(super) last: Option<Time>,
    /// About how many.
    pub(super) number: i64,
}

impl Missed {
    /// Looks for them; none if there are no times at all.
    pub(super) fn of(cron: &CronJob, schedule: &Schedule, now: Time) -> Option<Self> {
        let created = cron.metadata.creation_timestamp.unwrap_or(now);
        let mut since = cron.status.last_schedule_time.unwrap_or(created);
        if let Some(seconds) = cron.spec.starting_deadline_seconds {
            let deadline = now.unix().saturating_sub(seconds);
            since = since.max(Time::from_unix(deadline));
        }
        let first = schedule.next(since)?;
        if first > now {
            return Some(Self {
                last: None,
                number: 0,
            });
        }
        // `next` grows with its argument: the last second whose next time has come is found by
        // halving.
        let has_come = |it: i64| schedule.next(Time::from_unix(it)).filter(|it| *it <= now);
        let (mut low, mut high, mut last) = (first.unix(), now.unix(), first);
        while low < high {
            let middle = low + (high - low) / 2;
            match has_come(middle) {
                Some(time) => (low, last) = (middle + 1, time),
                None => high = middle,
            }
        }
        let span = schedule.next(first)?.unix() - first.unix();
        let number = (now.unix() - first.unix()) / span.max(1) + 1;
        Some(Self {
            last: Some(last),
            number,
        })
    }
}
