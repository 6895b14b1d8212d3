//! Test suites of other projects as they are: envtest starts their servers, from the directory
//! that `kubist envtest` makes, and from one with a kube-apiserver and etcd.
//!
//! They are those of controller-runtime, of kubebuilder's sample projects, and of operators. Each
//! suite starts as many servers as it likes. The time of a suite is from its start to its end, with
//! those of its servers.

use super::cases::{Case, End, Excused};
use super::conformance::document;
use super::go_tests::GoSuite;
use super::operators::OPERATORS;
use super::report::{Report, now};
use super::{controller_runtime, kubebuilder};
use crate::upstream::Programs;
use kubist_test_support::process::{self, Outcome};
use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part's name, for `--only`.
pub(super) const PART: &str = "envtest";

/// The suites of a project, in the order in which they run.
struct Group {
    name: &'static str,
    suites: Vec<GoSuite>,
}

/// A suite that has ended. Several programs may be one suite.
struct Suite {
    group: &'static str,
    name: String,
    cases: Vec<Case>,
    took: Duration,
}

impl Suite {
    fn count(&self, end: fn(&End) -> bool) -> usize {
        self.cases.iter().filter(|it| end(&it.end)).count()
    }

    fn passed(&self) -> usize {
        self.count(|end| matches!(end, End::Passed))
    }

    fn failed(&self) -> usize {
        self.count(|end| matches!(end, End::Failed(_)))
    }
}

/// Runs the suites, and writes the table if there is a kube-apiserver to compare with.
pub(super) fn run(
    binary: &Path,
    upstream: Option<Programs<'_>>,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let excused = Excused::read(PART)?;
    let groups = build(scratch)?;
    let folder = scratch.join(PART);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let assets = folder.join("assets");
    let shown = assets.display().to_string();
    process::output(&binary.display().to_string(), &["envtest", &shown])?;
    let ours = suites(&groups, &assets, &folder.join("kubist"))?;
    for suite in &ours {
        let title = format!("{} {}: {} passed", suite.group, suite.name, suite.passed());
        report.step(&title, || {
            let lines = excused.disagreements(&suite.name, &suite.cases);
            if lines.is_empty() {
                return Ok(());
            }
            Err(lines.join("; ").into())
        });
    }
    if let Some(programs) = upstream {
        let assets = upstream_assets(programs, &folder.join("upstream-assets"))?;
        let theirs = suites(&groups, &assets, &folder.join("upstream"))?;
        document(PART, &table(&ours, &theirs))?;
    }
    Ok(())
}

/// Builds all suites.
fn build(scratch: &Path) -> Outcome<Vec<Group>> {
    controller_runtime::build(scratch)?;
    kubebuilder::build(scratch)?;
    let mut groups = vec![
        Group {
            name: controller_runtime::PART,
            suites: controller_runtime::suites(scratch)?,
        },
        Group {
            name: kubebuilder::PART,
            suites: kubebuilder::suites(scratch)?,
        },
    ];
    for operator in &OPERATORS {
        operator.build(scratch)?;
        groups.push(Group {
            name: operator.name,
            suites: operator.suites(scratch)?,
        });
    }
    Ok(groups)
}

/// Runs all suites with the programs of a directory.
fn suites(groups: &[Group], assets: &Path, folder: &Path) -> Outcome<Vec<Suite>> {
    let mut ended: Vec<Suite> = Vec::new();
    let environment = [
        ("KUBEBUILDER_ASSETS", assets.as_os_str()),
        ("USE_EXISTING_CLUSTER", OsStr::new("false")),
    ];
    for group in groups {
        for (at, suite) in group.suites.iter().enumerate() {
            let folder = folder.join(group.name).join(at.to_string());
            std::fs::create_dir_all(&folder)?;
            let start = now();
            let cases = suite.run(&folder, &environment)?;
            let took = start.elapsed();
            let (group, seconds) = (group.name, took.as_secs_f64());
            eprintln!("          {group} {}: {seconds:.1} s", suite.name);
            match ended.last_mut() {
                Some(last) if last.group == group && last.name == suite.name => {
                    last.cases.extend(cases);
                    last.took += took;
                }
                _ => ended.push(Suite {
                    group,
                    name: suite.name.clone(),
                    cases,
                    took,
                }),
            }
        }
    }
    Ok(ended)
}

/// A directory with the programs of upstream, under the names that envtest looks for.
fn upstream_assets(programs: Programs<'_>, assets: &Path) -> Outcome<PathBuf> {
    std::fs::create_dir_all(assets)?;
    let kubectl = process::output("sh", &["-c", "command -v kubectl"])?;
    let kubectl = PathBuf::from(kubectl.trim());
    for (name, program) in [
        ("kube-apiserver", programs.kube_apiserver),
        ("etcd", programs.etcd()?),
        ("kubectl", &kubectl),
    ] {
        std::os::unix::fs::symlink(std::fs::canonicalize(program)?, assets.join(name))?;
    }
    Ok(assets.to_path_buf())
}

fn table(ours: &[Suite], theirs: &[Suite]) -> String {
    let mut text = String::from(
        "|  | Kubist: passed | failed | seconds | kube-apiserver, etcd: passed | failed | \
         seconds | times as fast |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut row = |name: &str, sums: [Figures; 2]| {
        let [ours, theirs] = sums;
        let times = theirs.seconds / ours.seconds;
        let _infallible = writeln!(text, "| {name} | {ours} | {theirs} | {times:.1} |");
    };
    let mut all = [Figures::default(); 2];
    let groups = ours.chunk_by(|one, next| one.group == next.group);
    for (own, their) in groups.zip(theirs.chunk_by(|one, next| one.group == next.group)) {
        let mut sums = [Figures::default(); 2];
        for (own, their) in own.iter().zip(their) {
            let figures = [Figures::of(own), Figures::of(their)];
            row(&own.name, figures);
            sums = [sums[0].plus(figures[0]), sums[1].plus(figures[1])];
        }
        row(&format!("**{}**", own[0].group), sums);
        all = [all[0].plus(sums[0]), all[1].plus(sums[1])];
    }
    row("**all**", all);
    text
}

/// What a table tells of one or more suites.
#[derive(Clone, Copy, Default)]
struct Figures {
    passed: usize,
    failed: usize,
    seconds: f64,
}

impl Figures {
    fn of(suite: &Suite) -> Self {
        Self {
            passed: suite.passed(),
            failed: suite.failed(),
            seconds: suite.took.as_secs_f64(),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            seconds: self.seconds + other.seconds,
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {} | {:.1}", self.passed, self.failed, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_sum_for_each_project_and_one_of_all() {
        let suite = |group, name: &str, seconds| Suite {
            group,
            name: name.to_owned(),
            cases: vec![Case::of(name, "a case", Ok(()))],
            took: Duration::from_secs(seconds),
        };
        let ours = [suite("a", "x", 1), suite("a", "y", 2), suite("b", "x", 1)];
        let theirs = [suite("a", "x", 3), suite("a", "y", 3), suite("b", "x", 6)];
        let table = table(&ours, &theirs);
        let rows: Vec<_> = table.lines().skip(2).collect();
        let expected = [
            "| x | 1 | 0 | 1.0 | 1 | 0 | 3.0 | 3.0 |",
            "| y | 1 | 0 | 2.0 | 1 | 0 | 3.0 | 1.5 |",
            "| **a** | 2 | 0 | 3.0 | 2 | 0 | 6.0 | 2.0 |",
            "| x | 1 | 0 | 1.0 | 1 | 0 | 6.0 | 6.0 |",
            "| **b** | 1 | 0 | 1.0 | 1 | 0 | 6.0 | 6.0 |",
            "| **all** | 3 | 0 | 4.0 | 3 | 0 | 12.0 | 3.0 |",
        ];
        assert_eq!(rows, expected);
    }
}
