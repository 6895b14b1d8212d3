//! helm 3 and 4: a chart is created, installed, upgraded, rolled back and uninstalled, waiting for
//! each. `tests/interop/helm3` and `helm4` have the versions.
//!
//! helm 3 patches objects; helm 4 applies them on the server.

use super::cases::Case;
use super::cluster::{self, Cluster, go_build};
use super::kubectl::Shell;
use super::subject::Subject;
use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "helm";
/// The major versions.
const MAJORS: [u32; 2] = [3, 4];
/// The time limit that helm has for a release to be ready.
const TIMEOUT: &str = "60s";
/// A custom resource definition of the chart, and a resource of it.
const DEFINITION: &str = include_str!("../../../interop/helm/definition.yaml");
const RESOURCE: &str = include_str!("../../../interop/helm/resource.yaml");

/// Builds the controllers and both versions.
pub(super) fn build(programs: &Path) -> Outcome {
    cluster::build(programs)?;
    for major in MAJORS {
        let package = format!("helm.sh/helm/v{major}/cmd/helm");
        go_build(&format!("helm{major}"), &package, &program(programs, major))?;
    }
    Ok(())
}

fn program(programs: &Path, major: u32) -> PathBuf {
    programs.join(format!("helm-{major}"))
}

/// Runs both on one cluster.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let cluster = Cluster::start(subject, programs, folder)?;
    let mut cases = Vec::new();
    for major in MAJORS {
        let release = Release {
            major,
            program: program(programs, major),
            kubeconfig: &cluster.server.kubeconfig,
            kubectl: &cluster.kubectl,
            home: folder,
        };
        for (name, step) in STEPS {
            cases.push(Case::of(format!("helm {major}"), *name, step(&release)));
        }
    }
    Ok(cases)
}

/// A release, and a helm to work on it.
struct Release<'a> {
    major: u32,
    program: PathBuf,
    kubeconfig: &'a Path,
    kubectl: &'a Shell,
    home: &'a Path,
}

type Step = fn(&Release<'_>) -> Outcome;

const STEPS: &[(&str, Step)] = &[
    ("create", create),
    ("install --dry-run=server", dry_run),
    ("install --wait", install),
    ("list and status", list),
    ("upgrade --wait", upgrade),
    ("upgrade without a change", upgrade_again),
    ("upgrade after another client's change", upgrade_foreign),
    ("get manifest agrees with the server", manifest),
    ("rollback --wait", rollback),
    ("history", history),
    ("uninstall --wait", uninstall),
    ("install again", install_again),
];

impl Release<'_> {
    fn helm(&self, words: &str) -> Outcome<String> {
        let arguments: Vec<&str> = words.split_whitespace().collect();
        let output = Command::new(&self.program)
            .args(["--namespace", &self.namespace()])
            .args(&arguments)
            .env("KUBECONFIG", self.kubeconfig)
            .env("HOME", self.home)
            .current_dir(self.home)
            .output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("helm {words}: {}: {}", output.status, message.trim()).into())
    }

    fn namespace(&self) -> String {
        format!("helm-{}", self.major)
    }

    fn chart(&self) -> String {
        format!("chart{}", self.major)
    }

    fn get(&self, what: &str) -> Outcome<Value> {
        self.kubectl
            .json(&format!("get {what} -n {}", self.namespace()))
    }

    fn deployment(&self) -> Outcome<Value> {
        self.get(&format!("deployment/web-{}", self.chart()))
    }

    fn expect_replicas(&self, expected: u64) -> Outcome {
        let deployment = self.deployment()?;
        let (asked, ready) = (
            &deployment["spec"]["replicas"],
            &deployment["status"]["readyReplicas"],
        );
        if *asked == expected && *ready == expected {
            return Ok(());
        }
        Err(format!("{asked} replicas are asked for and {ready} ready, not {expected}").into())
    }
}

fn create(release: &Release<'_>) -> Outcome {
    let chart = release.chart();
    release.helm(&format!("create {chart}"))?;
    let folder = release.home.join(&chart);
    std::fs::create_dir_all(folder.join("crds"))?;
    let of = |text: &str| text.replace("MAJOR", &release.major.to_string());
    std::fs::write(folder.join("crds/definition.yaml"), of(DEFINITION))?;
    std::fs::write(folder.join("templates/resource.yaml"), of(RESOURCE))?;
    Ok(())
}

fn dry_run(release: &Release<'_>) -> Outcome {
    let chart = release.chart();
    // Its custom resources exist only after the definition does.
    let words = format!("install web ./{chart} --dry-run=server --create-namespace --skip-crds");
    release.helm(&format!("{words} --set resource=false"))?;
    let namespace = release.namespace();
    let get = format!("get namespace {namespace}");
    release.kubectl.refuse(&get, "not found")
}

fn install(release: &Release<'_>) -> Outcome {
    let chart = release.chart();
    let words = format!("install web ./{chart} --create-namespace --wait --timeout {TIMEOUT}");
    release.helm(&words)?;
    release.get("service,serviceaccount")?;
    release.expect_replicas(1)?;
    let widget = release.get(&format!("widget{}s/web", release.major))?;
    if widget["spec"]["size"] == 1 {
        return Ok(());
    }
    Err(format!("the custom resource is {widget}").into())
}

fn list(release: &Release<'_>) -> Outcome {
    let list: Value = serde_json::from_str(&release.helm("list -o json")?)?;
    let status: Value = serde_json::from_str(&release.helm("status web -o json")?)?;
    if list[0]["status"] == "deployed" && status["info"]["status"] == "deployed" {
        return Ok(());
    }
    Err(format!("the list is {list}").into())
}

fn upgrade(release: &Release<'_>) -> Outcome {
    let chart = release.chart();
    let set = "--set replicaCount=3,podLabels.tier=front,resourceSize=2";
    release.helm(&format!(
        "upgrade web ./{chart} {set} --wait --timeout {TIMEOUT}"
    ))?;
    release.expect_replicas(3)?;
    let deployment = release.deployment()?;
    if deployment["spec"]["template"]["metadata"]["labels"]["tier"] == "front" {
        return Ok(());
    }
    Err("the label of the Pods is missing".into())
}

fn upgrade_again(release: &Release<'_>) -> Outcome {
    let version = |it: &Value| it["metadata"]["generation"].clone();
    let before = version(&release.deployment()?);
    let words = format!("upgrade web ./{} --reuse-values --wait", release.chart());
    release.helm(&format!("{words} --timeout {TIMEOUT}"))?;
    let after = version(&release.deployment()?);
    if before == after {
        return Ok(());
    }
    Err(format!("the generation was {before} and is {after}").into())
}

/// What another client added stays; what it changed is overwritten. helm 4 has to force that.
fn upgrade_foreign(release: &Release<'_>) -> Outcome {
    let (namespace, chart) = (release.namespace(), release.chart());
    let on = format!("deployment/web-{chart} -n {namespace}");
    release.kubectl.run(&format!("annotate {on} other=here"))?;
    release.kubectl.run(&format!("scale {on} --replicas 5"))?;
    let words = format!("upgrade web ./{chart} --reuse-values --set replicaCount=2");
    if release.major == 4 {
        match release.helm(&words) {
            Ok(_) => return Err("the change of another client is no conflict".into()),
            Err(error) if error.to_string().contains("conflict") => {}
            Err(error) => return Err(error),
        }
    }
    let force = if release.major == 4 {
        "--force-conflicts"
    } else {
        ""
    };
    release.helm(&format!("{words} {force} --wait --timeout {TIMEOUT}"))?;
    release.expect_replicas(2)?;
    if release.deployment()?["metadata"]["annotations"]["other"] == "here" {
        return Ok(());
    }
    Err("the annotation of another client is gone".into())
}

fn manifest(release: &Release<'_>) -> Outcome {
    let text = release.helm("get manifest web")?;
    let path = release
        .home
        .join(format!("manifest-{}.yaml", release.major));
    std::fs::write(&path, text)?;
    let words = format!("diff -f {} -n {}", path.display(), release.namespace());
    release.kubectl.run(&words).map(drop)
}

fn rollback(release: &Release<'_>) -> Outcome {
    let force = if release.major == 4 {
        "--force-conflicts"
    } else {
        ""
    };
    release.helm(&format!(
        "rollback web 1 {force} --wait --timeout {TIMEOUT}"
    ))?;
    release.expect_replicas(1)?;
    let deployment = release.deployment()?;
    let label = &deployment["spec"]["template"]["metadata"]["labels"]["tier"];
    if label.is_null() {
        return Ok(());
    }
    Err("the label of the later revision is still there".into())
}

fn history(release: &Release<'_>) -> Outcome {
    let history: Value = serde_json::from_str(&release.helm("history web -o json")?)?;
    let states: Vec<&str> = history
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["status"].as_str())
        .collect();
    let (last, earlier) = states.split_last().ok_or("there is no revision")?;
    if *last == "deployed"
        && earlier
            .iter()
            .all(|it| matches!(*it, "superseded" | "failed"))
    {
        return Ok(());
    }
    Err(format!("the revisions are {states:?}").into())
}

fn uninstall(release: &Release<'_>) -> Outcome {
    release.helm(&format!("uninstall web --wait --timeout {TIMEOUT}"))?;
    let widgets = format!("widget{}s", release.major);
    let left = release.get(&format!("deployments,services,secrets,{widgets}"))?;
    match left["items"].as_array().map_or(0, Vec::len) {
        0 => Ok(()),
        count => Err(format!("{count} objects are left").into()),
    }
}

fn install_again(release: &Release<'_>) -> Outcome {
    let chart = release.chart();
    release.helm(&format!("install web ./{chart} --wait --timeout {TIMEOUT}"))?;
    release.expect_replicas(1)
}
