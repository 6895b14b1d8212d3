//! Specs of Kubernetes' own end-to-end tests, areas `[sig-api-machinery]` and `[sig-auth]`.
//! `tests/interop/kubernetes` has the version.
//!
//! The server has a kube-controller-manager, a kube-scheduler and nodes of kwok, so specs that need
//! containers are left out: those of webhooks (`e2e_webhooks` has them) and of aggregated API
//! servers, and those whose Pods read their tokens.

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
/// Which specs run, and how.
pub(super) struct Specs {
    /// The areas, and how the names of the specs begin after them: the suites.
    pub(super) suites: &'static [(&'static str, &'static str)],
    /// Suites that run one after another, when all others are over.
    pub(super) alone: &'static [(&'static str, &'static str)],
    /// A regular expression of the specs that are left out.
    pub(super) skipped: &'static str,
    /// The time limit for a suite, in seconds.
    pub(super) seconds_max: u32,
    /// Suites that run at the same time: they wait most of the time.
    pub(super) lanes: usize,
}

/// The areas, and how the names of the specs begin after them: the suites.
const SUITES: &[(&str, &str)] = &[
    ("api-machinery", "API Streaming"),
    ("api-machinery", "API priority and fairness"),
    ("api-machinery", "AggregatedDiscovery"),
    ("api-machinery", "CRDValidationRatcheting"),
    ("api-machinery", "CustomResourceDefinition Watch"),
    ("api-machinery", "CustomResourceDefinition resources"),
    ("api-machinery", "CustomResourcePublishOpenAPI"),
    ("api-machinery", "CustomResourceValidationRules"),
    ("api-machinery", "Discovery"),
    ("api-machinery", "FieldValidation"),
    ("api-machinery", "Garbage collector"),
    ("api-machinery", "Generated clientset"),
    ("api-machinery", "MutatingAdmissionPolicy"),
    ("api-machinery", "Namespaces"),
    ("api-machinery", "OpenAPIV3"),
    ("api-machinery", "OrderedNamespaceDeletion"),
    ("api-machinery", "ResourceQuota"),
    ("api-machinery", "Server request timeout"),
    ("api-machinery", "ServerSideApply"),
    ("api-machinery", "Servers with support for"),
    ("api-machinery", "ValidatingAdmissionPolicy"),
    ("api-machinery", "Watchers"),
    ("api-machinery", "client-go should negotiate"),
    ("auth", "Certificates API"),
    ("auth", "SelfSubjectReview"),
    ("auth", "ServiceAccounts"),
    ("auth", "SubjectReview"),
    ("auth", "\\[Feature:NodeAuthorizer\\]"),
];
/// Left out. The first runs an aggregated API server in a container. The next six look into
/// containers. Upstream marks the last as flaky.
const SKIPPED: &str = "OpenAPI V3 for Aggregated APIServer\
    |should mount an API token into pods\
    |should mount projected service account token\
    |should set ownership and permission\
    |should support InClusterConfig\
    |ServiceAccountIssuerDiscovery\
    |Getting a secret for a workload the node has access to\
    |\\[Flaky\\]";
/// The specs of this part.
pub(super) const SPECS: Specs = Specs {
    suites: SUITES,
    alone: &[],
    skipped: SKIPPED,
    // A spec waits until history is compacted, for ten minutes at most.
    seconds_max: 1_200,
    lanes: 4,
};
/// How long the test program has to end by itself, in seconds.
const GRACE: u32 = 30;
/// The file of a suite's report.
const REPORT: &str = "report.json";

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
    run_specs(&SPECS, subject, programs, folder)
}

/// Runs the suites of specs on one cluster.
pub(super) fn run_specs(
    specs: &Specs,
    subject: Subject<'_>,
    programs: &Path,
    folder: &Path,
) -> Outcome<Vec<Case>> {
    let cluster = Cluster::start(subject, programs, folder)?;
    let kubeconfig = &cluster.server.kubeconfig;
    let next = AtomicUsize::new(0);
    let lane = || {
        let mut cases = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(suite) = specs.suites.get(number) else {
                return Outcome::Ok(cases);
            };
            let folder = folder.join(format!("suite-{number}"));
            cases.extend(run_suite(specs, *suite, kubeconfig, programs, &folder)?);
        }
    };
    let mut cases = Vec::new();
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..specs.lanes)
            .map(|_| scope.spawn(|| lane().map_err(|error| error.to_string())))
            .collect();
        for lane in lanes {
            let own = lane.join().map_err(|_| "a lane panicked".to_owned())?;
            cases.extend(own?);
        }
        Ok::<(), String>(())
    })?;
    for (number, suite) in specs.alone.iter().enumerate() {
        let folder = folder.join(format!("alone-{number}"));
        cases.extend(run_suite(specs, *suite, kubeconfig, programs, &folder)?);
    }
    Ok(cases)
}

fn run_suite(
    specs: &Specs,
    (area, suite): (&str, &str),
    kubeconfig: &Path,
    programs: &Path,
    folder: &Path,
) -> Outcome<Vec<Case>> {
    run_program(specs, (area, suite), kubeconfig, programs, folder)?;
    reported(area, suite, folder)
}

/// Runs the test program for a suite, which leaves its report in a folder.
pub(super) fn run_program(
    specs: &Specs,
    (area, suite): (&str, &str),
    kubeconfig: &Path,
    programs: &Path,
    folder: &Path,
) -> Outcome {
    std::fs::create_dir_all(folder)?;
    let log = folder.join("output");
    let file = std::fs::File::create(&log)?;
    let focus = format!("\\[sig-{area}\\] {suite}");
    let status = Command::new("timeout")
        .arg((specs.seconds_max + GRACE).to_string())
        .arg(programs.join("e2e.test"))
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--ginkgo.focus", &focus, "--ginkgo.skip", specs.skipped])
        .arg(format!("--ginkgo.timeout={}s", specs.seconds_max))
        .args(["--ginkgo.no-color", "--dump-logs-on-failure=false"])
        // The order of the specs.
        .args(["--ginkgo.seed", "1"])
        .arg("--ginkgo.json-report")
        .arg(folder.join(REPORT))
        .current_dir(folder)
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    if folder.join(REPORT).exists() {
        return Ok(());
    }
    Err(format!("{suite} ended with {status}; see {}", log.display()).into())
}

/// Returns the cases of a suite from the report in a folder.
pub(super) fn reported(area: &str, suite: &str, folder: &Path) -> Outcome<Vec<Case>> {
    let report = std::fs::read_to_string(folder.join(REPORT))?;
    let suite = suite.replace('\\', "");
    let mut cases = go_tests::specs(&suite, &report)?;
    // All other specs of the program are reported as skipped.
    let name = format!("[sig-{area}] {suite}");
    cases.retain(|it| it.name.starts_with(&name) || it.is_failed());
    Ok(cases)
}
