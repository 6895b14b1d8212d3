//! `RuleBuilder`: a rule that is being written.

use super::Faults;
use super::effect::{Effect, Failure};
use super::requests::Requests;
use super::rule::{Bounds, Rule};
use std::time::Duration;

/// A rule that is being written: bounds first, then one effect, which adds it.
///
/// Without bounds, a rule acts on every matching request until it is lifted.
#[derive(Debug)]
#[must_use = "a rule is added by its effect, such as `fail`"]
pub struct RuleBuilder<'a> {
    faults: &'a Faults,
    requests: Requests,
    bounds: Bounds,
}

impl<'a> RuleBuilder<'a> {
    pub(crate) fn new(faults: &'a Faults, requests: Requests) -> Self {
        Self {
            faults,
            requests,
            bounds: Bounds::default(),
        }
    }

    /// Acts on this many requests, or events of watches. Default: no limit.
    pub fn times(mut self, times: u64) -> Self {
        self.bounds.times = Some(times);
        self
    }

    /// Acts on one request.
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// Leaves the first ones alone: `skip(2).once()` acts on the third. Default: 0.
    pub fn skip(mut self, requests: u64) -> Self {
        self.bounds.skip = requests;
        self
    }

    /// Acts for this time from now, on tokio's clock. Default: no limit.
    pub fn lasting(mut self, time: Duration) -> Self {
        self.bounds.lasting = Some(time);
        self
    }

    /// Makes [`Faults::check`] fail if the rule never acts.
    pub fn must_act(mut self) -> Self {
        self.bounds.must_match = true;
        self
    }

    /// Requests are not done, and answered with this failure. The client retries 429, and 5xx with
    /// a time, as it does in a cluster.
    pub fn fail(self, failure: Failure) -> Rule {
        self.add(Effect::Fail(failure))
    }

    /// Requests are done, and answered with this failure nevertheless: a 504 after the write.
    pub fn fail_after(self, failure: Failure) -> Rule {
        self.add(Effect::FailAfter(failure))
    }

    /// Requests are not done, and their connection breaks.
    pub fn break_before(self) -> Rule {
        self.add(Effect::Break)
    }

    /// Requests are done, and their connection breaks before the answer.
    pub fn break_after(self) -> Rule {
        self.add(Effect::BreakAfter)
    }

    /// Requests are not done, and never answered: they wait until the connection breaks, as by
    /// [`Faults::restart_server`].
    pub fn hang(self) -> Rule {
        self.add(Effect::Hang)
    }

    /// Requests are served later, by this time on tokio's clock.
    pub fn delay(self, time: Duration) -> Rule {
        self.add(Effect::Delay(time))
    }

    /// The connection of a watch breaks in place of its next event. The client resumes it, and gets
    /// the event then.
    pub fn cut_watches(self) -> Rule {
        self.add(Effect::EndWatch(None))
    }

    /// A watch ends with a failure in place of its next event: after 410, the client lists again
    /// and sees only what is there then.
    pub fn end_watches(self, failure: Failure) -> Rule {
        self.add(Effect::EndWatch(Some(failure)))
    }

    /// Watches get no events until the rule is lifted or its time is over; then all of them.
    pub fn hold_watches(self) -> Rule {
        self.add(Effect::HoldWatch)
    }

    /// Watches get no bookmarks, except the one that ends a streaming list.
    pub fn drop_bookmarks(self) -> Rule {
        self.add(Effect::DropBookmarks)
    }

    /// Lists and watches are behind by this many revisions, as of an API server whose cache is, but
    /// not before the oldest revision that the server knows: one that began with a snapshot file
    /// knows none before it. Reads of single objects are current, as upstream's.
    pub fn lag(self, revisions: u64) -> Rule {
        let gets = false;
        self.add(Effect::LagBy { revisions, gets })
    }

    /// As [`lag`](Self::lag), and reads of single objects are behind, too.
    pub fn lag_with_gets(self, revisions: u64) -> Rule {
        let gets = true;
        self.add(Effect::LagBy { revisions, gets })
    }

    /// Lists see this revision and watches nothing later, until the rule is lifted or its time is
    /// over.
    pub fn stand_still_at(self, revision: u64) -> Rule {
        let gets = false;
        self.add(Effect::StandAt { revision, gets })
    }

    fn add(self, effect: Effect) -> Rule {
        let rule = Rule::new(self.requests, effect, self.bounds);
        self.faults.add(rule.clone());
        rule
    }
}
