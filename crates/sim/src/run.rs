//! Runs a seed on a runtime of its own.

use crate::checks::{Check, Violation};
use crate::outcome::Outcome;
use crate::plan::{Defect, Plan};
use crate::world;

/// Runs a seed.
pub fn run(seed: u64) -> Outcome {
    play(Plan::of(seed))
}

/// Runs a seed twice; a difference between the runs is a violation too.
pub fn run_twice(seed: u64) -> Outcome {
    let (first, second) = (run(seed), run(seed));
    compared(first, &second)
}

/// Runs a seed without faults.
pub fn run_calm(seed: u64) -> Outcome {
    play(Plan::calm(seed))
}

/// Runs a seed without faults but with a defect, which a checker must detect.
pub fn run_broken(seed: u64, defect: Defect) -> Outcome {
    let first = play(Plan::broken(seed, defect));
    if defect != Defect::Nondeterminism {
        return first;
    }
    compared(first, &play(Plan::broken(seed.wrapping_add(1), defect)))
}

fn play(plan: Plan) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(world::run(plan))
}

fn compared(mut first: Outcome, second: &Outcome) -> Outcome {
    if first.hash == second.hash {
        return first;
    }
    let pairs = first.trace.iter().zip(&second.trace);
    let same = pairs.take_while(|(one, two)| one == two).count();
    let line = |trace: &[String]| trace.get(same).cloned().unwrap_or_default();
    first.violations.push(Violation {
        check: Check::Determinism,
        at: first.time,
        what: format!(
            "line {same} was `{}`, then `{}`",
            line(&first.trace),
            line(&second.trace)
        ),
    });
    first
}
