//! Compares how Kubist's server and a kube-apiserver serve the definitions of custom resources of
//! well-known projects. `tests/interop/definitions/modules.txt` lists them.
//!
//! The program in `tests/interop/definitions` applies the definitions, generates objects and
//! mutations from their schemas, and compares all answers. Files with the request and both answers
//! of each difference are in the part's folder.

use super::Options;
use super::cases::Excused;
use super::cluster::go_build;
use super::conformance;
use super::report::Report;
use super::subject::{Subject, Surroundings};
use crate::upstream::Programs;
use kubist_test_support::process::{Outcome, root};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The part's name, for `--only`.
pub(super) const PART: &str = "definitions";
/// Mutations of each generated object.
const COUNT: u64 = 20;
/// Mutations in a quick run.
const COUNT_QUICK: u64 = 6;
/// Definitions of each project in a quick run.
const DEFINITIONS_QUICK: &str = "2";
/// What separates the causes of one comparison.
const SEPARATOR: char = '\n';
/// The seed of objects and mutations.
const SEED: u64 = 1;

/// What the program prints.
#[derive(Deserialize)]
struct Results {
    projects: Vec<Project>,
    causes: Vec<Cause>,
}

/// The counts of a project.
#[derive(Deserialize)]
struct Project {
    name: String,
    definitions: u64,
    kinds: u64,
    objects: u64,
    accepted: u64,
    mutations: u64,
    refused: u64,
    comparisons: u64,
    /// Comparisons that differ, by their causes.
    differences: BTreeMap<String, u64>,
}

/// A cause of differences.
#[derive(Deserialize)]
struct Cause {
    #[serde(rename = "cause")]
    text: String,
    count: u64,
    /// The file of the first difference.
    example: String,
}

/// Runs the part.
pub(super) fn run(
    options: &Options,
    binary: &Path,
    programs: Programs<'_>,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let excused = Excused::read(PART)?;
    let program = scratch.join(PART);
    go_build(PART, ".", &program)?;
    let folder = scratch.join("conformance").join(PART);
    let ours = Subject::Kubist(binary);
    let ours = ours.start(Surroundings::Alone, &folder.join("kubist"))?;
    let theirs = Subject::Upstream(programs);
    let theirs = theirs.start(Surroundings::Alone, &folder.join("upstream"))?;
    let results = compare(
        options,
        &program,
        &folder,
        [&theirs.kubeconfig, &ours.kubeconfig],
    )?;
    for project in &results.projects {
        let name = format!(
            "{}: {} comparisons of {} definitions",
            project.name, project.comparisons, project.definitions
        );
        let different = project.different(&excused);
        report.step(&name, || match different {
            0 => Ok(()),
            count => Err(format!("{count} differences").into()),
        });
    }
    let is_whole = !options.quick;
    report.step("the list of excused causes", || {
        let lines = disagreements(&excused, &results.causes, is_whole);
        for line in &lines {
            eprintln!("          {line}");
        }
        if lines.is_empty() {
            return Ok(());
        }
        let folder = folder.join("differences");
        Err(format!("{} lines, see {}", lines.len(), folder.display()).into())
    });
    if options.docs && is_whole {
        conformance::document(PART, &tables(&results, &excused))?;
    }
    Ok(())
}

/// Runs the program against both servers.
fn compare(
    options: &Options,
    program: &Path,
    folder: &Path,
    [theirs, ours]: [&Path; 2],
) -> Outcome<Results> {
    let usual = if options.quick { COUNT_QUICK } else { COUNT };
    let log = folder.join("differences.log");
    let mut command = Command::new(program);
    command
        .current_dir(root().join("tests/interop").join(PART))
        .arg("--theirs")
        .arg(theirs)
        .arg("--ours")
        .arg(ours)
        .arg("--work")
        .arg(folder)
        .args([
            "--mutations",
            &options.count.unwrap_or(usual).to_string(),
            "--seed",
            &options.seed.unwrap_or(SEED).to_string(),
        ])
        .stderr(Stdio::from(std::fs::File::create(&log)?));
    if options.quick {
        command.args(["--limit", DEFINITIONS_QUICK]);
    }
    eprintln!("          each difference is a line of {}", log.display());
    let output = command.stdout(Stdio::piped()).output()?;
    if !output.status.success() {
        let text = std::fs::read_to_string(&log)?;
        let last = text.lines().last().unwrap_or_default();
        return Err(format!("{}: {last}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

impl Project {
    /// Returns how many comparisons differ for a cause that is not excused.
    fn different(&self, excused: &Excused) -> u64 {
        let others = self.differences.iter();
        others
            .filter(|(causes, _)| {
                let mut causes = causes.split(SEPARATOR);
                causes.any(|it| excused.entry_like(it).is_none())
            })
            .map(|(_, count)| count)
            .sum()
    }
}

/// Returns causes that are not on the list, and lines of the list that have no cause.
fn disagreements(excused: &Excused, causes: &[Cause], is_whole: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut used = BTreeSet::new();
    for it in causes {
        match excused.entry_like(&it.text) {
            Some((pattern, _)) => {
                used.insert(pattern);
            }
            None => lines.push(format!("{} x {} ({})", it.count, it.text, it.example)),
        }
    }
    for pattern in excused.by_reason().into_values().flatten() {
        if is_whole && !used.contains(pattern) {
            lines.push(format!("no longer excused: {pattern}"));
        }
    }
    lines
}

/// Returns the counts of each project, and the excused differences by reason, as Markdown.
fn tables(results: &Results, excused: &Excused) -> String {
    let mut text = String::from(
        "|  | definitions | kinds | objects | of them accepted | mutations | of them refused | comparisons | equal | excused | different |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sums = [0; 10];
    for it in &results.projects {
        let different = it.different(excused);
        let all: u64 = it.differences.values().sum();
        let counts = [
            it.definitions,
            it.kinds,
            it.objects,
            it.accepted,
            it.mutations,
            it.refused,
            it.comparisons,
            it.comparisons - all,
            all - different,
            different,
        ];
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
        row(&mut text, &it.name, &counts);
    }
    row(&mut text, "all", &sums);
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for it in &results.causes {
        if let Some((_, reason)) = excused.entry_like(&it.text) {
            *reasons.entry(reason).or_default() += it.count;
        }
    }
    if !reasons.is_empty() {
        text.push_str("\n| why differences are excused | comparisons |\n|---|--:|\n");
    }
    for (reason, count) in reasons {
        let _infallible = writeln!(text, "| {reason} | {count} |");
    }
    text
}

fn row(text: &mut String, name: &str, counts: &[u64]) {
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    let _infallible = writeln!(text, "| {name} | {} |", counts.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_and_the_list_must_agree() {
        let list = "why:\n    explain: *\n    apply: gone\n";
        let list = Excused::parse(list).expect("it is a list");
        let cause = |cause: &str| Cause {
            text: cause.to_owned(),
            count: 2,
            example: "1.json".to_owned(),
        };
        let causes = [cause("explain: text"), cause("object: 201, not 422")];
        assert_eq!(
            disagreements(&list, &causes, true),
            [
                "2 x object: 201, not 422 (1.json)",
                "no longer excused: apply: gone"
            ]
        );
        assert_eq!(disagreements(&list, &causes, false).len(), 1);
    }
}
