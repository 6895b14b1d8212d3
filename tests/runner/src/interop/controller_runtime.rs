//! Test suites of controller-runtime, with `USE_EXISTING_CLUSTER`.
//! `tests/interop/controller-runtime` has the version.
//!
//! Each suite has a server of its own, without controllers, as envtest starts one; those of
//! webhooks install their configurations in it, and are called on loopback.

use super::cases::Case;
use super::cluster::STRIPPED;
use super::go_tests;
use super::subject::{Subject, Surroundings};
use kubist_test_support::process::{self, Outcome, root};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "controller-runtime";
/// The packages, below `sigs.k8s.io/controller-runtime/pkg`.
pub(super) const PACKAGES: [&str; 17] = [
    "builder",
    "cache",
    "client",
    "client/apiutil",
    "cluster",
    "controller",
    "controller/controllerutil",
    "envtest",
    "handler",
    "internal/recorder",
    "manager",
    "manager/internal/integration",
    "source",
    "webhook",
    "webhook/admission",
    "webhook/authentication",
    "webhook/conversion",
];
/// The time limit for a suite, in seconds.
const SECONDS_MAX: &str = "600";

/// Builds the test programs.
pub(super) fn build(programs: &Path) -> Outcome {
    let folder = programs.join("controller-runtime");
    std::fs::create_dir_all(&folder)?;
    for package in PACKAGES {
        let mut go = Command::new("go");
        go.args(["test", "-c", "-vet=off", STRIPPED, "-o"])
            .arg(program(programs, package))
            .arg(path(package));
        process::run_with(go.current_dir(module()))?;
    }
    Ok(())
}

/// Runs all suites on a server each.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for package in PACKAGES {
        let folder = folder.join(name(package));
        let server = subject.start(Surroundings::Alone, &folder)?;
        let kubeconfig = server.kubeconfig.as_os_str();
        let environment = [
            ("KUBECONFIG", kubeconfig),
            ("USE_EXISTING_CLUSTER", OsStr::new("true")),
        ];
        cases.extend(run_suite(package, programs, &folder, &environment)?);
    }
    Ok(cases)
}

/// Runs a suite in this environment, with files in an existing folder.
pub(super) fn run_suite(
    package: &'static str,
    programs: &Path,
    folder: &Path,
    environment: &[(&str, &OsStr)],
) -> Outcome<Vec<Case>> {
    let report = folder.join("report.json");
    let log = folder.join("output");
    let file = std::fs::File::create(&log)?;
    let status = Command::new("timeout")
        .arg(SECONDS_MAX)
        .arg(program(programs, package))
        .args(["-test.v", "-ginkgo.no-color"])
        .arg(format!("-ginkgo.json-report={}", report.display()))
        .envs(environment.iter().copied())
        .current_dir(source(package)?)
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    let output = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    let mut own = go_tests::tests(name(package), &output);
    if let Ok(report) = std::fs::read_to_string(&report) {
        own.extend(go_tests::specs(name(package), &report)?);
    }
    // A failure that is no case's, such as a panic or the time limit.
    if own.is_empty() || !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{package} ended with {status}; see {}", log.display()).into());
    }
    Ok(own)
}

fn module() -> PathBuf {
    root().join("tests/interop/controller-runtime")
}

fn path(package: &str) -> String {
    format!("sigs.k8s.io/controller-runtime/pkg/{package}")
}

/// The last segment of the package's path.
pub(super) fn name(package: &'static str) -> &'static str {
    package.rsplit('/').next().unwrap_or(package)
}

fn program(programs: &Path, package: &'static str) -> PathBuf {
    programs.join("controller-runtime").join(name(package))
}

/// Returns the package's folder, where its tests find their files.
fn source(package: &str) -> Outcome<PathBuf> {
    let output = Command::new("go")
        .args(["list", "-f", "{{.Dir}}"])
        .arg(path(package))
        .current_dir(module())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if text.trim().is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(PathBuf::from(text.trim()))
}
