//! Programs of other projects that run against Kubist's server and against a kube-apiserver, with
//! their counts in `docs/CONFORMANCE.md`.
//!
//! A run without `--docs` has no kube-apiserver: it compares the results only with the committed
//! lists of excused cases.

use super::cases::{Case, Counts, Excused, failed_of, failures};
use super::report::Report;
use super::subject::Subject;
use super::{
    both_ways, controller_runtime, controllers, e2e, e2e_apps, e2e_webhooks, helm, kubebuilder,
    sample_controller, store, webhook_servers,
};
use crate::upstream::Programs;
use kubist_test_support::process::{Outcome, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const DOCUMENT: &str = "docs/CONFORMANCE.md";

/// A program of another project.
struct Program {
    /// Its name for `--only`, and of its list and its markers in the document.
    part: &'static str,
    /// Builds what it needs into a folder.
    build: fn(&Path) -> Outcome,
    /// Runs it with the programs of that folder, and files in another folder.
    run: fn(Subject<'_>, &Path, &Path) -> Outcome<Vec<Case>>,
}

const PROGRAMS: [Program; 11] = [
    Program {
        part: controller_runtime::PART,
        build: controller_runtime::build,
        run: controller_runtime::run,
    },
    Program {
        part: controllers::PART,
        build: controllers::build,
        run: controllers::run,
    },
    Program {
        part: e2e::PART,
        build: e2e::build,
        run: e2e::run,
    },
    Program {
        part: e2e_apps::PART,
        build: e2e::build,
        run: e2e_apps::run,
    },
    Program {
        part: e2e_webhooks::PART,
        build: e2e_webhooks::build,
        run: e2e_webhooks::run,
    },
    Program {
        part: helm::PART,
        build: helm::build,
        run: helm::run,
    },
    Program {
        part: both_ways::PART,
        build: both_ways::build,
        run: both_ways::run,
    },
    Program {
        part: sample_controller::PART,
        build: sample_controller::build,
        run: sample_controller::run,
    },
    Program {
        part: kubebuilder::PART,
        build: kubebuilder::build,
        run: kubebuilder::run,
    },
    Program {
        part: store::PART,
        build: store::build,
        run: store::run,
    },
    Program {
        part: webhook_servers::PART,
        build: webhook_servers::build,
        run: webhook_servers::run,
    },
];

/// The names of the parts.
pub(super) fn parts() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|it| it.part)
}

/// Runs a part, and writes its counts to the document if there is a kube-apiserver to compare with.
pub(super) fn run(
    part: &str,
    binary: &Path,
    upstream: Option<Programs<'_>>,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let Some(program) = PROGRAMS.iter().find(|it| it.part == part) else {
        return Err(format!("{part} is no part").into());
    };
    let excused = Excused::read(part)?;
    (program.build)(scratch)?;
    let run = |subject: Subject<'_>| {
        let folder = scratch.join("conformance").join(part);
        (program.run)(subject, scratch, &folder.join(subject.name()))
    };
    let ours = run(Subject::Kubist(binary))?;
    let counts = excused.counts(&ours);
    for (suite, own) in &counts {
        let name = format!("{suite}: {} passed, {} excused", own.passed, own.excused);
        report.step(&name, || {
            let lines = excused.disagreements(suite, &ours);
            for line in &lines {
                eprintln!("          {line}");
            }
            if lines.is_empty() {
                Ok(())
            } else {
                Err(format!("{} differences to the list of excused cases", lines.len()).into())
            }
        });
    }
    if let Some(programs) = upstream {
        let theirs = run(Subject::Upstream(programs))?;
        for line in failures(&theirs) {
            eprintln!("          kube-apiserver, {line}");
        }
        document(part, &tables(&counts, &excused, &theirs))?;
    }
    Ok(())
}

/// Writes a part's tables to the document.
pub(super) fn document(part: &str, tables: &str) -> Outcome {
    let path = root().join(DOCUMENT);
    let text = std::fs::read_to_string(&path)?;
    Ok(std::fs::write(&path, replace(&text, part, tables)?)?)
}

/// Returns the counts of both servers, and the excused cases by reason, as Markdown.
fn tables(ours: &BTreeMap<String, Counts>, excused: &Excused, theirs: &[Case]) -> String {
    let none = Excused::default();
    let upstream = none.counts(theirs);
    let mut text = String::from(
        "|  | Kubist: passed | excused | failed | skipped | kube-apiserver: passed | failed | skipped |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sums = (Counts::default(), Counts::default());
    let mut row = |name: &str, own: Counts, their: Counts| {
        let _infallible = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            own.passed,
            own.excused,
            own.failed,
            own.skipped,
            their.passed,
            their.failed,
            their.skipped
        );
    };
    for (suite, own) in ours {
        let their = upstream.get(suite).copied().unwrap_or_default();
        row(suite, *own, their);
        sums = (sums.0.plus(*own), sums.1.plus(their));
    }
    if ours.len() > 1 {
        row("all", sums.0, sums.1);
    }
    let reasons = excused.by_reason();
    if !reasons.is_empty() {
        text.push_str("\n| why cases are excused | cases | of them fail on the kube-apiserver |\n");
        text.push_str("|---|--:|--:|\n");
    }
    for (reason, cases) in reasons {
        let failed = failed_of(&cases, theirs);
        let _infallible = writeln!(text, "| {reason} | {} | {failed} |", cases.len());
    }
    text
}

/// Puts text between the markers of a part.
fn replace(document: &str, part: &str, text: &str) -> Outcome<String> {
    let begin = format!("<!-- conformance:{part} -->");
    let end = format!("<!-- /conformance:{part} -->");
    let split = document.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    let (before, after) = split.ok_or_else(|| format!("{DOCUMENT} has no {begin}"))?;
    Ok(format!(
        "{before}{begin}\n\n{}\n\n{end}{after}",
        text.trim_end()
    ))
}
