//! `Ambient`: where a client, and what is built on it, takes dates and random numbers from.
//!
//! Normally from the machine. A test puts a virtual date and a seed here, and then leases, events,
//! conditions and pauses are the same in each run, without a change of the program under test.

use kubist_apimachinery::{MicroTime, Time};
use parking_lot::Mutex;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The date and the random numbers of a client. Clones share both.
///
/// The random numbers are for pauses and names, not for secrets.
///
/// ```
/// use kubist_client::Ambient;
/// use std::time::Duration;
///
/// let (one, two) = (Ambient::new(|| Duration::ZERO, 7), Ambient::new(|| Duration::ZERO, 7));
/// assert_eq!(one.uuid(), two.uuid());
/// assert_eq!(one.time().to_string(), "1970-01-01T00:00:00Z");
/// ```
#[derive(Clone, Default)]
pub struct Ambient {
    /// `None`: the machine's.
    given: Option<Arc<Given>>,
}

struct Given {
    date: Box<dyn Fn() -> Duration + Send + Sync>,
    random: Mutex<u64>,
}

impl Ambient {
    /// Takes the date, since the Unix epoch, from a function, and random numbers from a seed.
    pub fn new(date: impl Fn() -> Duration + Send + Sync + 'static, seed: u64) -> Self {
        Self {
            given: Some(Arc::new(Given {
                date: Box::new(date),
                random: Mutex::new(seed),
            })),
        }
    }

    /// Returns the date, since the Unix epoch.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everybody else takes the date from"
    )]
    pub fn now(&self) -> Duration {
        match &self.given {
            Some(given) => (given.date)(),
            None => SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default(),
        }
    }

    /// Returns the date to the second, as in most objects.
    pub fn time(&self) -> Time {
        Time::from_unix(i64::try_from(self.now().as_secs()).unwrap_or(i64::MAX))
    }

    /// Returns the date to the microsecond, as in leases and events.
    pub fn micro_time(&self) -> MicroTime {
        let now = self.now();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let nanos = i32::try_from(now.subsec_nanos()).unwrap_or_default();
        MicroTime::from_unix(seconds, nanos)
    }

    /// Returns a random number.
    pub fn number(&self) -> u64 {
        let Some(given) = &self.given else {
            // Each state of the standard library's hasher has its own keys.
            return RandomState::new().build_hasher().finish();
        };
        // SplitMix64: every seed gives another sequence, and none is weak.
        let mut state = given.random.lock();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a seed, if numbers come from one: for what has random numbers of its own.
    pub fn seed(&self) -> Option<u64> {
        self.given.as_ref().map(|_| self.number())
    }

    /// Returns a random (version 4) UUID.
    pub fn uuid(&self) -> String {
        let high = (self.number() & !0xf000) | 0x4000;
        let low = (self.number() & !(3 << 62)) | (2 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for Ambient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.given.as_ref().map_or("machine", |_| "given");
        f.debug_tuple("Ambient").field(&source).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_numbers_and_clones_share_them() {
        let ambient = || Ambient::new(|| Duration::from_millis(1_500), 3);
        let (one, two) = (ambient(), ambient());
        let numbers = [one.number(), one.clone().number(), one.number()];
        assert_eq!(numbers, [two.number(), two.number(), two.number()]);
        assert_ne!(numbers[0], numbers[1]);
        assert_eq!(one.time().to_string(), "1970-01-01T00:00:01Z");
        assert_eq!(one.micro_time().to_string(), "1970-01-01T00:00:01.500000Z");
    }

    #[test]
    fn the_machines_numbers_are_uuids_and_differ() {
        let ambient = Ambient::default();
        let uuid = ambient.uuid();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert_ne!(uuid, ambient.uuid());
        assert_eq!(ambient.seed(), None);
        assert!(ambient.now() > Duration::from_secs(1_700_000_000));
    }
}
