//! The sample projects of kubebuilder: their test suites with `USE_EXISTING_CLUSTER`.
//! `tests/interop/kubebuilder` has the version.
//!
//! The projects are not in kubebuilder's module. Its program writes them, with the commands of its
//! `test/testdata/generate.sh`, except for webhooks, second versions, which need one, and the
//! types of another project.

use super::cases::Case;
use super::cluster::go_build;
use super::go_tests;
use super::subject::{Subject, Surroundings};
use kubist_test_support::process::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "kubebuilder";
const KUBEBUILDER: &str = "sigs.k8s.io/kubebuilder/v4";
const CONTROLLER_GEN: &str = "sigs.k8s.io/controller-tools/cmd/controller-gen";
/// The time limit for a suite, in seconds.
const SECONDS_MAX: &str = "300";
/// The beginning of all `create api` commands.
const API: &str = "create api --make=false";

/// A project, and the commands that write it, below [`API`] if they begin with `--`.
struct Project {
    name: &'static str,
    commands: &'static [&'static str],
}

const PROJECTS: [Project; 3] = [
    Project {
        name: "project-v4",
        commands: &[
            "--group crew --version v1 --kind Captain --controller=true --resource=true",
            "--group crew --version v1 --kind FirstMate --controller=true --resource=true",
            "--group crew --version v1 --kind Sailor --controller=true --resource=true",
            "--group crew --version v1 --kind Admiral --plural=admirales --controller=true \
             --resource=true --namespaced=false",
        ],
    },
    Project {
        name: "project-v4-multigroup",
        commands: &[
            "edit --multigroup=true",
            "--group crew --version v1 --kind Captain --controller=true --resource=true",
            "--group ship --version v1beta1 --kind Frigate --controller=true --resource=true",
            "--group ship --version v1 --kind Destroyer --controller=true --resource=true \
             --namespaced=false",
            "--group ship --version v2alpha1 --kind Cruiser --controller=true --resource=true \
             --namespaced=false",
            "--group sea-creatures --version v1beta1 --kind Kraken --controller=true \
             --resource=true",
            "--group sea-creatures --version v1beta2 --kind Leviathan --controller=true \
             --resource=true",
            "--group foo.policy --version v1 --kind HealthCheckPolicy --controller=true \
             --resource=true",
            "--group apps --version v1 --kind Deployment --controller=true --resource=false",
            "--group foo --version v1 --kind Bar --controller=true --resource=true",
            "--group fiz --version v1 --kind Bar --controller=true --resource=true",
        ],
    },
    Project {
        name: "project-v4-with-plugins",
        commands: &[
            "--group example.com --version v1alpha1 --kind Memcached \
             --image=memcached:1.6.26-alpine3.19 \
             --image-container-command=memcached,--memory-limit=64,-o,modern,-v \
             --image-container-port=11211 --run-as-user=1001 --plugins=deploy-image/v1-alpha",
            "--group example.com --version v1alpha1 --kind Busybox --image=busybox:1.36.1 \
             --plugins=deploy-image/v1-alpha",
            "--group example.com --version v1 --kind Wordpress --controller=true --resource=true",
        ],
    },
];

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
            match command.strip_prefix("--") {
                Some(_) => run(&kubebuilder, &format!("{API} {command}"))?,
                None => run(&kubebuilder, command)?,
            }
        }
        // Only a project with types of its own has the folder.
        run(&generator, "object paths=./api/...")?;
        run(
            &generator,
            "rbac:roleName=manager-role crd paths=./... output:crd:artifacts:config=config/crd/bases",
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
    for project in &PROJECTS {
        for package in packages(&programs.join(PART).join(project.name))? {
            let own = package.file_name().unwrap_or_default();
            let folder = folder.join(project.name).join(own);
            cases.extend(suite(subject, project.name, &package, &folder)?);
        }
    }
    Ok(cases)
}

fn suite(subject: Subject<'_>, project: &str, package: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let server = subject.start(Surroundings::Alone, folder)?;
    let (report, log) = (folder.join("report.json"), folder.join("output"));
    let file = std::fs::File::create(&log)?;
    let status = Command::new("timeout")
        .arg(SECONDS_MAX)
        .arg(program(package))
        .args(["-test.v", "-ginkgo.no-color"])
        .arg(format!("-ginkgo.json-report={}", report.display()))
        .env("KUBECONFIG", &server.kubeconfig)
        .env("USE_EXISTING_CLUSTER", "true")
        .current_dir(package)
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    let text = std::fs::read_to_string(&report)
        .map_err(|error| format!("no report: {error}; see {}", log.display()))?;
    let cases = go_tests::specs(project, &text)?;
    // A failure that is no case's, such as a panic or the time limit.
    if cases.is_empty() || !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{project} ended with {status}; see {}", log.display()).into());
    }
    Ok(cases)
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
