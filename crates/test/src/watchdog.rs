//! The watchdog: one thread of the process that reports servers which live for too long in real
//! time, and ends what hangs.
//!
//! Limits on virtual time do not pass while something spins, and nothing at all passes while a
//! thread is blocked. So this counts real time: at a server's bound it says what the server did
//! last and ends every wait of its test. If the test's thread does not even notice, it cannot be
//! ended alone: the process is aborted after the report.

use crate::journal::entry::date;
use crate::pulse::{Pulse, Signs};
use parking_lot::{Condvar, Mutex};
use std::io::Write as _;
use std::sync::{Arc, LazyLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How often servers are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a test may take to end after its waits were ended.
const GRACE: Duration = Duration::from_secs(20);

static WATCHDOG: LazyLock<Watchdog> = LazyLock::new(Watchdog::default);

#[derive(Default)]
struct Watchdog {
    kennel: Mutex<Kennel>,
    more: Condvar,
}

#[derive(Default)]
struct Kennel {
    guarded: Vec<Guarded>,
    runs: bool,
}

/// A server that is looked at.
struct Guarded {
    pulse: Weak<Pulse>,
    /// The name of the thread that started it, which is the name of the test.
    test: String,
    since: Instant,
    bound: Duration,
    /// When the bound was reported.
    reported: Option<Instant>,
}

/// Guards a server until its pulse is dropped.
#[expect(
    clippy::disallowed_methods,
    reason = "real time is what is bounded, whatever tokio's clock does"
)]
pub(crate) fn guard(pulse: &Arc<Pulse>, bound: Duration) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let mut kennel = WATCHDOG.kennel.lock();
    kennel.guarded.push(Guarded {
        pulse: Arc::downgrade(pulse),
        test,
        since: Instant::now(),
        bound,
        reported: None,
    });
    if !kennel.runs {
        let thread = thread::Builder::new().name("kubist-test watchdog".into());
        // Without a thread nothing is guarded, and everything else works.
        kennel.runs = thread.spawn(watch).is_ok();
    }
    WATCHDOG.more.notify_one();
}

/// Looks at the guarded servers, forever; sleeps while there are none.
#[expect(clippy::disallowed_methods, reason = "it counts real time")]
fn watch() {
    let mut kennel = WATCHDOG.kennel.lock();
    loop {
        if kennel.guarded.is_empty() {
            WATCHDOG.more.wait(&mut kennel);
        } else {
            let _timed_out = WATCHDOG.more.wait_for(&mut kennel, LOOK_EVERY);
        }
        let now = Instant::now();
        kennel.guarded.retain_mut(|it| it.look(now));
    }
}

impl Guarded {
    /// Returns whether to go on guarding.
    fn look(&mut self, now: Instant) -> bool {
        let Some(pulse) = self.pulse.upgrade().filter(|it| !it.has_ended()) else {
            return false;
        };
        match self.reported {
            None if now.duration_since(self.since) < self.bound => {}
            None => {
                let report = report(&self.test, self.bound, &pulse.signs());
                tell(&report);
                pulse.stop(report);
                self.reported = Some(now);
            }
            Some(at) if now.duration_since(at) < GRACE => {}
            // Its test waits in real time, for something that is not the server's.
            Some(_) if pulse.is_noticed() => return false,
            Some(_) => {
                tell(&format!(
                    "the test {} has not ended {} s after that: its thread is blocked, by a loop \
                     without await or by a call that waits in real time. The process is aborted.",
                    self.test,
                    GRACE.as_secs()
                ));
                std::process::abort();
            }
        }
        true
    }
}

fn report(test: &str, bound: Duration, signs: &Signs) -> String {
    let Signs {
        requests,
        date: at,
        last,
    } = signs;
    let (seconds, at) = (bound.as_secs_f32(), date(*at));
    let last = if last.is_empty() { "none" } else { last };
    format!(
        "the server of the test {test} has been running for {seconds} s of real time, which is \
         its bound: it has answered {requests} requests, the last at {at}: {last}. Either \
         something waits for what never comes, or the test needs more time: see \
         TestServerBuilder::real_time_max"
    )
}

/// Writes to the process's standard error: the capture of a test's output belongs to its thread.
fn tell(text: &str) {
    drop(writeln!(std::io::stderr(), "kubist-test: {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_test_and_the_last_request() {
        let signs = Signs {
            requests: 3,
            date: crate::VIRTUAL_START,
            last: "GET /api by kubist/1".to_owned(),
        };
        let report = report("my_test", Duration::from_secs(2), &signs);
        for part in [
            "the test my_test has been running for 2 s",
            "3 requests",
            "2027-01-15T08:00:00.000000Z: GET /api by kubist/1",
        ] {
            assert!(report.contains(part), "{part:?} is not in {report}");
        }
    }
}
