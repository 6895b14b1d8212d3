//! `cargo xtask fidelity`: the same random requests to a kube-apiserver and to ours.
//!
//! It starts a kube-apiserver on an etcd of its own and a `kubist serve` in memory, on loopback,
//! and runs the program in `tests/fidelity` on both. What would differ by what runs beside the
//! servers, and not by their answers, is switched off:
//!
//! - controllers, on both sides: neither has a scheduler, a kubelet or a collector, whose writes
//!   would come between the steps of a sequence;
//! - the plugins `ServiceAccount` and `TaintNodesByCondition`: without controllers no namespace has
//!   an account, and no node ever loses its taint;
//! - `ResourceQuota`: it refuses what no controller has counted;
//! - webhooks and policies of admission: sequences make such objects, and one that is stored would
//!   be in force for all that come after;
//! - priority and fairness: its own objects are among those that sequences write;
//! - authorisation: the token is the administrator's, and reviews have one answer on both sides.
//!
//! Service addresses are of one range. `curl` and `openssl` are needed beside the two programs.

#![expect(
    clippy::disallowed_methods,
    reason = "it waits for programs by the clock of the machine"
)]

use crate::interop::server::{self, Server};
use clap::Args;
use kubist_test_support::process::{self, Outcome, root};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Seeds of a long run of interop.
const SEEDS_LONG: &str = "0..200";
/// The administrator of our server, as it is named there.
const ADMIN: &str = "kubernetes-admin";
/// The administrator's token, on both sides.
const TOKEN: &str = "fidelity";
/// How long a program may take until it answers.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(100);
/// Plugins of the kube-apiserver that are off.
const DISABLED: &str = "ServiceAccount,TaintNodesByCondition,ResourceQuota,\
    MutatingAdmissionWebhook,ValidatingAdmissionWebhook,\
    MutatingAdmissionPolicy,ValidatingAdmissionPolicy";

/// Options of `cargo xtask fidelity`.
#[derive(Args)]
pub(crate) struct Options {
    /// A kube-apiserver v1.36
    #[arg(long, value_name = "PATH", required_unless_present = "list")]
    kube_apiserver: Option<PathBuf>,
    /// Seeds to play, as in `0..10000`
    #[arg(long, value_name = "FROM..TO", default_value = SEEDS_LONG)]
    seeds: String,
    /// Use this binary in place of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Use this etcd in place of the one on the path; with one before 3.5.13 a kube-apiserver
    /// refuses watches that begin with what is there
    #[arg(long, value_name = "PATH", default_value = "etcd")]
    etcd: PathBuf,
    /// Only these areas, as in `patches,watches`
    #[arg(long, value_name = "AREA,...")]
    areas: Option<String>,
    /// Stop after so many causes that are not on the list
    #[arg(long, value_name = "N")]
    causes: Option<u64>,
    /// Shrink so many differences; of more only the first is shown [default: 40]
    #[arg(long, value_name = "N")]
    shrink: Option<u64>,
    /// Sequences played at the same time [default: 8]
    #[arg(long, value_name = "N")]
    jobs: Option<u16>,
    /// Show the sequences as scripts, and start nothing
    #[arg(long)]
    list: bool,
}

impl Options {
    /// What a long run of interop plays.
    pub(crate) fn long(kube_apiserver: &Path, etcd: &Path) -> Self {
        Self {
            kube_apiserver: Some(kube_apiserver.to_path_buf()),
            seeds: SEEDS_LONG.to_owned(),
            kubist: None,
            etcd: etcd.to_path_buf(),
            areas: None,
            causes: None,
            shrink: None,
            jobs: None,
            list: false,
        }
    }
}

/// A program that ends with its handle.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts both servers and plays.
pub(crate) fn run(options: &Options) -> Outcome {
    let Some(kube_apiserver) = options.kube_apiserver.as_deref().filter(|_| !options.list) else {
        return process::run_with(&mut program(options));
    };
    let kube_apiserver = std::fs::canonicalize(kube_apiserver)
        .map_err(|error| format!("{}: {error}", kube_apiserver.display()))?;
    let scratch = root().join("target/fidelity");
    // What an earlier run has left.
    let _gone = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    let binary = server::binary(options.kubist.as_deref())?;
    let kubeconfig = scratch.join("kubeconfig");
    let arguments = [
        "--controllers",
        "none",
        "--token",
        TOKEN,
        // The other side has nobody without credentials either, as it authorises everybody.
        "--anonymous-auth=false",
    ];
    let ours = Server::start(&binary, &kubeconfig, &arguments)?;
    let (_etcd, etcd_url) = start_etcd(&options.etcd, &scratch)?;
    let (_theirs, theirs_url) = start_apiserver(&kube_apiserver, &scratch, &etcd_url)?;
    let mut program = program(options);
    program
        .args(["--theirs", &theirs_url, "--ours", &ours.url])
        .args(["--token", TOKEN]);
    process::run_with(&mut program)?;
    ours.stop()
}

/// The program of `tests/fidelity`, with what both have as options.
fn program(options: &Options) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "kubist-fidelity", "--"]);
    command.args(["--seeds", &options.seeds]);
    if let Some(areas) = &options.areas {
        command.args(["--areas", areas]);
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

fn start_etcd(binary: &Path, scratch: &Path) -> Outcome<(Running, String)> {
    let (client, peer) = (free_port()?, free_port()?);
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut command = Command::new(binary);
    command
        .args(["--name", "fidelity", "--log-level", "error"])
        .arg("--data-dir")
        .arg(scratch.join("etcd"))
        .args(["--listen-client-urls", &url(client)])
        .args(["--advertise-client-urls", &url(client)])
        .args(["--listen-peer-urls", &url(peer)])
        .args(["--initial-advertise-peer-urls", &url(peer)])
        .args(["--initial-cluster", &format!("fidelity={}", url(peer))])
        // Nothing of it outlives the run.
        .arg("--unsafe-no-fsync");
    let running = start(command, &scratch.join("etcd.log"))?;
    await_port(client, &scratch.join("etcd.log"))?;
    Ok((running, url(client)))
}

fn start_apiserver(binary: &Path, scratch: &Path, etcd: &str) -> Outcome<(Running, String)> {
    let port = free_port()?;
    let key = scratch.join("key.pem");
    let file = key.display().to_string();
    process::output("openssl", &["genrsa", "-out", file.as_str(), "2048"])?;
    let tokens = scratch.join("tokens");
    std::fs::write(
        &tokens,
        format!("{TOKEN},{ADMIN},{ADMIN},\"system:masters\"\n"),
    )?;
    let mut command = Command::new(binary);
    command
        .args(["--bind-address", "127.0.0.1"])
        .args(["--secure-port", &port.to_string()])
        .args(["--etcd-servers", etcd])
        .arg("--cert-dir")
        .arg(scratch.join("certificates"))
        .arg("--token-auth-file")
        .arg(&tokens)
        .args(["--authorization-mode", "AlwaysAllow"])
        // As clusters run it, and as ours is.
        .arg("--allow-privileged")
        .args(["--service-cluster-ip-range", "10.96.0.0/16"])
        .args([
            "--service-account-issuer",
            "https://kubernetes.default.svc.cluster.local",
        ])
        .arg("--service-account-key-file")
        .arg(&key)
        .arg("--service-account-signing-key-file")
        .arg(&key)
        .args(["--disable-admission-plugins", DISABLED])
        // Ours has the option of deletions that this is about always.
        .args(["--feature-gates", "AllowUnsafeMalformedObjectDeletion=true"])
        .arg("--enable-priority-and-fairness=false");
    let log = scratch.join("kube-apiserver.log");
    let running = start(command, &log)?;
    await_port(port, &log)?;
    // It listens before it is ready; its program waits for the rest.
    let url = format!("https://127.0.0.1:{port}");
    await_ready(&url, &log)?;
    Ok((running, url))
}

fn start(mut command: Command, log: &Path) -> Outcome<Running> {
    let log = std::fs::File::create(log)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    Ok(Running(child))
}

fn await_port(port: u16, log: &Path) -> Outcome {
    let start = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if start.elapsed() > PATIENCE {
            return Err(format!("nobody listens on {port}; see {}", log.display()).into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Until it is ready, as the token says.
fn await_ready(url: &str, log: &Path) -> Outcome {
    let start = Instant::now();
    loop {
        let header = format!("Authorization: Bearer {TOKEN}");
        let ready = format!("{url}/readyz");
        let arguments = [
            "--insecure",
            "--silent",
            "--fail",
            "--header",
            header.as_str(),
            ready.as_str(),
        ];
        if process::output("curl", &arguments).is_ok() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("{url} is not ready; see {}", log.display()).into());
        }
        std::thread::sleep(PAUSE);
    }
}

/// A port that nobody listens on at the moment.
fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
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
