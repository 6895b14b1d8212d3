//! Candidates in a simulated world: their clocks run at different rates, they are paused, cut off,
//! stopped and replaced, and their requests are slow, lost, or applied without an answer.
//!
//! Two things are checked: no two terms are held at one true time, and, once the faults have ended,
//! somebody leads within a bound.

mod process;
mod server;
mod world;

use world::{Faults, World};

/// How many worlds there are, with two and three candidates in turn.
const SEEDS: u64 = 10_000;

/// What all worlds together have seen, so that the checks are known to have had something to check.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    terms: u64,
    renewals: u64,
    losses_by_deadline: u64,
    losses_to_others: u64,
    releases: u64,
    slow_paths: u64,
    answers_lost: u64,
    late_answers: u64,
    conflicts: u64,
    pauses: u64,
    crashes: u64,
}

/// Contract LEAD-1, LEAD-5.
#[test]
fn no_two_terms_are_held_at_one_time_and_somebody_leads_when_the_faults_have_ended() {
    let mut seen = Seen::default();
    for seed in 0..SEEDS {
        let processes = 2 + usize::try_from(seed % 2).expect("it is 0 or 1");
        let mut world = World::new(seed, processes, Faults::ALL);
        if let Err(violation) = world.run(&mut seen) {
            panic!("seed {seed}: {violation}\n{}", world.story());
        }
    }
    println!("{seen:?}");
    for (what, count) in [
        ("terms", seen.terms),
        ("renewals", seen.renewals),
        ("losses by deadline", seen.losses_by_deadline),
        ("releases", seen.releases),
        ("slow paths", seen.slow_paths),
        ("lost answers", seen.answers_lost),
        ("late answers", seen.late_answers),
        ("conflicts", seen.conflicts),
        ("pauses", seen.pauses),
        ("crashes", seen.crashes),
    ] {
        assert!(count > 100, "{what}: only {count}");
    }
    assert_eq!(
        seen.losses_to_others, 0,
        "a term is over before another begins"
    );
}

/// Without faults, one candidate leads for the whole time.
#[test]
fn without_faults_there_is_one_term() {
    for seed in 0..100 {
        let mut seen = Seen::default();
        let mut world = World::new(seed, 3, Faults::NONE);
        if let Err(violation) = world.run(&mut seen) {
            panic!("seed {seed}: {violation}\n{}", world.story());
        }
        assert_eq!(seen.terms, 1, "seed {seed}");
        assert_eq!(
            seen.slow_paths, 0,
            "seed {seed}: every renewal is one request"
        );
    }
}

/// The checks find what is there to find: clocks that differ by more than the durations tolerate.
#[test]
fn clocks_that_differ_too_much_are_found_out() {
    let mut seen = Seen::default();
    let mut run = |seed| World::new(seed, 3, Faults::WILD_CLOCKS).run(&mut seen);
    let violation = (0..SEEDS).find_map(|seed| run(seed).err());
    let violation = violation.expect("two lead at one time");
    assert!(violation.ends_with("lead"), "{violation}");
}
