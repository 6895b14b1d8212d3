//! Test suites of controller-runtime as they are: envtest starts their servers, from the directory
//! that `kubist envtest` makes, and from one with a kube-apiserver and etcd.
//!
//! Each suite starts as many servers as it likes. The time of a suite is from its start to its end,
//! with those of its servers.

use super::cases::{Case, End, Excused};
use super::conformance::document;
use super::controller_runtime::{self, PACKAGES, name};
use super::report::{Report, now};
use crate::upstream::Programs;
use kubist_test_support::process::{self, Outcome};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part's name, for `--only`.
pub(super) const PART: &str = "envtest";

/// A suite that has ended.
struct Suite {
    name: &'static str,
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
    controller_runtime::build(scratch)?;
    let folder = scratch.join(PART);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let assets = folder.join("assets");
    let shown = assets.display().to_string();
    process::output(&binary.display().to_string(), &["envtest", &shown])?;
    let ours = suites(&assets, scratch, &folder.join("kubist"))?;
    for suite in &ours {
        let title = format!("{}: {} passed", suite.name, suite.passed());
        report.step(&title, || {
            let lines = excused.disagreements(suite.name, &suite.cases);
            if lines.is_empty() {
                return Ok(());
            }
            Err(lines.join("; ").into())
        });
    }
    if let Some(programs) = upstream {
        let assets = upstream_assets(programs, &folder.join("upstream-assets"))?;
        let theirs = suites(&assets, scratch, &folder.join("upstream"))?;
        document(PART, &table(&ours, &theirs))?;
    }
    Ok(())
}

fn suites(assets: &Path, programs: &Path, folder: &Path) -> Outcome<Vec<Suite>> {
    let run = |package: &'static str| {
        let folder = folder.join(name(package));
        std::fs::create_dir_all(&folder)?;
        let environment = [
            ("KUBEBUILDER_ASSETS", assets.as_os_str()),
            ("USE_EXISTING_CLUSTER", OsStr::new("false")),
        ];
        let start = now();
        let cases = controller_runtime::run_suite(package, programs, &folder, &environment)?;
        let took = start.elapsed();
        eprintln!("          {}: {:.1} s", name(package), took.as_secs_f64());
        Ok(Suite {
            name: name(package),
            cases,
            took,
        })
    };
    PACKAGES.into_iter().map(run).collect()
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
    let mut row = |name: &str, ours: [f64; 3], theirs: [f64; 3]| {
        let _infallible = writeln!(
            text,
            "| {name} | {} | {} | {:.1} | {} | {} | {:.1} | {:.1} |",
            ours[0],
            ours[1],
            ours[2],
            theirs[0],
            theirs[1],
            theirs[2],
            theirs[2] / ours[2]
        );
    };
    #[expect(clippy::cast_precision_loss, reason = "there are few cases")]
    let figures = |suite: &Suite| {
        [
            suite.passed() as f64,
            suite.failed() as f64,
            suite.took.as_secs_f64(),
        ]
    };
    let sum = |suites: &[Suite]| {
        let all = suites.iter().map(figures);
        all.fold([0.0; 3], |sum, it| {
            [sum[0] + it[0], sum[1] + it[1], sum[2] + it[2]]
        })
    };
    for (own, their) in ours.iter().zip(theirs) {
        row(own.name, figures(own), figures(their));
    }
    row("all", sum(ours), sum(theirs));
    text
}
