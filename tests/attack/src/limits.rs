//! The limits of attacks: one table, with reasons, and its comparison with results.
//!
//! The long form has the project's limits for a machine with cores for the server and for its
//! clients. The short form runs in CI, on two cores, with wider limits that are still far below the
//! effect of any defect behind these attacks.

use crate::attack::Attack;
use crate::honest::{Kind, Served};
use crate::memory::Memory;
use std::time::Duration;

/// With fewer responses than this, a well-behaved client counts as not served.
const SAMPLES_MIN: usize = 50;
/// The factor of the short form for latencies.
const SHORT_WAIT_FACTOR: u32 = 4;
/// What the short form adds to growth, in MB: other allocations happen in its few seconds.
const SHORT_GROWTH_MB: u64 = 25;
/// The rounding for small processes, in MB: an allocator keeps this much for each thread.
const BACK_SLACK_MB: u64 = 15;

/// The limits of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// p99 of `/livez` and of a small get.
    pub(crate) read: Duration,
    /// p99 of a small patch.
    pub(crate) write: Duration,
    /// Growth of memory, at its peak, in MB.
    pub(crate) growth_mb: u64,
    /// Memory after the clients are gone, as a percentage of memory before.
    pub(crate) back_percent: u64,
    /// The reason for these.
    pub(crate) reason: &'static str,
}

/// The project's limits for any load.
const PROMISED: Limits = Limits {
    read: Duration::from_millis(50),
    write: Duration::from_millis(100),
    growth_mb: 50,
    back_percent: 150,
    reason: "the limit for any load",
};

/// Returns the limits of an attack in its long form.
const fn long(attack: Attack) -> Limits {
    match attack {
        Attack::Nobody => Limits {
            read: Duration::from_millis(10),
            write: Duration::from_millis(20),
            growth_mb: 20,
            reason: "nothing happens: if these are broken the machine is too busy to measure on",
            ..PROMISED
        },
        Attack::SmallRequests => Limits {
            read: Duration::from_millis(100),
            write: Duration::from_millis(150),
            reason: "500 requests wait at any time, each as small as the honest ones and in line \
                     before them",
            ..PROMISED
        },
        Attack::Watches => Limits {
            growth_mb: 80,
            reason: "2,000 watches of 20 kB each, which have to be kept, and their events",
            ..PROMISED
        },
        Attack::Patches | Attack::Bodies | Attack::Hungry => Limits {
            growth_mb: 500,
            reason: "eight bodies of 3 MB at a time, each decoded into a tree of several times \
                     its size",
            ..PROMISED
        },
        Attack::Definitions => Limits {
            growth_mb: 900,
            back_percent: 2000,
            reason: "history, which goes back ten minutes or 256 MiB, and what was made of objects \
                     that somebody asked for less than 20 s ago, up to 512 MiB, of definitions of \
                     300 kB one after the other",
            ..PROMISED
        },
        Attack::InFlight => Limits {
            growth_mb: 125,
            reason: "64 MiB of answers that wait, and 400 lists in flight, each with a chunk of \
                     64 kB that is made",
            ..PROMISED
        },
        _ => PROMISED,
    }
}

/// The results of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Resident memory before the attack, with all objects in place, in kB.
    pub(crate) before: Memory,
    /// The peak during it, in kB.
    pub(crate) peak: u64,
    /// Resident memory after the clients are gone, in kB.
    pub(crate) after: u64,
}

impl Limits {
    /// Returns the limits of an attack.
    pub(crate) fn of(attack: Attack, short: bool) -> Self {
        let limits = long(attack);
        if !short {
            return limits;
        }
        Self {
            read: limits.read * SHORT_WAIT_FACTOR,
            write: limits.write * SHORT_WAIT_FACTOR,
            growth_mb: limits.growth_mb + SHORT_GROWTH_MB,
            ..limits
        }
    }

    /// Returns the limit of resident memory after the clients are gone, in kB.
    pub(crate) fn back(&self, before: Memory) -> u64 {
        before.resident * self.back_percent / 100 + (BACK_SLACK_MB << 10)
    }

    /// Returns messages for the limits that are exceeded.
    pub(crate) fn broken(&self, cost: Cost, served: &Served) -> Vec<String> {
        let mut broken = Vec::new();
        for kind in Kind::ALL {
            let limit = match kind {
                Kind::Livez | Kind::Get => self.read,
                Kind::Patch => self.write,
            };
            let (name, figures) = (kind.name(), served.figures.get(&kind));
            let figures = figures.copied().unwrap_or_default();
            if figures.count < SAMPLES_MIN {
                broken.push(format!("{name} was asked {} times only", figures.count));
            }
            if figures.p99 > limit {
                broken.push(format!(
                    "p99 of {name} is {:.1?}, more than {limit:?}",
                    figures.p99
                ));
            }
        }
        for (failure, count) in &served.failures {
            broken.push(format!("honest clients got {failure}, {count} times"));
        }
        let growth = cost.peak.saturating_sub(cost.before.resident);
        if growth > self.growth_mb << 10 {
            let (is, limit) = (growth >> 10, self.growth_mb);
            broken.push(format!("memory grew by {is} MB, more than {limit} MB"));
        }
        let back = self.back(cost.before);
        if cost.after > back {
            let (is, limit) = (cost.after >> 10, back >> 10);
            broken.push(format!(
                "{is} MB are left after the clients are gone, more than {limit} MB"
            ));
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Figures;

    fn served(p99: u64) -> Served {
        let figures = Figures {
            count: 1_000,
            p99: Duration::from_millis(p99),
            ..Figures::default()
        };
        Served {
            figures: Kind::ALL.into_iter().map(|kind| (kind, figures)).collect(),
            ..Served::default()
        }
    }

    fn cost(peak_mb: u64, after_mb: u64) -> Cost {
        Cost {
            before: Memory {
                resident: 100 << 10,
                peak: 0,
            },
            peak: peak_mb << 10,
            after: after_mb << 10,
        }
    }

    #[test]
    fn what_is_within_its_limits_breaks_none() {
        let broken = PROMISED.broken(cost(150, 165), &served(50));
        assert!(broken.is_empty(), "{broken:?}");
    }

    #[test]
    fn each_limit_can_be_broken() {
        let broken = PROMISED.broken(cost(151, 100), &served(1));
        assert_eq!(broken, ["memory grew by 51 MB, more than 50 MB"]);
        let broken = PROMISED.broken(cost(100, 166), &served(1));
        let left = "166 MB are left after the clients are gone, more than 165 MB";
        assert_eq!(broken, [left]);
        let broken = PROMISED.broken(cost(100, 100), &served(51));
        let waits = ["livez", "get"].map(|it| format!("p99 of {it} is 51.0ms, more than 50ms"));
        assert_eq!(broken, waits);
        let mut refused = served(1);
        refused.failures.insert("get: 429 x".to_owned(), 2);
        let broken = PROMISED.broken(cost(100, 100), &refused);
        assert_eq!(broken, ["honest clients got get: 429 x, 2 times"]);
        let broken = PROMISED.broken(cost(100, 100), &Served::default());
        assert_eq!(broken.len(), 3, "{broken:?}");
    }

    #[test]
    fn the_short_form_is_wider_and_has_limits_for_each() {
        for attack in Attack::ALL {
            let (long, short) = (Limits::of(attack, false), Limits::of(attack, true));
            assert!(short.read >= long.read && short.growth_mb >= long.growth_mb);
            assert!(short.read <= Duration::from_millis(500), "{attack:?}");
            assert!(short.growth_mb <= 1000 && !short.reason.is_empty());
        }
    }
}
