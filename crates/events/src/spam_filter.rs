//! `SpamFilter`: how many writes the events of one object may cause.

use crate::event_key::ObjectKey;
use crate::recent::Recent;
use std::time::{Duration, Instant};

/// A token bucket for each source and object. client-go's `EventSourceObjectSpamFilter`, which
/// counts every event; this one counts those that cause a write.
#[derive(Debug)]
pub(crate) struct SpamFilter {
    burst: u32,
    refill: Duration,
    /// For each object, when its bucket is full again.
    full_at: Recent<ObjectKey, Instant>,
    objects_max: usize,
}

impl SpamFilter {
    pub(crate) fn new(burst: u32, refill: Duration, objects_max: usize) -> Self {
        Self {
            burst,
            refill,
            full_at: Recent::new(),
            objects_max,
        }
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&mut self, now: Instant, object: &ObjectKey) -> bool {
        let limit = now + self.refill.saturating_mul(self.burst);
        if let Some(full_at) = self.full_at.touch(object) {
            let next = (*full_at).max(now) + self.refill;
            let is_allowed = next <= limit;
            if is_allowed {
                *full_at = next;
            }
            return is_allowed;
        }
        if self.full_at.len() >= self.objects_max {
            self.full_at.remove_oldest();
        }
        self.full_at.insert(object.clone(), now + self.refill);
        now + self.refill <= limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_key::EventKey;
    use kubist_api::events::v1::Event;

    fn object(name: &str) -> ObjectKey {
        let mut event = Event::default();
        event.regarding.name = name.into();
        EventKey::of(&event).object().clone()
    }

    #[test]
    fn twenty_five_pass_at_once_and_then_one_each_five_minutes() {
        let refill = Duration::from_mins(5);
        let mut filter = SpamFilter::new(25, refill, 2);
        let begin = tokio::time::Instant::now().into_std();
        let web = object("web");
        let passed =
            |filter: &mut SpamFilter, now| (0..100).filter(|_| filter.take(now, &web)).count();
        assert_eq!(passed(&mut filter, begin), 25);
        assert_eq!(
            passed(
                &mut filter,
                begin + refill.saturating_sub(Duration::from_nanos(1))
            ),
            0
        );
        assert_eq!(passed(&mut filter, begin + refill), 1);
        assert_eq!(passed(&mut filter, begin + refill * 4), 3);
        assert_eq!(passed(&mut filter, begin + refill * 1_000), 25);
    }

    #[test]
    fn each_object_has_its_own_tokens_and_the_oldest_are_forgotten() {
        let mut filter = SpamFilter::new(1, Duration::from_secs(1), 2);
        let now = tokio::time::Instant::now().into_std();
        let takes = ["a", "b", "a", "c", "b"].map(|name| filter.take(now, &object(name)));
        // `b` was forgotten for `c`.
        assert_eq!(takes, [true, true, false, true, true]);
        assert_eq!(filter.full_at.len(), 2);
    }
}
