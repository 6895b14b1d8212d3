//! The etcd engine and `kubist serve --etcd-servers` on real etcds: Debian's 3.4, and a 3.6 built
//! from upstream's module by `tests/interop/etcd`. The other program there uses the storage package
//! of upstream's API server. A long run also builds a kube-apiserver, which takes minutes.
//!
//! The checks are tests of `crates/storage-etcd`, `crates/registry` (the etcd row of the storage
//! matrix) and `crates/kubist`. Without an etcd they skip; here it is required.

use super::report::Report;
use crate::fidelity;
use crate::test_program;
use kubist_test_support::process::{self, Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "etcd";
/// The path in Debian's package.
const PACKAGED: &str = "/usr/bin/etcd";
/// The environment variable for another path of 3.4.
const PACKAGED_VARIABLE: &str = "KUBIST_ETCD_3_4";

/// The package of the kube-apiserver.
const KUBE_APISERVER: &str = "k8s.io/kubernetes/cmd/kube-apiserver";

/// The package of kwok, which serves the kubelet's protocols.
const KWOK: &str = "sigs.k8s.io/kwok/cmd/kwok";

/// The version that a kube-apiserver reports, which a build of a module does not have.
const VERSION: &str = "-ldflags=-X k8s.io/component-base/version.gitVersion=v1.36.3 \
    -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";

/// Returns the path of Debian's etcd. Its absence is an error if it is required.
pub(super) fn packaged(required: bool) -> Outcome<Option<PathBuf>> {
    let named = std::env::var_os(PACKAGED_VARIABLE);
    let path = named.map_or_else(|| PathBuf::from(PACKAGED), PathBuf::from);
    if path.is_file() {
        return Ok(Some(path));
    }
    if required {
        let path = path.display();
        return Err(format!("no etcd at {path}: set {PACKAGED_VARIABLE}").into());
    }
    Ok(None)
}

/// Builds the current etcd and the program on upstream's storage, and runs the tests on both.
pub(super) fn run(long: bool, packaged: &Path, scratch: &Path, report: &mut Report) -> Outcome {
    let current = build("etcd", "./server", &scratch.join("etcd"))?;
    let peer = build("etcd", "./peer", &scratch.join("etcd-peer"))?;
    let upstream = if long {
        Some(build(
            "kube-apiserver",
            KUBE_APISERVER,
            &scratch.join("kube-apiserver"),
        )?)
    } else {
        None
    };
    let kwok = if long {
        Some(build("kwok", KWOK, &scratch.join("kwok"))?)
    } else {
        None
    };
    let programs = [
        ("storage-etcd", ""),
        ("registry", "etcd"),
        ("kubist", "etcd_"),
        ("etcd", "differential"),
    ];
    for (package, filter) in programs {
        let tests = test_program::build_of(package, "it")?;
        report.step(&format!("the tests of {package}, on 3.4 and 3.6"), || {
            let mut command = Command::new(&tests);
            command
                .arg(filter)
                .current_dir(root().join("crates").join(package))
                .env(PACKAGED_VARIABLE, packaged)
                .env("KUBIST_ETCD_3_6", &current)
                .env("KUBIST_ETCD_PEER", &peer)
                .env("KUBIST_ETCD_REQUIRED", "1");
            command.envs(upstream.iter().map(|it| ("KUBIST_KUBE_APISERVER", it)));
            command.envs(kwok.iter().map(|it| ("KUBIST_KWOK", it)));
            process::run_with(&mut command)
        });
    }
    if let Some(upstream) = upstream {
        report.step("random requests, as a kube-apiserver answers them", || {
            fidelity::run(&fidelity::Options::long(&upstream, &current))
        });
    }
    Ok(())
}

/// Builds a kube-apiserver and the current etcd, named so in a folder.
pub(super) fn build_programs(folder: &Path) -> Outcome {
    build("etcd", "./server", &folder.join("etcd"))?;
    build(
        "kube-apiserver",
        KUBE_APISERVER,
        &folder.join("kube-apiserver"),
    )?;
    Ok(())
}

fn build(module: &str, package: &str, to: &Path) -> Outcome<PathBuf> {
    let mut go = Command::new("go");
    go.args(["build", VERSION, "-o"]).arg(to).arg(package);
    process::run_with(go.current_dir(root().join("tests/interop").join(module)))?;
    Ok(to.to_path_buf())
}
