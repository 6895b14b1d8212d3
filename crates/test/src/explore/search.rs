//! `explore`: runs seeds until one fails, and tells its story.

use crate::explore::exploration::{Exploration, FailedSeed};
use crate::explore::ground::{self, Ground};
use crate::explore::hub::{Forbidden, forbid};
use crate::explore::mistake::Mistake;
use crate::explore::outcome::Outcome;
use crate::explore::plan::{Kept, Outline, Plan};
use crate::explore::pool::{self, Job, Shared, real_now};
use crate::explore::problem::Problem;
use crate::explore::replay::{Replay, SEED_VARIABLE, SEEDS_VARIABLE};
use crate::explore::scenario::Scenario;
use crate::explore::shrink::Bench;
use crate::explore::telling::tell;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

/// Explores a scenario with these seeds. Blocks the thread until it is done; worlds run on threads
/// of their own, so it may be called within a runtime.
///
/// The environment may ask for something else: `KUBIST_TEST_SEED` for one seed, as a story prints
/// it, and `KUBIST_TEST_SEEDS` for that many times as many seeds.
///
/// The result is that of the lowest seed that fails, and does not depend on the number of threads.
pub fn explore(seeds: Range<u64>, scenario: &Scenario) -> Exploration {
    match variable(SEED_VARIABLE) {
        Some(text) => match text.parse() {
            Ok(wanted) => replay(&wanted, scenario),
            Err(error) => Search::begin(scenario).failed_before(ground::setup(error)),
        },
        None => match many(seeds) {
            Ok(seeds) => Search::begin(scenario).run(seeds),
            Err(error) => Search::begin(scenario).failed_before(ground::setup(error)),
        },
    }
}

/// Runs one seed again, or what is left of it.
pub fn replay(replay: &Replay, scenario: &Scenario) -> Exploration {
    Search::begin(scenario).replay(replay)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test is told by the environment which seed to run"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

/// Returns the seeds to run: as many times as many as the environment asks for.
fn many(seeds: Range<u64>) -> Result<Range<u64>, String> {
    let times: u64 = match variable(SEEDS_VARIABLE) {
        None => 1,
        Some(text) => text.parse().map_err(|_| {
            format!(
                "{SEEDS_VARIABLE} is {text:?}, and not a number that the seeds are multiplied by"
            )
        })?,
    };
    let count = seeds.end.saturating_sub(seeds.start).saturating_mul(times);
    if count == 0 {
        return Err(format!("there are no seeds in {seeds:?}, {times} times"));
    }
    Ok(seeds.start..seeds.start.saturating_add(count))
}

/// Prepares the content on a thread of its own: this one may be that of a runtime, and one that
/// blocks is left alone.
fn prepare(scenario: &Scenario) -> Result<Ground, Problem> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let own = scenario.clone();
    let thread = thread::Builder::new()
        .name("world".to_owned())
        .stack_size(pool::STACK_BYTES);
    let run = move || {
        let prepared = catch_unwind(AssertUnwindSafe(|| Ground::prepare(&own)));
        let panicked = |_| Err(ground::setup("the preparation panicked"));
        // Nobody may wait any more.
        drop(sender.send(prepared.unwrap_or_else(panicked)));
    };
    thread.spawn(run).map_err(ground::setup)?;
    receiver
        .recv_timeout(scenario.limits.world)
        .unwrap_or_else(|_| {
            Err(Problem::Blocked {
                last: "the preparation".to_owned(),
            })
        })
}

struct Search<'a> {
    scenario: &'a Scenario,
    begun: Instant,
}

/// What worlds are compared with.
struct Base {
    shared: Arc<Shared>,
    outline: Outline,
    reference: Arc<Outcome>,
}

impl<'a> Search<'a> {
    fn begin(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            begun: real_now(),
        }
    }

    fn run(self, seeds: Range<u64>) -> Exploration {
        let base = match self.base() {
            Ok(base) => base,
            Err(failed) => return *failed,
        };
        let Base {
            shared,
            outline,
            reference,
        } = &base;
        let (first, count) = (seeds.start, seeds.end.saturating_sub(seeds.start));
        let make = {
            let (outline, reference) = (outline.clone(), Arc::clone(reference));
            move |number| Job {
                plan: Plan::of(first + number, Kept::default(), &outline),
                reference: Some(Arc::clone(&reference)),
                in_full: false,
            }
        };
        let (mut lowest, mut ran, mut digest) = (None::<(u64, Outcome)>, 0, 0_u64);
        let (mut writes, mut faults) = (0, 0);
        let mut forbidden = reference.forbidden.clone();
        pool::run(
            shared,
            count,
            self.threads(),
            make,
            |number, mut outcome: Outcome| {
                ran += 1;
                writes += outcome.writes();
                faults += outcome.faults_struck();
                for (request, times) in std::mem::take(&mut outcome.forbidden) {
                    forbid(&mut forbidden, request, times);
                }
                digest ^= outcome
                    .digest
                    .rotate_left(u32::try_from(number % 64).unwrap_or(0));
                if outcome.problem.is_none() {
                    return true;
                }
                if lowest.as_ref().is_none_or(|(it, _)| number < *it) {
                    lowest = Some((number, outcome));
                }
                false
            },
        );
        let found_after = self.begun.elapsed();
        let failure = lowest.map(|(number, outcome)| {
            let found = Found {
                seed: first + number,
                kept: Kept::default(),
                outcome,
            };
            let mut failure = self.explain(&base, found, true);
            failure.found_after = found_after;
            failure
        });
        Exploration {
            writes,
            faults,
            forbidden,
            ..self.done(ran, digest, failure)
        }
    }

    fn replay(self, replay: &Replay) -> Exploration {
        let base = match self.base() {
            Ok(base) => base,
            Err(failed) => return *failed,
        };
        if let Some(missing) = missing(replay, &base.outline) {
            return self.failed_before(ground::setup(missing));
        }
        let mut bench = Self::bench(&base);
        let outcome = bench.run(replay.seed, &replay.kept, false);
        let outcome = outcome.unwrap_or_else(|| {
            let error = "the steps that are kept fail without faults, too";
            Outcome::failed(ground::setup(error))
        });
        let (digest, writes) = (outcome.digest, outcome.writes());
        let faults = outcome.faults_struck();
        let forbidden = outcome.forbidden.clone();
        let failure = outcome.problem.is_some().then(|| {
            let found = Found {
                seed: replay.seed,
                kept: replay.kept.clone(),
                outcome,
            };
            self.explain(&base, found, false)
        });
        Exploration {
            writes,
            faults,
            forbidden,
            ..self.done(1, digest, failure)
        }
    }

    fn unused_excuses(&self) -> Vec<String> {
        let excuses = self.scenario.excuses.iter().filter(|it| !it.is_used());
        excuses.map(ToString::to_string).collect()
    }

    fn threads(&self) -> usize {
        let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.scenario.threads.unwrap_or_else(all)
    }

    fn bench(base: &Base) -> Bench {
        Bench::new(
            &base.shared,
            base.outline.clone(),
            Arc::clone(&base.reference),
        )
    }

    /// Prepares the content, and runs without faults, twice.
    fn base(&self) -> Result<Base, Box<Exploration>> {
        if let Some(mistake) = Mistake::of(self.scenario) {
            return Err(Box::new(self.failed_before(Problem::Mistake(mistake))));
        }
        let scenario = self.scenario.clone();
        let prepared = prepare(&scenario);
        let failed = |problem| Box::new(self.failed_before(problem));
        let shared = Arc::new(Shared {
            ground: prepared.map_err(failed)?,
            scenario,
        });
        let steps = self.scenario.steps.len();
        let calm = |in_full| Job {
            plan: Plan::calm(0..steps),
            reference: None,
            in_full,
        };
        let reference = pool::run_one(&shared, calm(false));
        if let Some(problem) = reference.problem.clone() {
            // A world that blocks does so again, and leaves another thread behind.
            let told = match problem {
                Problem::Blocked { .. } => Outcome::default(),
                _ => pool::run_one(&shared, calm(true)),
            };
            return Err(Box::new(self.failed_calmly(problem, &told)));
        }
        let again = pool::run_one(&shared, calm(true));
        if again.digest != reference.digest {
            let first = "the run without faults differs from run to run".to_owned();
            let problem = Problem::NotReproducible { first };
            return Err(Box::new(self.failed_calmly(problem, &again)));
        }
        Ok(Base {
            outline: Outline {
                controllers: reference.measured.clone(),
                steps,
            },
            reference: Arc::new(reference),
            shared,
        })
    }

    /// Makes a failure smaller, and tells it.
    fn explain(&self, base: &Base, found: Found, shrinks: bool) -> FailedSeed {
        let Found {
            seed,
            mut kept,
            outcome,
        } = found;
        let unknown = || Problem::NotReproducible {
            first: "the run has no problem any more".to_owned(),
        };
        let problem = outcome.problem.unwrap_or_else(unknown);
        let mut bench = Self::bench(base);
        if shrinks {
            kept = bench.shrink(seed, kept, &problem);
        }
        let replay = Replay { seed, kept };
        let mut told = Outcome::default();
        let mut shown = problem.clone();
        // A world that blocks does so again, and leaves another thread behind.
        if !matches!(problem, Problem::Blocked { .. }) {
            told = bench.run(seed, &replay.kept, true).unwrap_or_default();
            let again = bench.run(seed, &replay.kept, false).unwrap_or_default();
            let same = told.digest == again.digest && told.problem == again.problem;
            match &told.problem {
                Some(found) if same && problem.is_like(found) => shown = found.clone(),
                _ => {
                    let first = problem.to_string();
                    shown = Problem::NotReproducible { first };
                }
            }
        }
        let plan = Plan::of(seed, replay.kept.clone(), &base.outline);
        let story = tell(self.scenario, &shown, Some((&plan, &replay)), &told);
        FailedSeed {
            seed,
            replay,
            problem: shown,
            story,
            is_without_faults: false,
            found_after: self.begun.elapsed(),
        }
    }

    fn failed_calmly(&self, problem: Problem, told: &Outcome) -> Exploration {
        let replay = Replay::seed(0);
        let story = tell(self.scenario, &problem, None, told);
        let failure = FailedSeed {
            seed: 0,
            replay,
            problem,
            story,
            is_without_faults: true,
            found_after: self.begun.elapsed(),
        };
        self.done(0, told.digest, Some(failure))
    }

    fn failed_before(&self, problem: Problem) -> Exploration {
        self.failed_calmly(problem, &Outcome::default())
    }

    fn done(&self, seeds: u64, digest: u64, failure: Option<FailedSeed>) -> Exploration {
        Exploration {
            seeds,
            elapsed: self.begun.elapsed(),
            digest,
            writes: 0,
            faults: 0,
            forbidden: Forbidden::new(),
            unused_excuses: self.unused_excuses(),
            failure,
        }
    }
}

/// A run that failed.
struct Found {
    seed: u64,
    kept: Kept,
    outcome: Outcome,
}

/// Returns what a replay names that its plan does not have.
fn missing(replay: &Replay, outline: &Outline) -> Option<String> {
    let plan = Plan::of(replay.seed, Kept::default(), outline);
    let parts = [
        ("fault", replay.kept.faults.as_ref(), plan.faults.len()),
        ("step", replay.kept.steps.as_ref(), plan.steps.len()),
    ];
    parts.into_iter().find_map(|(what, kept, count)| {
        let index = kept?.iter().find(|it| **it >= count)?;
        Some(format!(
            "{replay} names {what} {index}, and the plan of this seed has {count}, from 0: the \
             scenario or its controllers have changed since"
        ))
    })
}
