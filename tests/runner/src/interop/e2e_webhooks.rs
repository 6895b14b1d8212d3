//! Specs of Kubernetes' own end-to-end tests that call webhooks or an aggregated API server, with
//! those servers as processes of this machine.
//!
//! They have Pods with addresses, which are of a network namespace of their own: the part starts
//! this program again within one (`unshare`, as root, with mounts of its own too), and reads the
//! reports that it leaves.

use super::cases::Case;
use super::cluster::{self, Cluster, Nodes};
use super::e2e::{self, Specs};
use super::process_node::{ADDRESSES, ADDRESSES_MAX, Images, ProcessNode};
use super::subject::Subject;
use crate::upstream::{Programs, Store};
use clap::Args;
use kubist_test_support::process::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// The part's name, for `--only`.
pub(super) const PART: &str = "e2e-webhooks";
/// The areas and suites.
const SUITES: [(&str, &str); 5] = [
    ("api-machinery", "AdmissionWebhook"),
    ("api-machinery", "CustomResourceConversionWebhook"),
    ("api-machinery", "CustomResourceFieldSelectors"),
    ("api-machinery", "Aggregator"),
    (
        "api-machinery",
        "OpenAPIV3 should contain OpenAPI V3 for Aggregated APIServer",
    ),
];
/// The specs of this part.
const SPECS: Specs = Specs {
    suites: &[],
    alone: &SUITES,
    skipped: "\\[Flaky\\]",
    seconds_max: 600,
    lanes: 1,
};
/// What is done in the namespaces before all else: addresses, and the files of a service account
/// that servers want to see within a container, although they never use them.
const PREPARATION: &str = r#"set -e
ip -batch "$1"
shift
mount -t tmpfs none "$(readlink -f /var/run)"
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
printf none >/var/run/secrets/kubernetes.io/serviceaccount/token
exec "$@""#;
/// The test image's program.
const IMAGE: &str = "agnhost";
/// The API server to aggregate, and what it stands on.
const SAMPLE: &str = "sample-apiserver";
const ETCD: &str = "etcd";

/// Options of the run within a network namespace, which the part starts.
#[derive(Args)]
pub(crate) struct Within {
    #[arg(long)]
    programs: PathBuf,
    #[arg(long)]
    folder: PathBuf,
    #[arg(
        long,
        conflicts_with = "kube_apiserver",
        required_unless_present = "kube_apiserver"
    )]
    kubist: Option<PathBuf>,
    #[arg(long, requires = "etcd")]
    kube_apiserver: Option<PathBuf>,
    #[arg(long)]
    etcd: Option<PathBuf>,
}

/// Builds the controllers, the test program and the program of the test image.
pub(super) fn build(programs: &Path) -> Outcome {
    e2e::build(programs)?;
    let package = "k8s.io/kubernetes/test/images/agnhost";
    cluster::go_build("kubernetes", package, &programs.join(IMAGE))?;
    cluster::go_build(SAMPLE, "k8s.io/sample-apiserver", &programs.join(SAMPLE))?;
    cluster::go_build("etcd", "./server", &programs.join(ETCD))
}

/// The first of the addresses, for a kube-apiserver.
const ADVERTISED: &str = "10.244.9.1";

/// Runs all suites in a network namespace, and returns what they report.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let runner = std::env::current_exe()?;
    let addresses: Vec<String> = (1..=ADDRESSES_MAX)
        .map(|it| format!("address add {ADDRESSES}.{it}/32 dev lo\n"))
        .collect();
    let addresses = addresses.concat();
    std::fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    let file = folder.with_extension("addresses");
    std::fs::write(&file, format!("link set lo up\n{addresses}"))?;
    let mut within = Command::new("unshare");
    within.args(["--net", "--mount", "sh", "-c", PREPARATION, "sh"]);
    within.arg(&file).arg(runner).arg("e2e-webhooks-within");
    within.arg("--programs").arg(programs);
    within.arg("--folder").arg(folder);
    match subject {
        Subject::Kubist(binary) => within.arg("--kubist").arg(binary),
        Subject::Upstream(programs) => within
            .arg("--kube-apiserver")
            .arg(programs.kube_apiserver)
            .arg("--etcd")
            .arg(programs.etcd()?),
    };
    process::run_with(&mut within)?;
    let mut cases = Vec::new();
    for (number, (area, suite)) in SUITES.into_iter().enumerate() {
        cases.extend(e2e::reported(area, suite, &suite_folder(folder, number))?);
    }
    Ok(cases)
}

fn suite_folder(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("suite-{number}"))
}

/// Runs all suites, one after another: the servers of two would have the same port.
pub(crate) fn run_within(options: &Within) -> Outcome {
    let subject = match (&options.kubist, &options.kube_apiserver, &options.etcd) {
        (Some(binary), ..) => Subject::Kubist(binary),
        (None, Some(kube_apiserver), Some(etcd)) => Subject::Upstream(Programs {
            kube_apiserver,
            store: Store::Etcd(etcd),
            // There is no default route.
            advertise_address: Some(ADVERTISED),
        }),
        _ => return Err("no server".into()),
    };
    let cluster = Cluster::start_with(
        subject,
        Nodes::Processes,
        &options.programs,
        &options.folder,
    )?;
    let images = Images {
        agnhost: options.programs.join(IMAGE),
        sample_apiserver: options.programs.join(SAMPLE),
        etcd: options.programs.join(ETCD),
        kubeconfig: cluster.server.kubeconfig.clone(),
    };
    let node = ProcessNode::new(&cluster.kubectl, images, &options.folder.join("pods"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| node.run(&stop));
        let run = || -> Outcome {
            for (number, suite) in SUITES.into_iter().enumerate() {
                let folder = suite_folder(&options.folder, number);
                let kubeconfig = &cluster.server.kubeconfig;
                e2e::run_program(&SPECS, suite, kubeconfig, &options.programs, &folder)?;
            }
            Ok(())
        };
        let ended = run();
        stop.store(true, Ordering::Relaxed);
        ended
    })
}
