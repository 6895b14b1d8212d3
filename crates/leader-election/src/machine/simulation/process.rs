//! A process: a machine, its clocks, and what has arrived while it was paused.

use crate::Term;
use crate::machine::{Answer, Candidate, Machine, Now};
use crate::random::Random;
use crate::timing::Timing;
use kubist_apimachinery::MicroTime;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Process {
    pub(super) machine: Machine,
    pub(super) term: Option<Term>,
    /// The request whose answer it waits for.
    pub(super) request: Option<u64>,
    pub(super) paused_until: u64,
    pub(super) cut_off_until: u64,
    /// Answers that arrived during a pause.
    pub(super) inbox: Vec<(u64, Answer)>,
    /// The timer that it has set last.
    pub(super) timer: u64,
    pub(super) name: String,
    /// In thousandths of true time's.
    rate: u64,
    /// The wall clock's error in seconds; it has no relation to anything.
    wall_error: i64,
    origin: Instant,
}

impl Process {
    /// `rates` are the slowest and the fastest clock's.
    pub(super) fn new(
        name: String,
        origin: Instant,
        rates: (u64, u64),
        random: &mut Random,
    ) -> Self {
        let rate = rates.0 + random.next() % (rates.1 - rates.0);
        let wall_error = i64::try_from(random.next() % 20_000).expect("it is small") - 10_000;
        let candidate = Candidate {
            identity: name.as_str().into(),
            timing: Timing::DEFAULT,
            labels: BTreeMap::new(),
            seed: random.next(),
        };
        Self {
            machine: Machine::new(candidate, origin),
            term: None,
            request: None,
            paused_until: 0,
            cut_off_until: 0,
            inbox: Vec::new(),
            timer: 0,
            name,
            rate,
            wall_error,
            origin,
        }
    }

    /// Returns what the process' clocks show at a true time in microseconds.
    pub(super) fn now(&self, at: u64) -> Now {
        let local = at * self.rate / 1_000;
        let seconds = i64::try_from(local / 1_000_000).expect("it is small");
        let nanos = i32::try_from(local % 1_000_000 * 1_000).expect("it is below a second");
        Now {
            instant: self.origin + Duration::from_micros(local),
            time: MicroTime::from_unix(seconds + self.wall_error, nanos),
        }
    }

    /// Returns the first true time at which the process' clock shows at least `instant`.
    pub(super) fn true_time(&self, instant: Instant) -> u64 {
        let local = instant.saturating_duration_since(self.origin).as_nanos();
        let local = u64::try_from(local.div_ceil(1_000)).expect("it is small");
        (local * 1_000).div_ceil(self.rate)
    }

    /// Reports whether its work may act at a true time, also if the process is paused.
    pub(super) fn holds(&self, at: u64) -> bool {
        let now = tokio::time::Instant::from_std(self.now(at).instant);
        self.term.as_ref().is_some_and(|it| it.is_held_at(now))
    }
}
