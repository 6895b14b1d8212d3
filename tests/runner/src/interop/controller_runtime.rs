//! Test suites of controller-runtime, with `USE_EXISTING_CLUSTER`.
//! `tests/interop/controller-runtime` has the version.
//!
//! Each suite has a server of its own, without controllers, as envtest starts one; those of
//! webhooks install their configurations in it, and are called on loopback.

use super::cases::Case;
use super::cluster::STRIPPED;
use super::go_tests::{self, GoSuite};
use super::subject::{Subject, Surroundings};
use kubist_test_support::process::{self, Outcome, root};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "controller-runtime";
/// The packages, below `sigs.k8s.io/controller-runtime/pkg`.
const PACKAGES: [&str; 17] = [
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
    for suite in suites(programs)? {
        let folder = folder.join(&suite.name);
        let server = subject.start(Surroundings::Alone, &folder)?;
        let kubeconfig = server.kubeconfig.as_os_str();
        let environment = [
            ("KUBECONFIG", kubeconfig),
            ("USE_EXISTING_CLUSTER", OsStr::new("true")),
        ];
        cases.extend(suite.run(&folder, &environment)?);
    }
    Ok(cases)
}

/// Returns the suites whose programs have been built into a folder.
pub(super) fn suites(programs: &Path) -> Outcome<Vec<GoSuite>> {
    let suite = |package: &&'static str| {
        Ok(GoSuite {
            name: name(package).to_owned(),
            program: program(programs, package),
            source: go_tests::source(&module(), &path(package))?,
        })
    };
    PACKAGES.iter().map(suite).collect()
}

fn module() -> PathBuf {
    root().join("tests/interop/controller-runtime")
}

fn path(package: &str) -> String {
    format!("sigs.k8s.io/controller-runtime/pkg/{package}")
}

/// The last segment of the package's path.
fn name(package: &'static str) -> &'static str {
    package.rsplit('/').next().unwrap_or(package)
}

fn program(programs: &Path, package: &'static str) -> PathBuf {
    programs.join("controller-runtime").join(name(package))
}
