//! Two `kubist serve` on one etcd, behind one address.

use super::TOKEN;
use super::balancer::Balancer;
use super::controllers::{Credentials, server_authority};
use crate::bench::machine;
use crate::running::{Running, repeat};
use crate::upstream::{self, Keeping, Store, self_signed, service_account_key};
use kubist_test_support::process::Outcome;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many servers there are.
pub(super) const SERVERS: usize = 2;
/// The time limit for a server to become ready.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// The share of requests after which a connection is given up: long connections come to a server
/// again after it was away.
const GOAWAY: &str = "0.0005";

/// All processes. Dropping it kills them.
pub(super) struct Fleet {
    servers: [Mutex<Server>; SERVERS],
    etcd: Running,
    pub(super) etcd_url: String,
    balancer: Balancer,
    /// Of the one address.
    pub(super) credentials: Credentials,
    kubist: PathBuf,
    folder: PathBuf,
}

#[derive(Default)]
struct Server {
    running: Option<Running>,
    /// How often it was started, and the CPU seconds of its earlier lives.
    lives: u32,
    cpu: f64,
}

impl Fleet {
    /// Starts everything in an empty folder.
    pub(super) fn start(kubist: &Path, etcd: &Path, folder: &Path) -> Outcome<Self> {
        let key = service_account_key(folder)?;
        let authority = (folder.join("clients.pem"), folder.join("clients-key.pem"));
        self_signed((&authority.0, &authority.1), "/CN=clients", &[])?;
        std::fs::write(folder.join("token"), TOKEN)?;
        let (etcd, etcd_url) = upstream::start_store(Store::Etcd(etcd), Keeping::Unsynced, folder)?;
        // The addresses are known when the servers are there.
        let mut servers = <[Server; SERVERS]>::default();
        let mut addresses = Vec::new();
        let start = Start {
            kubist,
            folder,
            etcd: &etcd_url,
        };
        for (number, server) in servers.iter_mut().enumerate() {
            addresses.push(start.server(number, server)?);
        }
        let balancer = Balancer::start(addresses.iter().copied())?;
        let kubeconfig = folder.join("kubeconfig");
        let text = std::fs::read_to_string(start.kubeconfig(0))?;
        let own = addresses[0].to_string();
        let text = text.replace(&own, &balancer.address.to_string());
        std::fs::write(&kubeconfig, text)?;
        Ok(Self {
            servers: servers.map(Mutex::new),
            etcd,
            etcd_url,
            balancer,
            credentials: Credentials {
                root: server_authority(&kubeconfig, folder)?,
                kubeconfig,
                key,
                authority,
            },
            kubist: kubist.to_path_buf(),
            folder: folder.to_path_buf(),
        })
    }

    /// The one address.
    pub(super) fn url(&self) -> String {
        format!("https://{}", self.balancer.address)
    }

    fn server(&self, number: usize) -> MutexGuard<'_, Server> {
        let server = self.servers[number].lock();
        server.unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills a server; whatever it was doing is not finished.
    pub(super) fn kill(&self, number: usize) {
        let mut server = self.server(number);
        server.cpu = server.total();
        server.running = None;
    }

    /// Starts a server that was killed.
    pub(super) fn restart(&self, number: usize) -> Outcome {
        let start = Start {
            kubist: &self.kubist,
            folder: &self.folder,
            etcd: &self.etcd_url,
        };
        let address = start.server(number, &mut self.server(number))?;
        self.balancer.replace(number, address);
        Ok(())
    }

    /// Sends a signal to a server that runs.
    pub(super) fn signal(&self, number: usize, signal: &str) {
        if let Some(running) = &self.server(number).running {
            let id = running.id().to_string();
            // It may have ended.
            Command::new("kill").args([signal, &id]).status().ok();
        }
    }

    /// Returns the resident kilobytes of a server, unless it is killed at the moment; 0 if it has
    /// ended by itself.
    pub(super) fn memory(&self, number: usize) -> Option<u64> {
        let server = self.server(number);
        server.running.as_ref().map(|it| machine::usage(it.id()).1)
    }

    /// Returns the CPU seconds of each program.
    pub(super) fn cpu(&self) -> [(&'static str, f64); 3] {
        [
            ("server 1", self.server(0).total()),
            ("server 2", self.server(1).total()),
            ("etcd", machine::usage(self.etcd.id()).0),
        ]
    }
}

impl Server {
    /// The CPU seconds of all its lives.
    fn total(&self) -> f64 {
        let now = self
            .running
            .as_ref()
            .map_or(0.0, |it| machine::usage(it.id()).0);
        self.cpu + now
    }
}

/// What is the same at each start.
struct Start<'a> {
    kubist: &'a Path,
    folder: &'a Path,
    etcd: &'a str,
}

impl Start<'_> {
    fn kubeconfig(&self, number: usize) -> PathBuf {
        self.folder.join(format!("kubeconfig-{number}"))
    }

    /// Starts a server and returns its address.
    fn server(&self, number: usize, server: &mut Server) -> Outcome<SocketAddr> {
        let file = |name: &str| self.folder.join(name);
        let mut command = Command::new(self.kubist);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--controllers", "none"])
            .args(["--enable-admission-plugins", "ServiceAccount"])
            .args(["--goaway-chance", GOAWAY, "--etcd-servers", self.etcd])
            .arg("--kubeconfig")
            .arg(self.kubeconfig(number))
            .arg("--cert-dir")
            .arg(file("certificates"))
            .arg("--token-file")
            .arg(file("token"))
            .arg("--service-account-key-file")
            .arg(file("key.pem"))
            .arg("--service-account-signing-key-file")
            .arg(file("key.pem"))
            .arg("--client-ca-file")
            .arg(file("clients.pem"));
        server.lives += 1;
        let log = file(&format!("server-{number}-{}.log", server.lives));
        let running = Running::start(command, &log)?;
        server.running = Some(running);
        let mut address = None;
        repeat(READY_LIMIT, || {
            let text = std::fs::read_to_string(&log)?;
            address = ready(&text);
            let missing = || format!("it is not ready; see {}", log.display());
            Ok(address.map(drop).ok_or_else(missing)?)
        })?;
        Ok(address.ok_or("it said no address")?)
    }
}

/// Finds the address in `ready https://ADDR kubeconfig=FILE in N ms`.
fn ready(log: &str) -> Option<SocketAddr> {
    let line = log
        .lines()
        .find_map(|it| it.strip_prefix("ready https://"))?;
    // A line that is not complete may end within the port.
    line.split_once(' ')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_address_is_in_the_line_that_says_that_a_server_is_ready() {
        let log = "a warning\nready https://127.0.0.1:4711 kubeconfig=k in 9 ms\n";
        let address = super::ready(log).expect("there is one");
        assert_eq!(address.to_string(), "127.0.0.1:4711");
        assert_eq!(super::ready("ready https://127.0.0.1:47"), None);
    }
}
