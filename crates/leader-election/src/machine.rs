//! `Machine`: the decisions of one candidate, without I/O, clock or randomness of its own.
//!
//! It is polled with the time for what to do next, and told the answers. It has at most one request
//! under way. What it promises: between [`Output::BecameLeader`] and the time that this and later
//! [`Output::Renewed`] name, no other machine with a clock of a tolerated rate leads, as long as
//! everybody writes the lease with resource versions and nobody deletes it.
//!
//! Others' records are judged by when they were *seen* to change, on the own monotonic clock. The
//! own term is judged by when the last successful write was *sent*. Times in the record are for
//! people.

mod observed;
mod output;
mod record;
#[cfg(test)]
mod simulation;
mod step;
#[cfg(test)]
mod tests;

pub use output::LostReason;
pub(crate) use output::{Answer, Begun, Candidate, Counts, Now, Output};

use crate::random::Random;
use kubist_api::coordination::v1::Lease;
use kubist_apimachinery::Str;
use observed::Observed;
use record::Claim;
use std::collections::VecDeque;
use std::time::Instant;
use step::{Ask, Step};

#[derive(Debug)]
pub(crate) struct Machine {
    candidate: Candidate,
    random: Random,
    observed: Option<Observed>,
    /// The last claim that was sent, whether or not an answer came.
    claim: Option<Claim>,
    term: Option<TermState>,
    step: Step,
    /// Set by [`Self::stop`].
    stopping: Option<Stopping>,
    /// What happened since the last poll: at most a loss, a new holder and a beginning for each
    /// answer, and polls come between answers.
    happened: VecDeque<Output>,
    /// Why the last request failed.
    problem: Option<Str>,
    counts: Counts,
    /// The number of the present run.
    run: u64,
}

#[derive(Clone, Copy, Debug)]
struct TermState {
    transitions: i32,
    until: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Stopping {
    until: Instant,
    released: bool,
    done: bool,
    /// Whether somebody else wrote the lease between its read and its release.
    has_conflict: bool,
}

impl Machine {
    pub(crate) fn new(candidate: Candidate, now: Instant) -> Self {
        Self {
            random: Random::new(candidate.seed),
            candidate,
            observed: None,
            claim: None,
            term: None,
            step: Step::Waiting {
                until: now,
                read: true,
            },
            stopping: None,
            happened: VecDeque::new(),
            problem: None,
            counts: Counts::default(),
            run: 0,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Returns the number of the present run.
    pub(crate) fn run_number(&self) -> u64 {
        self.run
    }

    /// Begins again as a candidate who knows what it has observed. A term ends without a report.
    /// Returns the number of the run, so that answers to requests of an earlier one can be told
    /// apart.
    pub(crate) fn restart(&mut self, now: Instant) -> u64 {
        self.run += 1;
        self.term = None;
        self.stopping = None;
        self.happened.clear();
        self.wait(now, true);
        self.run
    }

    /// Returns what to do or what happened. Call it until it says to sleep.
    pub(crate) fn poll(&mut self, now: Now) -> Output {
        loop {
            self.end_term_if_over(now.instant);
            if let Some(event) = self.happened.pop_front() {
                return event;
            }
            if let Some(finished) = self.finished(now.instant) {
                return finished;
            }
            match self.step {
                Step::Waiting { until, .. } if now.instant < until => {
                    return Output::SleepUntil(self.or_deadline(until));
                }
                Step::Waiting { read, .. } => return self.begin(now, read),
                Step::Asking { give_up_at, .. } if now.instant < give_up_at => {
                    return Output::SleepUntil(self.or_deadline(give_up_at));
                }
                Step::Asking { sent, .. } => {
                    let waited = now.instant.saturating_duration_since(sent);
                    self.answered(
                        now,
                        Answer::Failed(format!("no answer in {waited:?}").into()),
                    );
                }
            }
        }
    }

    /// Takes the answer of the request that is under way.
    pub(crate) fn answered(&mut self, now: Now, answer: Answer) {
        self.end_term_if_over(now.instant);
        let Step::Asking { what, sent, .. } = self.step else {
            return; // the machine has given it up
        };
        self.wait(now.instant, true);
        if let Answer::Failed(problem) = &answer {
            self.counts.failures += 1;
            self.problem = Some(problem.clone());
        }
        match (what, answer) {
            (Ask::Read, Answer::Lease(lease)) => self.read(now, *lease),
            (Ask::Read, Answer::NotFound) => self.missing(now),
            (Ask::Release, Answer::Lease(lease)) => {
                self.observe(now.instant, *lease);
                self.finish(true);
            }
            (Ask::Release, Answer::NotFound) => self.finish(false),
            (_, Answer::Lease(lease)) => self.written(now, what, sent, *lease),
            // The record has changed, or perhaps it has: look again at once, but not for ever.
            (Ask::Release, Answer::Conflict) => {
                let before = self.stopping.as_mut();
                if before.is_some_and(|it| std::mem::replace(&mut it.has_conflict, true)) {
                    self.retry(now);
                }
            }
            (Ask::Renew { fast: true }, _) => self.counts.slow_paths += 1,
            (_, Answer::Conflict | Answer::NotFound | Answer::Failed(_)) => self.retry(now),
        }
    }

    /// Ends the term and gives the lease up if `release` is set and it may be held; the machine is
    /// [finished](Output::Finished) then, at the latest after the renew deadline.
    pub(crate) fn stop(&mut self, now: Instant, release: bool) {
        // Whatever was asked for may have been applied, or may be yet, so read first then.
        let is_certain = self.term.is_some() && matches!(self.step, Step::Waiting { .. });
        self.term = None;
        self.happened.clear();
        self.stopping = Some(Stopping {
            until: now + self.candidate.timing.renew_deadline,
            released: false,
            done: !release || self.claim.is_none(),
            has_conflict: false,
        });
        self.wait(now, !is_certain);
    }

    fn begin(&mut self, now: Now, read: bool) -> Output {
        let may_write = !read && (self.term.is_some() || self.stopping.is_some());
        let known = self.observed.as_ref().filter(|_| may_write);
        let (what, lease) = match known {
            None => return self.ask(now.instant, Ask::Read, Output::Read),
            Some(known) if self.stopping.is_some() => {
                (Ask::Release, record::released(&known.lease, now.time))
            }
            Some(known) => {
                let lease = record::renewed(&self.candidate, &known.lease, now.time);
                (Ask::Renew { fast: true }, lease)
            }
        };
        self.ask(now.instant, what, Output::Update(Box::new(lease)))
    }

    fn ask(&mut self, now: Instant, what: Ask, output: Output) -> Output {
        let give_up_at = now + self.candidate.timing.request_timeout();
        self.step = Step::Asking {
            what,
            sent: now,
            give_up_at: self.or_deadline(give_up_at),
        };
        output
    }

    /// Decides by a record that was read.
    fn read(&mut self, now: Now, lease: Lease) {
        self.observe(now.instant, lease);
        let Some(observed) = &self.observed else {
            return;
        };
        let is_own = self
            .claim
            .as_ref()
            .is_some_and(|it| it.made(&observed.lease));
        if self.stopping.is_some() {
            if is_own {
                self.wait(now.instant, false); // releases what it has read
            } else {
                let is_free = observed.holder().is_none();
                self.finish(is_free);
            }
            return;
        }
        if let Some(term) = self.term {
            if is_own && observed.transitions() == term.transitions {
                let lease = record::renewed(&self.candidate, &observed.lease, now.time);
                return self.write(now.instant, Ask::Renew { fast: false }, lease);
            }
            let holder = observed.holder().unwrap_or_default().into();
            self.lose(now.instant, LostReason::Superseded { holder });
            return self.retry(now);
        }
        if !is_own && observed.is_held_at(now.instant) {
            return self.retry(now);
        }
        let lease = record::acquired(&self.candidate, &observed.lease, now.time);
        self.acquire(now.instant, lease);
    }

    /// Decides what to do without a lease.
    fn missing(&mut self, now: Now) {
        if self.stopping.is_some() {
            return self.finish(false);
        }
        let known = self.observed.as_ref();
        if let (Some(_), Some(known)) = (self.term, known) {
            let lease = record::created_again(&self.candidate, &known.lease, now.time);
            return self.write(now.instant, Ask::Renew { fast: false }, lease);
        }
        // Who held the deleted lease may not know yet that it is gone.
        let is_own = |it: &Observed| {
            self.claim
                .as_ref()
                .is_some_and(|claim| claim.made(&it.lease))
        };
        if known.is_some_and(|it| !is_own(it) && it.is_held_at(now.instant)) {
            return self.retry(now);
        }
        let lease = record::created(&self.candidate, known.map(|it| &it.lease), now.time);
        self.acquire(now.instant, lease);
    }

    fn acquire(&mut self, now: Instant, lease: Lease) {
        self.claim = Some(Claim::of(&lease));
        self.write(now, Ask::Acquire, lease);
    }

    /// Sends a write with the next poll.
    fn write(&mut self, now: Instant, what: Ask, lease: Lease) {
        let has_version = !lease.metadata.resource_version.is_empty();
        let lease = Box::new(lease);
        let output = if has_version {
            Output::Update(lease)
        } else {
            Output::Create(lease)
        };
        let output = self.ask(now, what, output);
        self.happened.push_back(output);
    }

    /// Takes a write that was applied.
    fn written(&mut self, now: Now, what: Ask, sent: Instant, lease: Lease) {
        let until = sent + self.candidate.timing.renew_deadline;
        let begun = Begun {
            transitions: record::transitions(&lease),
            resource_version: lease.metadata.resource_version.clone(),
            until,
        };
        self.observe(now.instant, lease);
        self.problem = None;
        let next = now.instant + self.candidate.timing.retry_period;
        match (what, &mut self.term) {
            (Ask::Acquire, None) if now.instant < until => {
                self.term = Some(TermState {
                    transitions: begun.transitions,
                    until,
                });
                self.counts.terms += 1;
                self.happened.push_back(Output::BecameLeader(begun));
                self.wait(next, false);
            }
            (Ask::Renew { .. }, Some(term)) => {
                term.until = term.until.max(until);
                self.counts.renewals += 1;
                self.happened
                    .push_back(Output::Renewed { until: term.until });
                self.wait(next, false);
            }
            // The answer came after the term that it would have begun or prolonged: a new term
            // needs a write of its own.
            _ => {}
        }
    }

    fn observe(&mut self, now: Instant, lease: Lease) {
        let before = self.observed.as_ref().and_then(Observed::holder);
        let after = record::holder(&lease);
        if before != after {
            self.happened
                .push_back(Output::NewLeader(after.map(Str::from)));
        }
        match &mut self.observed {
            Some(observed) => observed.update(now, lease),
            None => self.observed = Some(Observed::new(now, lease)),
        }
    }

    fn end_term_if_over(&mut self, now: Instant) {
        if self.term.is_some_and(|it| now >= it.until) {
            let renew_deadline = self.candidate.timing.renew_deadline;
            let problem = self.problem.take();
            let reason = LostReason::DeadlineExceeded {
                renew_deadline,
                problem,
            };
            self.lose(now, reason);
        }
    }

    fn lose(&mut self, now: Instant, reason: LostReason) {
        self.term = None;
        // A renewal that was decided on, and not sent yet, belongs to the lost term.
        let is_unsent = |it: &Output| matches!(it, Output::Create(_) | Output::Update(_));
        if self.happened.iter().any(is_unsent) {
            self.wait(now, true);
        }
        self.happened
            .retain(|it| !is_unsent(it) && !matches!(it, Output::Renewed { .. }));
        self.happened.push_back(Output::Lost(reason));
    }

    /// Tries again after a pause, beginning with a read.
    fn retry(&mut self, now: Now) {
        let timing = self.candidate.timing;
        let pause = if self.term.is_some() || self.stopping.is_some() {
            timing.retry_period
        } else {
            timing.candidate_pause(self.random.share())
        };
        self.wait(now.instant + pause, self.term.is_none());
    }

    fn wait(&mut self, until: Instant, read: bool) {
        self.step = Step::Waiting { until, read };
    }

    fn finish(&mut self, released: bool) {
        if let Some(stopping) = &mut self.stopping {
            stopping.released = released;
            stopping.done = true;
        }
    }

    fn finished(&self, now: Instant) -> Option<Output> {
        let stopping = self.stopping?;
        (stopping.done || now >= stopping.until).then_some(Output::Finished {
            released: stopping.released,
        })
    }

    /// Returns the earlier of `at` and the end of the term.
    fn or_deadline(&self, at: Instant) -> Instant {
        let stop = self.stopping.map(|it| it.until);
        let ends = self.term.map(|it| it.until).into_iter().chain(stop);
        ends.fold(at, Instant::min)
    }
}
