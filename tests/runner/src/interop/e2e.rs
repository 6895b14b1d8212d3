//! Specs of Kubernetes' own end-to-end tests, area `[sig-api-machinery]`. `tests/interop/kubernetes`
//! has the version.
//!
//! The server has a kube-controller-manager, a kube-scheduler, and nodes of kwok, so specs that need
//! containers are left out: those of webhooks and of aggregated API servers.

use super::cases::Case;
use super::cluster::{self, Cluster};
use super::go_tests;
use super::subject::Subject;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "e2e";
/// How the names of the specs begin after the area: the suites.
const SUITES: [&str; 20] = [
    "API Streaming",
    "AggregatedDiscovery",
    "CRDValidationRatcheting",
    "CustomResourceDefinition Watch",
    "CustomResourceDefinition resources",
    "CustomResourceFieldSelectors",
    "CustomResourcePublishOpenAPI",
    "CustomResourceValidationRules",
    "Discovery",
    "FieldValidation",
    "Garbage collector",
    "Generated clientset",
    "Namespaces",
    "OpenAPIV3",
    "OrderedNamespaceDeletion",
    "Server request timeout",
    "ServerSideApply",
    "Servers with support for",
    "Watchers",
    "client-go should negotiate",
];
/// Left out: it waits ten minutes for etcd to compact, and Kubist's history ends by its length and
/// not by time.
const SKIPPED: &str = "if the original version has been compacted away";
/// The time limit for all specs, in seconds.
const SECONDS_MAX: &str = "2400";

/// Builds the controllers and the test program.
pub(super) fn build(programs: &Path) -> Outcome {
    cluster::build(programs)?;
    let mut go = Command::new("go");
    go.args(["test", "-c", "-o"])
        .arg(programs.join("e2e.test"))
        .arg("k8s.io/kubernetes/test/e2e");
    process::run_with(go.current_dir(root().join("tests/interop/kubernetes")))
}

/// Runs the specs.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let cluster = Cluster::start(subject, programs, folder)?;
    let report = folder.join("report.json");
    let log = folder.join("output");
    let file = std::fs::File::create(&log)?;
    let focus = format!("\\[sig-api-machinery\\] ({})", SUITES.join("|"));
    let status = Command::new("timeout")
        .arg(SECONDS_MAX)
        .arg(programs.join("e2e.test"))
        .arg("--kubeconfig")
        .arg(&cluster.server.kubeconfig)
        .args(["--ginkgo.focus", &focus, "--ginkgo.skip", SKIPPED])
        .args(["--ginkgo.no-color", "--dump-logs-on-failure=false"])
        .arg("--ginkgo.json-report")
        .arg(&report)
        .current_dir(folder)
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    let report = std::fs::read_to_string(&report)
        .map_err(|_| format!("e2e.test ended with {status}; see {}", log.display()))?;
    let mut cases = go_tests::specs(PART, &report)?;
    // All others of the program are reported as skipped.
    cases.retain_mut(|case| {
        let suite = SUITES.iter().find(|suite| {
            let name = case.name.strip_prefix("[sig-api-machinery] ");
            name.unwrap_or(&case.name).starts_with(**suite)
        });
        match suite {
            Some(suite) => (*suite).clone_into(&mut case.suite),
            None => return case.is_failed(),
        }
        true
    });
    Ok(cases)
}
