//! Traces of client-go, written by the Go test in `tests/interop/go/differential` and replayed on
//! Kubist's types by the test `replay` of `tests/differential`.

use super::report::Report;
use crate::test_program;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "differential";
/// Seeds for each type that is compared.
pub(super) const SEEDS: u64 = 100;
/// Seeds in a long run.
pub(super) const SEEDS_LONG: u64 = 1_000;

/// Runs client-go to write traces, and replays each.
pub(super) fn run(seeds: u64, scratch: &Path, report: &mut Report) -> Outcome {
    let traces = scratch.join("traces");
    std::fs::create_dir_all(&traces)?;
    let mut is_written = false;
    report.step(&format!("client-go writes traces, {seeds} seeds"), || {
        write(seeds, &traces)?;
        is_written = true;
        Ok(())
    });
    if !is_written {
        return Ok(());
    }
    let replayer = test_program::build("replay")?;
    let mut files = std::fs::read_dir(&traces)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    files.sort_unstable();
    for file in files {
        let suite = file.file_stem().unwrap_or_default().to_string_lossy();
        report.step(&format!("{suite} as client-go"), || {
            replay(&replayer, &file)
        });
    }
    Ok(())
}

fn write(seeds: u64, traces: &Path) -> Outcome {
    let mut go = Command::new("go");
    go.args(["test", "./differential", "-count=1", "-args", "-seeds"])
        .arg(seeds.to_string())
        .arg("-out")
        .arg(traces);
    process::run_with(go.current_dir(root().join("tests/interop/go")))
}

fn replay(replayer: &Path, trace: &Path) -> Outcome {
    let output = Command::new(replayer)
        .args(["--exact", "--nocapture"])
        .arg("the_trace_that_was_just_made_replays")
        .env("KUBIST_TRACE", trace)
        .env("RUST_BACKTRACE", "0")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let agreed = text.lines().find(|line| line.ends_with("results agree"));
    match agreed {
        Some(line) if output.status.success() => {
            eprintln!("          {line}");
            Ok(())
        }
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
    }
}
