//! The sample projects of kubebuilder: their test suites with `USE_EXISTING_CLUSTER`.
//! `tests/interop/kubebuilder` has the version.
//!
//! The projects are not in kubebuilder's module. Its program writes them, with their webhooks and
//! conversions. The suites of the webhooks have no specs, so they start nothing and are left out.

mod projects;

use super::cases::Case;
use super::cluster::go_build;
use super::go_tests::GoSuite;
use super::subject::{Subject, Surroundings};
use kubist_test_support::process::{self, Outcome};
use projects::PROJECTS;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "kubebuilder";
const KUBEBUILDER: &str = "sigs.k8s.io/kubebuilder/v4";
const CONTROLLER_GEN: &str = "sigs.k8s.io/controller-tools/cmd/controller-gen";

/// Builds kubebuilder, lets it write the projects, and builds their suites.
pub(super) fn build(programs: &Path) -> Outcome {
    let folder = programs.join(PART);
    std::fs::create_dir_all(&folder)?;
    let (kubebuilder, generator) = (folder.join("kubebuilder"), folder.join("controller-gen"));
    go_build(PART, KUBEBUILDER, &kubebuilder)?;
    go_build(PART, CONTROLLER_GEN, &generator)?;
    for project in &PROJECTS {
        let at = folder.join(project.name);
        if at.exists() {
            std::fs::remove_dir_all(&at)?;
        }
        std::fs::create_dir_all(&at)?;
        let run = |program: &Path, words: &str| {
            let mut command = Command::new(program);
            command.args(words.split_whitespace()).current_dir(&at);
            process::run_with(command.env("GOFLAGS", "-mod=mod"))
        };
        run(
            &kubebuilder,
            "init --domain testproject.org --repo testproject.org/project \
             --skip-go-version-check --fetch-deps=false",
        )?;
        for command in project.commands {
            match command.split_once(' ') {
                Some((what @ ("api" | "webhook"), words)) => {
                    run(&kubebuilder, &format!("create {what} --make=false {words}"))?;
                }
                _ => run(&kubebuilder, command)?,
            }
        }
        run(&generator, "object paths=./api/...")?;
        run(
            &generator,
            "rbac:roleName=manager-role crd webhook paths=./... \
             output:crd:artifacts:config=config/crd/bases",
        )?;
        for package in packages(&at)? {
            let program = format!("test -c -o {} .", program(&package).display());
            let mut go = Command::new("go");
            go.args(program.split_whitespace()).current_dir(&package);
            process::run_with(go.env("GOFLAGS", "-mod=mod"))?;
        }
    }
    Ok(())
}

/// Runs each suite on a server of its own.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    for suite in suites(programs)? {
        let own = suite.source.file_name().unwrap_or_default();
        let folder = folder.join(&suite.name).join(own);
        let server = subject.start(Surroundings::Alone, &folder)?;
        let environment = [
            ("KUBECONFIG", server.kubeconfig.as_os_str()),
            ("USE_EXISTING_CLUSTER", OsStr::new("true")),
        ];
        cases.extend(suite.run(&folder, &environment)?);
    }
    Ok(cases)
}

/// Returns the suites whose programs have been built into a folder; several of a project have its
/// name.
pub(super) fn suites(programs: &Path) -> Outcome<Vec<GoSuite>> {
    let mut suites = Vec::new();
    for project in &PROJECTS {
        for source in packages(&programs.join(PART).join(project.name))? {
            suites.push(GoSuite {
                name: project.name.to_owned(),
                program: program(&source),
                source,
            });
        }
    }
    Ok(suites)
}

fn program(package: &Path) -> PathBuf {
    package.join("suite.test")
}

/// Returns the folders of a project that have a suite, sorted.
fn packages(project: &Path) -> Outcome<Vec<PathBuf>> {
    let top = project.join("internal/controller");
    let mut folders = vec![top.clone()];
    for entry in std::fs::read_dir(&top)? {
        folders.push(entry?.path());
    }
    folders.retain(|it| it.join("suite_test.go").is_file());
    folders.sort();
    if folders.is_empty() {
        return Err(format!("no suites in {}", top.display()).into());
    }
    Ok(folders)
}
