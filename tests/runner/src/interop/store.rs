//! Kubernetes' end-to-end tests on a kube-apiserver that stands on `kubist etcd`, and on one on
//! etcd: the same specs as those of the part `e2e`.

use super::cases::Case;
use super::e2e;
use super::etcd;
use super::subject::Subject;
use crate::upstream::{Programs, Store};
use kubist_test_support::process::Outcome;
use std::path::Path;

/// The part's name, for `--only`.
pub(super) const PART: &str = "store";

/// Builds a kube-apiserver and what `e2e` needs.
pub(super) fn build(programs: &Path) -> Outcome {
    etcd::build_programs(programs)?;
    e2e::build(programs)
}

/// Runs all suites. In place of Kubist's server there is a kube-apiserver on its store.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let kube_apiserver = programs.join("kube-apiserver");
    let subject = match subject {
        Subject::Kubist(binary) => Subject::Upstream(Programs {
            kube_apiserver: &kube_apiserver,
            store: Store::Kubist(binary),
            advertise_address: None,
        }),
        upstream @ Subject::Upstream(_) => upstream,
    };
    e2e::run(subject, programs, folder)
}
