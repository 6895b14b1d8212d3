//! Controllers with planted bugs, one for each pattern that is published about controllers; each is
//! found, and its fixed version is not.
//!
//! `KUBIST_TEST_SEEDS=100 cargo test --release -p kubist-test --test planted -- --nocapture` runs
//! the fixed versions with 10,000 seeds and prints the table.

mod adopts;
mod create_then_label;
mod early_finalizer;
mod generate_name;
mod lost_field;
mod missed_state;
mod orphaned_service;
mod recreates;
mod scale_down;
mod stale_claim;
mod stale_status;
mod support;
mod two_leaders;

use kubist_test::explore::{Exploration, FailedSeed, Replay, explore, replay};
use std::time::Duration;
use support::{Case, Version};

/// Seeds in which a bug has to be found.
const SEEDS: u64 = 1_000;
/// Seeds of a fixed version, times `KUBIST_TEST_SEEDS`.
const FIXED_SEEDS: u64 = if cfg!(debug_assertions) { 20 } else { 100 };
/// How long finding a bug may take, if this was built for speed.
const FOUND_WITHIN: Duration = Duration::from_secs(10);

fn find(case: &Case) -> FailedSeed {
    let scenario = (case.scenario)(Version::Planted);
    let explored = explore(0..SEEDS, &scenario);
    let failure = explored.failure();
    let failure = failure.unwrap_or_else(|| panic!("{} is not found: {explored}", case.name));
    assert!(
        (case.is_found)(&failure.problem),
        "{}: {failure}",
        case.name
    );
    assert!(!failure.is_without_faults, "{}: {failure}", case.name);
    if !cfg!(debug_assertions) {
        assert!(
            failure.found_after < FOUND_WITHIN,
            "{:?}",
            failure.found_after
        );
    }
    failure.clone()
}

fn pass(case: &Case) -> Exploration {
    let explored = explore(0..FIXED_SEEDS, &(case.scenario)(Version::Fixed));
    explored.assert_good();
    explored
}

/// Finds the bug, replays it, and passes the fixed version.
#[expect(clippy::print_stdout, reason = "the table is read by people")]
fn prove(case: &Case) {
    let failure = find(case);
    let again = replay(&failure.replay, &(case.scenario)(Version::Planted));
    let again = again.failure().expect("a failure replays");
    assert_eq!(again.story, failure.story);
    assert_eq!(again.problem, failure.problem);
    let fixed = pass(case);
    println!("\n{failure}");
    println!(
        "| {} | {} | {:.2} s | {} lines | {} | {:.1} s |",
        case.name,
        failure.seed,
        failure.found_after.as_secs_f64(),
        failure.story.len(),
        fixed.seeds(),
        fixed.elapsed().as_secs_f64(),
    );
}

macro_rules! cases {
    ($($test:ident $module:ident)*) => {$(
        #[test]
        fn $test() {
            prove(&$module::CASE);
        }
    )*};
}

cases! {
    a_claim_that_is_deleted_on_a_stale_read_is_found stale_claim
    a_service_that_a_crash_orphans_is_found orphaned_service
    a_controller_that_recreates_forever_is_found recreates
    two_leaders_that_write_are_found two_leaders
    a_finalizer_that_is_removed_too_early_is_found early_finalizer
    a_deletion_by_name_of_what_is_not_owned_is_found adopts
    a_status_that_overwrites_a_newer_one_is_found stale_status
    a_state_that_is_never_seen_is_found missed_state
    a_scale_down_by_a_stale_count_is_found scale_down
    a_field_that_an_update_loses_is_found lost_field
    a_label_that_is_written_too_late_is_found create_then_label
    a_create_that_is_repeated_after_a_timeout_is_found generate_name
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let digest = |threads| {
        let scenario = (scale_down::CASE.scenario)(Version::Fixed);
        let explored = explore(0..24, &scenario.threads(threads));
        explored.assert_good();
        explored.digest()
    };
    assert_eq!(digest(1), digest(3));
    let found = |threads| {
        let scenario = (lost_field::CASE.scenario)(Version::Planted);
        let explored = explore(0..SEEDS, &scenario.threads(threads));
        explored.failure().expect("it is found").replay.clone()
    };
    assert_eq!(found(1), found(3));
}

/// The first fixed version of this controller waited for an event of a pod that came and went
/// while its watch was cut: this seed found it.
#[test]
fn a_pod_that_was_never_seen_does_not_keep_its_claim() {
    let scenario = (stale_claim::CASE.scenario)(Version::Fixed);
    replay(&Replay::seed(2638), &scenario).assert_good();
}

#[test]
fn a_replay_of_a_seed_that_is_good_is_good() {
    let scenario = (lost_field::CASE.scenario)(Version::Fixed);
    replay(&Replay::seed(3), &scenario).assert_good();
}
