//! `cargo xtask fidelity`: sends the same random requests to a kube-apiserver and to Kubist's
//! server.
//!
//! It starts a kube-apiserver with its own etcd and a `kubist serve` in memory, on loopback, and
//! runs the program in `tests/fidelity` against both. Features that would cause other differences
//! than in answers are off:
//!
//! - controllers, on both sides: there is no scheduler, kubelet or garbage collector, whose writes
//!   would interleave with the steps of a sequence;
//! - the plugins `ServiceAccount` and `TaintNodesByCondition`: without controllers no namespace has
//!   a service account, and no node loses its taint;
//! - `ResourceQuota`: it rejects requests when no controller has computed usage;
//! - admission webhooks and policies: sequences create such objects, which would affect all later
//!   requests;
//! - priority and fairness: sequences write its objects;
//! - authorization: the token is the administrator's, and access reviews have the same answer on
//!   both sides.
//!
//! With `--obeyed`, roles, quotas, limits, Pod security and policies are on, on both sides, and
//! sequences make such for their own namespaces.
//!
//! Both use the same service address range. `curl` and `openssl` must be installed.

use crate::interop::server::{self, Server};
use crate::upstream::{Programs, Store, Upstream};
use clap::Args;
use kubist_test_support::process::{self, Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds of a long interop run.
const SEEDS_LONG: &str = "0..200";
/// The administrator's token on both servers.
const TOKEN: &str = "fidelity";
/// Disabled admission plugins of the kube-apiserver.
const DISABLED: &str = "ServiceAccount,TaintNodesByCondition,ResourceQuota,\
    MutatingAdmissionWebhook,ValidatingAdmissionWebhook,\
    MutatingAdmissionPolicy,ValidatingAdmissionPolicy";

/// Arguments of the kube-apiserver.
const ARGUMENTS: [&str; 7] = [
    "--authorization-mode",
    "AlwaysAllow",
    "--disable-admission-plugins",
    DISABLED,
    // Kubist always has the deletion option of this feature.
    "--feature-gates",
    "AllowUnsafeMalformedObjectDeletion=true",
    "--enable-priority-and-fairness=false",
];

/// Arguments of the kube-apiserver that obeys.
const OBEYING: [&str; 6] = [
    "--authorization-mode",
    "RBAC",
    "--disable-admission-plugins",
    "ServiceAccount",
    "--feature-gates",
    "AllowUnsafeMalformedObjectDeletion=true",
];

/// Options of `cargo xtask fidelity`.
#[derive(Args)]
pub(crate) struct Options {
    /// A kube-apiserver v1.36
    #[arg(long, value_name = "PATH", required_unless_present = "list")]
    kube_apiserver: Option<PathBuf>,
    /// Seeds to run, as in `0..10000`
    #[arg(long, value_name = "FROM..TO", default_value = SEEDS_LONG)]
    seeds: String,
    /// Use this binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Use this etcd instead of the one on PATH; with one before 3.5.13 a kube-apiserver rejects
    /// watches that send initial events
    #[arg(long, value_name = "PATH", default_value = "etcd")]
    etcd: PathBuf,
    /// Only these areas, as in `patches,watches`
    #[arg(long, value_name = "AREA,...")]
    areas: Option<String>,
    /// Both servers obey roles, quotas, limits and policies, and sequences make such
    #[arg(long)]
    obeyed: bool,
    /// Stop after this many causes that are not on the list
    #[arg(long, value_name = "N")]
    causes: Option<u64>,
    /// Shrink this many differences; of further ones only the first is shown [default: 40]
    #[arg(long, value_name = "N")]
    shrink: Option<u64>,
    /// Sequences that run at the same time [default: 8]
    #[arg(long, value_name = "N")]
    jobs: Option<u16>,
    /// Print the sequences as scripts, without starting a server
    #[arg(long)]
    list: bool,
}

impl Options {
    /// Returns the arguments of the kube-apiserver.
    fn upstreams(&self) -> &'static [&'static str] {
        if self.obeyed { &OBEYING } else { &ARGUMENTS }
    }

    /// Options for a long interop run.
    pub(crate) fn long(kube_apiserver: &Path, etcd: &Path) -> Self {
        Self {
            kube_apiserver: Some(kube_apiserver.to_path_buf()),
            seeds: SEEDS_LONG.to_owned(),
            kubist: None,
            etcd: etcd.to_path_buf(),
            areas: None,
            obeyed: false,
            causes: None,
            shrink: None,
            jobs: None,
            list: false,
        }
    }
}

/// Starts both servers and runs the program.
pub(crate) fn run(options: &Options) -> Outcome {
    let Some(kube_apiserver) = options.kube_apiserver.as_deref().filter(|_| !options.list) else {
        return process::run_with(&mut program(options));
    };
    let kube_apiserver = std::fs::canonicalize(kube_apiserver)
        .map_err(|error| format!("{}: {error}", kube_apiserver.display()))?;
    let scratch = root().join("target/fidelity");
    // Removes the files of an earlier run.
    let _gone = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    let binary = server::binary(options.kubist.as_deref())?;
    let kubeconfig = scratch.join("kubeconfig");
    let mut arguments = vec!["--controllers", "none", "--token", TOKEN];
    // A kube-apiserver that authorizes everybody has no anonymous user either.
    if !options.obeyed {
        arguments.push("--anonymous-auth=false");
    }
    let ours = Server::start(&binary, &kubeconfig, &arguments)?;
    let programs = Programs {
        kube_apiserver: &kube_apiserver,
        store: Store::Etcd(&options.etcd),
        advertise_address: None,
    };
    let theirs = Upstream::start(programs, &scratch, TOKEN, options.upstreams())?;
    let mut program = program(options);
    program
        .args(["--theirs", &theirs.url, "--ours", &ours.url])
        .args(["--token", TOKEN]);
    process::run_with(&mut program)?;
    ours.stop()
}

/// Returns the command for the program of `tests/fidelity`, with the options for both modes.
fn program(options: &Options) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "kubist-fidelity", "--"]);
    command.args(["--seeds", &options.seeds]);
    if let Some(areas) = &options.areas {
        command.args(["--areas", areas]);
    }
    if options.obeyed {
        command.arg("--obeyed");
    }
    if let Some(causes) = options.causes {
        command.args(["--causes", &causes.to_string()]);
    }
    if let Some(shrink) = options.shrink {
        command.args(["--shrink", &shrink.to_string()]);
    }
    if let Some(jobs) = options.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    if options.list {
        command.arg("--list");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_gets_the_options_that_are_its_own() {
        let mut options = Options::long(Path::new("a"), Path::new("b"));
        options.areas = Some("patches".to_owned());
        options.list = true;
        let command = program(&options);
        let arguments: Vec<&str> = command
            .get_args()
            .filter_map(|argument| argument.to_str())
            .collect();
        let own = arguments.split(|it| *it == "--").nth(1).unwrap_or_default();
        assert_eq!(own, ["--seeds", SEEDS_LONG, "--areas", "patches", "--list"]);
    }
}
