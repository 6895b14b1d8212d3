//! `Pool`: runs worlds on threads, and watches them in real time.
//!
//! Each world has a thread and a runtime of its own while it runs. A world that makes no progress
//! cannot be stopped, so its thread is left alone and the world counts as blocked.

use crate::explore::ground::Ground;
use crate::explore::outcome::Outcome;
use crate::explore::plan::Plan;
use crate::explore::problem::Problem;
use crate::explore::scenario::Scenario;
use crate::explore::trace::Pulse;
use crate::explore::world::{self, Terms};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// How often the worlds are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// The stack of a world's thread: futures of debug builds are large.
pub(crate) const STACK_BYTES: usize = 16 << 20;

/// What all worlds of an exploration share.
pub(crate) struct Shared {
    pub(crate) scenario: Scenario,
    pub(crate) ground: Ground,
}

/// A run to be made.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) plan: Plan,
    /// How the same steps end without faults.
    pub(crate) reference: Option<Arc<Outcome>>,
    pub(crate) in_full: bool,
}

/// Makes the job with this number.
type Make = dyn Fn(u64) -> Job + Send + Sync;

struct Work {
    shared: Arc<Shared>,
    make: Box<Make>,
    next: AtomicU64,
    /// Jobs from here on are not begun.
    end: AtomicU64,
}

#[derive(Default)]
struct Slot {
    /// The number of the current job, and one more; 0 between jobs.
    job: AtomicU64,
    pulse: Mutex<Arc<Pulse>>,
    /// Nobody waits for the worker any more.
    is_abandoned: AtomicBool,
}

/// What one look at a worker showed.
struct Look {
    job: u64,
    beats: u64,
    since: Instant,
    begun: Instant,
    is_abandoned: bool,
}

/// What a worker tells: its number, and an outcome with that of its job; none when it ends.
type Message = (usize, Option<(u64, Outcome)>);

/// Returns the time of the machine.
#[expect(
    clippy::disallowed_methods,
    reason = "worlds are watched in real time, which theirs is not"
)]
pub(crate) fn real_now() -> Instant {
    Instant::now()
}

/// Runs `count` jobs on up to `threads` threads, and gives `take` each outcome with its number, in
/// the order in which they end. Once `take` returns false, jobs with higher numbers are not begun.
pub(crate) fn run(
    shared: &Arc<Shared>,
    count: u64,
    threads: usize,
    make: impl Fn(u64) -> Job + Send + Sync + 'static,
    mut take: impl FnMut(u64, Outcome) -> bool,
) {
    let work = Arc::new(Work {
        shared: Arc::clone(shared),
        make: Box::new(make),
        next: AtomicU64::new(0),
        end: AtomicU64::new(count),
    });
    let threads = threads.min(usize::try_from(count).unwrap_or(usize::MAX));
    let (sender, receiver) = mpsc::sync_channel(threads * 2);
    let slots: Vec<Arc<Slot>> = (0..threads).map(|_| Arc::default()).collect();
    let mut working = 0;
    for (worker, slot) in slots.iter().enumerate() {
        let (work, slot, sender) = (Arc::clone(&work), Arc::clone(slot), sender.clone());
        let thread = thread::Builder::new()
            .name("world".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || serve(&work, worker, &slot, &sender));
        match thread {
            Ok(_) => working += 1,
            Err(error) if working == 0 => {
                let failed = Outcome::failed(crate::explore::ground::setup(error));
                take(0, failed);
                return;
            }
            Err(_) => break, // fewer do as well
        }
    }
    let mut looks: Vec<Look> = slots.iter().map(|_| Look::new()).collect();
    while working > 0 {
        match receiver.recv_timeout(LOOK) {
            Ok((worker, _)) if looks[worker].is_abandoned => {}
            Ok((_, Some((number, outcome)))) => {
                if !take(number, outcome) {
                    work.end.fetch_min(number, Ordering::Relaxed);
                }
            }
            Ok((_, None)) => working -= 1,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        for (slot, look) in slots.iter().zip(&mut looks) {
            let Some((number, last)) = look.again(slot, &work.shared.scenario) else {
                continue;
            };
            working -= 1;
            let outcome = Outcome::failed(Problem::Blocked { last });
            if !take(number, outcome) {
                work.end.fetch_min(number, Ordering::Relaxed);
            }
        }
    }
}

/// Runs one job.
pub(crate) fn run_one(shared: &Arc<Shared>, job: Job) -> Outcome {
    let mut outcome = Outcome::default();
    let make = move |_| job.clone();
    run(shared, 1, 1, make, |_, it| {
        outcome = it;
        true
    });
    outcome
}

fn serve(work: &Work, worker: usize, slot: &Slot, results: &SyncSender<Message>) {
    loop {
        let number = work.next.fetch_add(1, Ordering::Relaxed);
        if number >= work.end.load(Ordering::Relaxed) {
            break;
        }
        let job = (work.make)(number);
        let pulse = Arc::<Pulse>::default();
        *slot.pulse.lock() = Arc::clone(&pulse);
        slot.job.store(number + 1, Ordering::Relaxed);
        let terms = Terms {
            scenario: &work.shared.scenario,
            ground: &work.shared.ground,
            reference: job.reference.as_deref(),
            in_full: job.in_full,
            pulse,
        };
        let outcome = world::run(&terms, job.plan);
        slot.job.store(0, Ordering::Relaxed);
        let is_alone = slot.is_abandoned.load(Ordering::Relaxed)
            || results.send((worker, Some((number, outcome)))).is_err();
        if is_alone {
            return; // nobody waits any more
        }
    }
    // Nobody may wait any more.
    drop(results.send((worker, None)));
}

impl Look {
    fn new() -> Self {
        let now = real_now();
        Self {
            job: 0,
            beats: 0,
            since: now,
            begun: now,
            is_abandoned: false,
        }
    }

    /// Looks again. Returns the job and what happened last, if the worker is to be abandoned now.
    fn again(&mut self, slot: &Slot, scenario: &Scenario) -> Option<(u64, String)> {
        if self.is_abandoned {
            return None;
        }
        let job = slot.job.load(Ordering::Relaxed);
        let pulse = Arc::clone(&slot.pulse.lock());
        let (beats, now) = (pulse.beats(), real_now());
        if job != self.job {
            *self = Self {
                job,
                beats,
                ..Self::new()
            };
            return None;
        }
        if beats != self.beats {
            (self.beats, self.since) = (beats, now);
        }
        let limits = &scenario.limits;
        let is_blocked = now - self.since > limits.blocked || now - self.begun > limits.world;
        if job == 0 || !is_blocked {
            return None;
        }
        self.is_abandoned = true;
        slot.is_abandoned.store(true, Ordering::Relaxed);
        Some((job - 1, pulse.last()))
    }
}
