//! Replays traces of client-go: the recorded ones in `testdata`, and a new one.

use kubist_differential::replay;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The path of the new trace; `cargo xtask interop` sets it.
const TRACE: &str = "KUBIST_TRACE";

/// Replays a file and prints a summary.
fn check(path: &Path) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let replayed = replay(BufReader::new(file))
        .unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    let shown: Vec<String> = replayed
        .mismatches
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        shown.is_empty(),
        "{}: {} of {} sequences disagree\n{}",
        path.display(),
        replayed.disagreed,
        replayed.sequences,
        shown.join("\n")
    );
    assert!(replayed.agreed > 0, "{} is empty", path.display());
    say(&format!(
        "{} sequences, {} results agree",
        replayed.sequences, replayed.agreed
    ));
}

#[expect(clippy::print_stdout, reason = "interop shows what was compared")]
fn say(line: &str) {
    println!("{line}");
}

#[test]
fn recorded_traces_of_client_go_replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/traces");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        check(&entry.unwrap().path());
        count += 1;
    }
    assert_eq!(count, 10, "one for each type");
}

#[test]
fn the_trace_that_was_just_made_replays() {
    match std::env::var_os(TRACE) {
        Some(path) => check(Path::new(&path)),
        None => say(&format!("skipped: {TRACE} names no trace")),
    }
}
