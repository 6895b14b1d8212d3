//! Specs of Kubernetes' own end-to-end tests, area `[sig-api-machinery]`.
//! `tests/interop/kubernetes` has the version.
//!
//! The server has a kube-controller-manager, a kube-scheduler and nodes of kwok, so specs that need
//! containers are left out: those of webhooks and of aggregated API servers, and that of field
//! selectors, whose definition is converted by a webhook.

use super::cases::Case;
use super::cluster::{self, Cluster, STRIPPED};
use super::go_tests;
use super::subject::Subject;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The part's name, for `--only`.
pub(super) const PART: &str = "e2e";
/// How the names of the specs begin after the area: the suites.
const SUITES: [&str; 19] = [
    "API Streaming",
    "AggregatedDiscovery",
    "CRDValidationRatcheting",
    "CustomResourceDefinition Watch",
    "CustomResourceDefinition resources",
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
/// Left out. The first waits ten minutes for etcd to compact, and Kubist's history ends by its
/// length and not by time. The second runs an aggregated API server in a container. Upstream marks
/// the last as flaky.
const SKIPPED: &str = "if the original version has been compacted away\
    |OpenAPI V3 for Aggregated APIServer\
    |\\[Flaky\\]";
/// The time limit for a suite, in seconds.
const SECONDS_MAX: &str = "600";
/// Suites that run at the same time: they wait most of the time.
const LANES: usize = 4;

/// Builds the controllers and the test program.
pub(super) fn build(programs: &Path) -> Outcome {
    cluster::build(programs)?;
    let mut go = Command::new("go");
    go.args(["test", "-c", "-vet=off", STRIPPED, "-o"])
        .arg(programs.join("e2e.test"))
        .arg("k8s.io/kubernetes/test/e2e");
    process::run_with(go.current_dir(root().join("tests/interop/kubernetes")))
}

/// Runs all suites on one cluster.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let cluster = Cluster::start(subject, programs, folder)?;
    let kubeconfig = &cluster.server.kubeconfig;
    let next = AtomicUsize::new(0);
    let lane = || {
        let mut cases = Vec::new();
        while let Some((number, suite)) = numbered(next.fetch_add(1, Ordering::Relaxed)) {
            let folder = folder.join(format!("suite-{number}"));
            cases.extend(run_suite(suite, kubeconfig, programs, &folder)?);
        }
        Outcome::Ok(cases)
    };
    let mut cases = Vec::new();
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|_| scope.spawn(|| lane().map_err(|error| error.to_string())))
            .collect();
        for lane in lanes {
            let own = lane.join().map_err(|_| "a lane panicked".to_owned())?;
            cases.extend(own?);
        }
        Ok::<(), String>(())
    })?;
    Ok(cases)
}

fn numbered(number: usize) -> Option<(usize, &'static str)> {
    Some((number, *SUITES.get(number)?))
}

fn run_suite(suite: &str, kubeconfig: &Path, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    std::fs::create_dir_all(folder)?;
    let report = folder.join("report.json");
    let log = folder.join("output");
    let file = std::fs::File::create(&log)?;
    let focus = format!("\\[sig-api-machinery\\] {suite}");
    let status = Command::new("timeout")
        .arg(SECONDS_MAX)
        .arg(programs.join("e2e.test"))
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--ginkgo.focus", &focus, "--ginkgo.skip", SKIPPED])
        .args(["--ginkgo.no-color", "--dump-logs-on-failure=false"])
        // The order of the specs.
        .args(["--ginkgo.seed", "1"])
        .arg("--ginkgo.json-report")
        .arg(&report)
        .current_dir(folder)
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    let report = std::fs::read_to_string(&report)
        .map_err(|_| format!("{suite} ended with {status}; see {}", log.display()))?;
    let mut cases = go_tests::specs(suite, &report)?;
    // All other specs of the program are reported as skipped.
    let name = format!("[sig-api-machinery] {suite}");
    cases.retain(|it| it.name.starts_with(&name) || it.is_failed());
    Ok(cases)
}
