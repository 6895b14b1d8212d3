//! Seeds that must pass, determinism, and a defect for each checker.

use kubist_sim::{Check, Defect, Outcome, run, run_broken, run_calm, run_twice};

/// The number of seeds per test; `cargo xtask sim` runs more.
const SEEDS: u64 = 6;

fn assert_good(seed: u64, outcome: &Outcome) {
    let violations = &outcome.violations;
    assert!(outcome.is_good(), "seed {seed}: {violations:#?}");
}

#[test]
fn every_promise_is_kept_whatever_goes_wrong() {
    for seed in 0..SEEDS {
        assert_good(seed, &run(seed));
    }
}

#[test]
fn a_seed_repeats_itself_to_the_last_event() {
    for seed in 100..100 + SEEDS / 2 {
        let outcome = run_twice(seed);
        assert_good(seed, &outcome);
        assert!(
            outcome.events > 100,
            "seed {seed}: hardly anything happened"
        );
    }
}

#[test]
fn other_seeds_have_other_traces() {
    let hashes: std::collections::BTreeSet<_> = (0..4).map(|seed| run(seed).hash).collect();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn faults_of_every_kind_happen() {
    let (mut trace, mut seed) = (String::new(), 200);
    let kinds = [
        "410",
        "request refused: the server is throttling requests",
        "request refused: internal server error",
        "request refused: the connection was refused",
        "stream cut",
        "event twice",
        "cannot be read: Some(Added)",
        "cannot be read: Some(Modified)",
        "cannot be read: Some(Deleted)",
        "cannot be read: Some(Bookmark)",
        "cannot be read: None",
        "late by",
        "storage: put",
        "panics",
        "hangs before",
        "loses_state: true",
        "CutConnections",
        "Stall {",
        "Compact",
        "RestartInformer",
        "RestartController",
        "informers kept: true",
        "HandlerOverflowed",
    ];
    while let Some(missing) = kinds.iter().find(|kind| !trace.contains(**kind)) {
        assert!(seed < 260, "in 60 seeds nothing of the kind {missing:?}");
        trace.push_str(&run(seed).trace.join("\n"));
        seed += 1;
    }
}

#[test]
fn a_run_without_faults_is_good_and_has_none() {
    for seed in 0..2 {
        let outcome = run_calm(seed);
        assert_good(seed, &outcome);
        assert_eq!(outcome.counts.get("fault"), None, "seed {seed}");
    }
}

/// Asserts that a defect is detected by its check in each of some seeds.
fn assert_noticed(defect: Defect, check: Check) {
    let noticed = |seed: &u64| run_broken(*seed, defect).violates(check);
    let missed: Vec<u64> = (0..2).filter(|seed| !noticed(seed)).collect();
    assert!(missed.is_empty(), "{defect:?} passes {check:?}: {missed:?}");
}

#[test]
fn a_source_that_loses_deletions_is_detected_by_convergence() {
    assert_noticed(Defect::LosesDeletions, Check::Convergence);
}

#[test]
fn a_handler_that_misses_updates_is_detected_by_the_final_state() {
    assert_noticed(Defect::StaleHandler, Check::FinalState);
}

#[test]
fn old_states_reported_again_are_detected_by_the_order() {
    assert_noticed(Defect::RepeatsOldStates, Check::Order);
}

#[test]
fn deletions_reported_twice_are_detected() {
    assert_noticed(Defect::RepeatsDeletions, Check::Deletes);
}

#[test]
fn a_first_list_that_comes_after_synced_is_detected() {
    assert_noticed(Defect::LateFirstList, Check::Synced);
}

#[test]
fn a_step_that_every_event_leaves_out_is_detected_by_the_history() {
    assert_noticed(Defect::SkipsSteps, Check::History);
}

#[test]
fn a_key_that_is_not_reconciled_is_detected() {
    assert_noticed(Defect::ForgetsKeys, Check::Keys);
}

#[test]
fn a_copy_that_is_none_is_detected_by_the_mirror() {
    assert_noticed(Defect::WritesWrongly, Check::Mirror);
}

#[test]
fn a_mailbox_without_bound_is_detected() {
    assert_noticed(Defect::HoardsChanges, Check::Memory);
}

#[test]
fn a_task_that_outlives_the_shutdown_is_detected() {
    assert_noticed(Defect::LeavesTask, Check::Tasks);
}

#[test]
fn a_run_that_depends_on_more_than_its_seed_is_detected() {
    assert_noticed(Defect::Nondeterminism, Check::Determinism);
}

#[test]
fn a_former_owner_that_is_not_run_again_is_detected_by_what_it_had_read() {
    assert_noticed(Defect::MapsLastState, Check::Reads);
}

#[test]
fn a_ghost_of_a_deletion_that_could_not_be_read_is_detected_by_convergence() {
    assert_noticed(Defect::ForgetsTypes, Check::Convergence);
}

#[test]
fn a_write_reported_as_shown_too_early_is_detected() {
    assert_noticed(Defect::HidesUnread, Check::Shown);
}
