//! Specs of Kubernetes' own end-to-end tests, area `[sig-apps]`: workloads, as far as they need no
//! containers. Nodes are kwok's, whose Pods become ready and, if they belong to a Job, succeed.

use super::cases::Case;
use super::e2e::{self, Specs};
use super::subject::Subject;
use kubist_test_support::process::Outcome;
use std::path::Path;

/// The part's name, for `--only`.
pub(super) const PART: &str = "e2e-apps";

/// The specs. What is left out needs the exit codes, the probes or the answers of containers,
/// volumes that somebody provides, features that are off, or is about clouds. So are most specs of
/// Jobs, whose Pods must fail or go on here and there.
const SPECS: Specs = Specs {
    suites: &[
        ("apps", "CronJob"),
        ("apps", "Deployment"),
        ("apps", "DisruptionController"),
        (
            "apps",
            "Job should run a job to completion when tasks succeed",
        ),
        ("apps", "Job should create pods"),
        ("apps", "Job should not create pods"),
        ("apps", "Job should allow to delegate reconciliation"),
        (
            "apps",
            "Job with successPolicy should succeeded when all indexes succeeded",
        ),
        ("apps", "ReplicaSet"),
        ("apps", "ReplicationController"),
        ("apps", "StatefulSet"),
        ("apps", "TTLAfterFinished"),
    ],
    alone: &[("apps", "ControllerRevision"), ("apps", "Daemon set")],
    skipped: SKIPPED,
    seconds_max: 900,
    lanes: 8,
};

const SKIPPED: &str = "CronJob .*(multiple jobs concurrently|ForbidConcurrent|ReplaceConcurrent\
    |failed finished jobs|active list|unexpected warnings|100 missed)\
    |basic image on each replica\
    |load-balancer|proportional scaling\
    |\\[Feature:|\\[FeatureGate:\
    |StatefulSet .*(basic identity|not deadlock|rolling updates|canary|legacy replacement\
    |predictable order|recreate evicted|Burst scaling|PersistentVolumeClaimPolicy|recreate PVC|StartOrdinal\
    |MinReadySeconds|AvailableReplicas|adopt matching orphans)\
    |unready pods\
    |\\[Flaky\\]|\\[Disruptive\\]";

/// Runs all suites on one cluster.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    e2e::run_specs(&SPECS, subject, programs, folder)
}
