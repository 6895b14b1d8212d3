//! Random events and outcomes against what must hold whatever happens.

use super::tests::event;
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Step {
    Observe {
        object: u8,
        reason: u8,
    },
    /// Polls, and writes if it is told to.
    Poll,
    /// Reports the outcome of one of the writes under way.
    Report {
        which: usize,
        outcome: Outcome,
    },
    Pass {
        seconds: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Done),
        1 => Just(Outcome::Missing),
        1 => Just(Outcome::Rejected),
        2 => Just(Outcome::Failed { after: None }),
    ];
    let step = prop_oneof![
        5 => (0..4u8, 0..4u8).prop_map(|(object, reason)| Step::Observe { object, reason }),
        6 => Just(Step::Poll),
        4 => (any::<usize>(), outcome).prop_map(|(which, outcome)| Step::Report { which, outcome }),
        2 => (1..500u64).prop_map(|seconds| Step::Pass { seconds }),
    ];
    vec(step, 1..300)
}

fn config() -> EventBroadcasterConfig {
    EventBroadcasterConfig {
        waiting_writes_max: 6,
        concurrent_writes_max: 2,
        remembered_max: 5,
        attempts_max: 3,
        burst: 4,
        ..EventBroadcasterConfig::default()
    }
}

/// The server, and the writes that were sent to it.
struct World {
    correlator: Correlator,
    now: Instant,
    begin: Instant,
    under_way: Vec<(EntryId, Write)>,
    /// The count of each event that was created and not deleted.
    stored: BTreeMap<String, i32>,
    names: i64,
}

impl World {
    fn new(config: EventBroadcasterConfig) -> Self {
        let begin = tokio::time::Instant::now().into_std();
        Self {
            correlator: Correlator::new(config, 1, begin),
            now: begin,
            begin,
            under_way: Vec::new(),
            stored: BTreeMap::new(),
            names: 0,
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Observe { object, reason } => {
                self.names += 1;
                let event = event(&object.to_string(), &reason.to_string(), self.names);
                self.correlator.observe(self.now, event);
            }
            Step::Poll => {
                if let Output::Write(id, write) = self.correlator.poll(self.now) {
                    self.under_way.push((id, write));
                }
            }
            Step::Report { which, outcome } if !self.under_way.is_empty() => {
                let index = which % self.under_way.len();
                let (id, write) = self.under_way.remove(index);
                self.apply(&write, outcome);
                let outcome = match (&write, outcome) {
                    (Write::Create(_), Outcome::Missing) => Outcome::Rejected,
                    _ => outcome,
                };
                self.correlator.written(self.now, id, outcome);
            }
            Step::Report { .. } => {}
            Step::Pass { seconds } => self.now += Duration::from_secs(seconds),
        }
    }

    fn apply(&mut self, write: &Write, outcome: Outcome) {
        match (write, outcome) {
            (Write::Create(event), Outcome::Done) => {
                let count = event.series.as_ref().map_or(1, |it| it.count);
                assert_ne!(count, 0);
                self.stored.insert(event.metadata.name.to_string(), count);
            }
            (Write::Patch { name, series, .. }, Outcome::Done) => {
                let count = self.stored.get_mut(&**name).expect("it was created");
                assert!(
                    series.count > *count,
                    "counts rise: {count} to {}",
                    series.count
                );
                *count = series.count;
            }
            (Write::Patch { name, .. }, Outcome::Missing) => {
                self.stored.remove(&**name);
            }
            _ => {}
        }
    }

    fn check(&self) {
        let ids: BTreeSet<EntryId> = self.under_way.iter().map(|(id, _)| *id).collect();
        assert_eq!(
            ids.len(),
            self.under_way.len(),
            "one write of an event at a time"
        );
        let config = &self.correlator.config;
        assert!(self.under_way.len() <= config.concurrent_writes_max);
        assert!(self.correlator.waiting.len() <= config.waiting_writes_max);
        assert!(self.correlator.series.len() <= config.remembered_max);
        let entries_max =
            config.remembered_max + config.waiting_writes_max + config.concurrent_writes_max;
        assert!(self.correlator.entries.len() <= entries_max);
    }

    /// Reports all writes as done until nothing is left.
    fn finish(&mut self) {
        self.correlator.drain(self.now);
        loop {
            match self.correlator.poll(self.now) {
                Output::Write(id, write) => self.under_way.push((id, write)),
                Output::SleepUntil(_) if self.under_way.is_empty() => break,
                Output::SleepUntil(_) => {
                    let outcome = Outcome::Done;
                    self.step(Step::Report { which: 0, outcome });
                }
            }
            self.check();
        }
        assert!(self.correlator.is_idle());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Contract EVENT-2, EVENT-3.
    #[test]
    fn bounds_hold_and_nothing_is_left_at_the_end(steps in steps()) {
        let mut world = World::new(config());
        for step in steps {
            world.step(step);
            world.check();
        }
        world.finish();
        world.now += config().finish_after;
        prop_assert!(matches!(world.correlator.poll(world.now), Output::SleepUntil(_)));
        prop_assert_eq!(world.correlator.entries.len(), 0, "nothing is remembered");
    }

    /// Contract EVENT-1. With a server that accepts everything and a queue that is long enough,
    /// every event is in the count of one that is stored, unless its object had too many.
    #[test]
    fn every_event_is_accounted_for(steps in steps()) {
        let mut world = World::new(EventBroadcasterConfig {
            waiting_writes_max: 1_000,
            ..config()
        });
        let mut observed = 0;
        for step in steps {
            observed += u64::from(matches!(step, Step::Observe { .. }));
            world.step(match step {
                Step::Report { which, .. } => Step::Report { which, outcome: Outcome::Done },
                step => step,
            });
        }
        world.finish();
        let stored: i32 = world.stored.values().sum();
        let stored = u64::try_from(stored).expect("it is a sum of counts");
        let stats = world.correlator.stats();
        prop_assert_eq!((stats.given_up, stats.dropped), (0, 0));
        prop_assert_eq!(observed, stored + stats.filtered);
        prop_assert_eq!(stats.created, u64::try_from(world.stored.len()).expect("it is small"));
    }

    /// The writes of new events and new series are as many as the token buckets allow; the others
    /// are one for each series and half hour, and one for the end of each series.
    #[test]
    fn an_object_cannot_cause_more_creates_than_it_has_tokens(steps in steps()) {
        let mut world = World::new(config());
        for step in steps {
            world.step(match step {
                Step::Observe { reason, .. } => Step::Observe { object: 0, reason },
                Step::Report { which, .. } => Step::Report { which, outcome: Outcome::Done },
                step => step,
            });
        }
        let elapsed = (world.now - world.begin).as_secs();
        let tokens = u64::from(config().burst) + elapsed / config().refill.as_secs() + 1;
        let stats = world.correlator.stats();
        prop_assert!(stats.created <= tokens, "{} of {tokens}", stats.created);
    }
}
