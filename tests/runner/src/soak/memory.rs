//! The resident memory of the two servers, over time.
//!
//! The first third is what a server needs to become warm. From then on the first server is not
//! killed any more, and its memory may not grow: the most of the last third is compared with the
//! most of the middle third. The second server is killed again and again at the same distance, so
//! both thirds have lives of the same ages, and the same rule compares them.

use super::fleet::{Fleet, SERVERS};
use super::record::Record;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last third, in percent of the middle third.
const PERCENT_MAX: u64 = 115;
/// The longest time between two samples.
const SAMPLE: Duration = Duration::from_secs(30);

/// All samples.
pub(super) struct Memory {
    duration: Duration,
    /// The time since the begin, and kilobytes, of each server.
    samples: Mutex<[Vec<(Duration, u64)>; SERVERS]>,
}

impl Memory {
    pub(super) fn new(duration: Duration) -> Self {
        Self {
            duration,
            samples: Mutex::default(),
        }
    }

    fn samples(&self) -> MutexGuard<'_, [Vec<(Duration, u64)>; SERVERS]> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes samples until a time. A server that ended by itself is a broken promise.
    pub(super) fn run(&self, fleet: &Fleet, record: &Record, until: Instant) {
        let begin = Instant::now();
        let pause = SAMPLE.min(self.duration / 60);
        while Instant::now() < until {
            for number in 0..SERVERS {
                match fleet.memory(number) {
                    // Nobody killed it.
                    Some(0) => record.fail(&format!("server {} has ended", number + 1)),
                    Some(kilobytes) => self.samples()[number].push((begin.elapsed(), kilobytes)),
                    None => {}
                }
            }
            std::thread::sleep(pause);
        }
    }

    /// The most of each third, in kilobytes.
    fn thirds(&self, samples: &[(Duration, u64)]) -> [u64; 3] {
        let mut most = [0; 3];
        for (time, kilobytes) in samples {
            let third = (time.as_millis() * 3 / self.duration.as_millis().max(1)).min(2);
            let third = usize::try_from(third).unwrap_or(2);
            most[third] = most[third].max(*kilobytes);
        }
        most
    }

    pub(super) fn judge(&self, record: &Record) {
        for (number, samples) in self.samples().iter().enumerate() {
            let [_, middle, last] = self.thirds(samples);
            let percent = last * 100 / middle.max(1);
            if percent > PERCENT_MAX {
                let number = number + 1;
                record.fail(&format!(
                    "the memory of server {number} grew to {percent} %, from \
                     {middle} kB in the middle third to {last} kB in the last"
                ));
            }
        }
    }

    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let samples = self.samples();
        let rows = samples.iter().enumerate().map(|(number, samples)| {
            let megabytes = self.thirds(samples).map(|it| (it / 1_000).to_string());
            let name = format!("most memory of server {} in each third, MB", number + 1);
            (name, megabytes.join(", "))
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(last: u64) -> bool {
        let memory = Memory::new(Duration::from_secs(90));
        let samples = [(10, 900), (40, 100), (50, 80), (70, 90), (89, last)];
        let samples = samples.map(|(time, size)| (Duration::from_secs(time), size));
        memory.samples()[0].extend(samples);
        memory.samples()[1].push((Duration::from_secs(40), 1));
        let record = Record::start();
        memory.judge(&record);
        record.end().is_ok()
    }

    #[test]
    fn the_most_of_the_last_third_may_be_little_above_that_of_the_middle_third() {
        assert!(judged(100));
        assert!(judged(114));
        assert!(!judged(117));
    }
}
