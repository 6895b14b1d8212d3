//! The recorded responses of a real API server: the same requests in the same order, over HTTP.
//! Skipped if the recordings are not beside the workspace.
//!
//! Differences must be listed in `docs/upstream-defects.md`, and at least 96 % of the steps of each
//! area must be equal.

mod compare;
mod scenario;

use self::scenario::{Outcome, play};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tokio::task::JoinSet;

/// Concurrent scenarios: most of their time is spent waiting for watches.
const AT_ONCE: usize = 4;
/// The required share of equal steps per area.
const EQUAL_PERCENT: usize = 96;
const AREAS: [&str; 9] = [
    "apply",
    "crd",
    "defaulting",
    "list-watch",
    "protocol",
    "representation",
    "update",
    "validation",
    "virtual",
];

#[tokio::test]
async fn a_server_answers_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("../shared/data/recorded");
    if !folder.is_dir() {
        println!("skipped: there are no recordings in ../shared/data/recorded");
        return;
    }
    let text = std::fs::read_to_string(root.join("docs/upstream-defects.md"));
    let listed = listed(&text.expect("it is part of the repository"));
    let mut waiting = scenarios(&folder).into_iter();
    let mut playing = JoinSet::new();
    for scenario in waiting.by_ref().take(AT_ONCE) {
        playing.spawn(play(scenario));
    }
    let (mut areas, mut unlisted) = (BTreeMap::<String, (usize, usize)>::new(), Vec::new());
    while let Some(outcome) = playing.join_next().await {
        if let Some(scenario) = waiting.next() {
            playing.spawn(play(scenario));
        }
        let outcome: Outcome = outcome.expect("no step panics");
        let area = areas.entry(outcome.area).or_default();
        area.0 += outcome.steps - outcome.differences.len();
        area.1 += outcome.steps;
        for (step, difference) in outcome.differences {
            println!("{} / {step}: {difference}", outcome.name);
            if !listed.contains(&(outcome.name.clone(), step.clone())) {
                unlisted.push(format!("{} / {step}: {difference}", outcome.name));
            }
        }
    }
    println!("{areas:?}");
    assert_eq!(unlisted, [""; 0], "differs, and is not listed");
    assert_eq!(areas.keys().collect::<Vec<_>>(), AREAS);
    for (area, (equal, steps)) in areas {
        assert!(
            equal * 100 >= steps * EQUAL_PERCENT,
            "{area}: {equal} of {steps} steps are equal"
        );
    }
}

/// Returns the recordings of those areas.
fn scenarios(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("it is a folder");
    let mut files: Vec<PathBuf> = files
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("it can be read");
    let wanted = |text: &String| {
        let recording: Value = serde_json::from_str(text).expect("it is JSON");
        AREAS.iter().any(|area| recording["area"] == **area)
    };
    files.into_iter().map(read).filter(wanted).collect()
}

/// Returns file and step of each difference in the tables of the document.
fn listed(document: &str) -> BTreeSet<(String, String)> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    };
    document.lines().filter_map(row).collect()
}
