//! What is done to the servers: one after another is killed and started again, or paused.

use super::fleet::{Fleet, SERVERS};
use super::record::Record;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a killed server stays away.
const AWAY: Duration = Duration::from_secs(10);
/// How long a server is paused: longer than a user waits for an answer.
const PAUSED: Duration = Duration::from_secs(15);
/// The time between two troubles: a part of the whole, within these bounds.
const PERIODS: u32 = 30;
const PERIOD_MIN: Duration = Duration::from_secs(30);
const PERIOD_MAX: Duration = Duration::from_secs(120);

/// The one who makes trouble.
pub(super) struct Trouble<'a> {
    fleet: &'a Fleet,
    record: &'a Record,
    duration: Duration,
    kills: AtomicU64,
    pauses: AtomicU64,
}

impl<'a> Trouble<'a> {
    pub(super) fn new(fleet: &'a Fleet, record: &'a Record, duration: Duration) -> Self {
        Self {
            fleet,
            record,
            duration,
            kills: AtomicU64::new(0),
            pauses: AtomicU64::new(0),
        }
    }

    /// Goes on until a time.
    pub(super) fn run(&self, until: Instant) {
        let begin = Instant::now();
        let period = (self.duration / PERIODS).clamp(PERIOD_MIN, PERIOD_MAX);
        for turn in 0.. {
            // The last one is over before the end.
            if Instant::now() + period + AWAY.max(PAUSED) > until {
                return;
            }
            std::thread::sleep(period);
            let number = turn / 2 % SERVERS;
            if turn % 2 == 1 {
                self.pause(number);
                continue;
            }
            // From then on the first one grows old.
            let is_early = begin.elapsed() < self.duration / 3;
            if !self.kill(if is_early { number } else { SERVERS - 1 }) {
                return;
            }
        }
    }

    /// Returns whether the server runs again.
    fn kill(&self, number: usize) -> bool {
        self.kills.fetch_add(1, Ordering::Relaxed);
        self.record.say(&format!("server {} is killed", number + 1));
        self.fleet.kill(number);
        std::thread::sleep(AWAY);
        let started = self.fleet.restart(number);
        if let Err(error) = &started {
            let number = number + 1;
            self.record
                .fail(&format!("server {number} does not start again: {error}"));
        }
        started.is_ok()
    }

    fn pause(&self, number: usize) {
        self.pauses.fetch_add(1, Ordering::Relaxed);
        self.record.say(&format!("server {} is paused", number + 1));
        self.fleet.signal(number, "-STOP");
        std::thread::sleep(PAUSED);
        self.fleet.signal(number, "-CONT");
    }

    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let row = |name: &str, count: &AtomicU64| {
            (name.to_owned(), count.load(Ordering::Relaxed).to_string())
        };
        vec![
            row("servers killed", &self.kills),
            row("servers paused", &self.pauses),
        ]
    }
}
