//! What passes through the server to a kubelet: logs, exec, attach, port forwarding, copies and the
//! proxy of nodes. kwok is the kubelet, and runs the commands on this machine.

use super::cases::Case;
use super::cluster::manifest;
use super::kubectl::Shell;
use super::subject::Subject;
use crate::running::{free_port, repeat};
use crate::upstream::self_signed;
use kubist_test_support::process::{self, Outcome};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The time limit for a state to be reached.
const LIMIT: Duration = Duration::from_secs(30);
/// The lines that the log begins with.
const LINES: usize = 100;

/// kwok as a kubelet.
pub(super) struct Kubelet {
    folder: PathBuf,
    port: u16,
    /// Where forwarded ports lead.
    target: u16,
    address: IpAddr,
}

type Check = fn(&Kubelet, &Shell) -> Outcome;

/// What must come true.
const CHECKS: [(&str, Check); 8] = [
    ("a log is told", logs),
    ("a log is followed", follow),
    ("a command runs", exec),
    ("a command reads its input", input),
    ("a process is attached to", attach),
    ("a port is forwarded", forward),
    ("a file is copied", copy),
    ("a node is proxied to", proxy),
];

impl Kubelet {
    /// Chooses addresses, and writes files into a folder.
    pub(super) fn new(folder: &Path) -> Outcome<Self> {
        let kubelet = Self {
            folder: folder.to_path_buf(),
            port: free_port()?,
            target: free_port()?,
            address: own_address(),
        };
        let mut text = String::new();
        for number in 0..LINES {
            let second = number % 60;
            let time = format!("2026-01-02T03:04:{second:02}.123456789Z");
            writeln!(text, "{time} stdout F line-{number}")?;
        }
        std::fs::write(kubelet.log(), text)?;
        let config = std::fs::read_to_string(manifest("kubelet.yaml"))?;
        let config = config.replace("LOG", &kubelet.log().display().to_string());
        let config = config.replace("PORT", &kubelet.target.to_string());
        std::fs::write(kubelet.file("yaml"), config)?;
        let (certificate, key) = (kubelet.file("crt"), kubelet.file("key"));
        self_signed((&certificate, &key), "/CN=kwok", &[])?;
        Ok(kubelet)
    }

    fn file(&self, end: &str) -> PathBuf {
        self.folder.join(format!("kubelet.{end}"))
    }

    fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// Adds the options of kwok.
    pub(super) fn configure(&self, kwok: &mut Command) {
        kwok.args(["--node-ip", &self.address.to_string()])
            .args(["--node-port", &self.port.to_string()])
            .args(["--server-address", &format!("0.0.0.0:{}", self.port)])
            .arg("--tls-cert-file")
            .arg(self.file("crt"))
            .arg("--tls-private-key-file")
            .arg(self.file("key"))
            .arg("--config")
            .arg(self.file("yaml"));
    }

    /// Writes a line to the log, as a container does.
    fn write_line(&self, text: &str) -> Outcome {
        let mut log = std::fs::OpenOptions::new().append(true).open(self.log())?;
        Ok(writeln!(
            log,
            "2026-01-02T03:06:00.123456789Z stdout F {text}"
        )?)
    }

    /// Checks everything, by kubectl and by the client of the server under test.
    pub(super) fn cases(&self, subject: Subject<'_>, kubectl: &Shell) -> Outcome<Vec<Case>> {
        kubectl.run(&format!("apply -f {}", manifest("shell.yaml").display()))?;
        repeat(LIMIT, || {
            kubectl.print("get pod shell -n default", &["Running"])
        })?;
        let mut cases = Vec::new();
        for (name, check) in CHECKS {
            cases.push(Case::of("kubelets", name, check(self, kubectl)));
        }
        if let Subject::Kubist(binary) = subject {
            let told = own_logs(binary, &self.folder.join("kubeconfig"));
            cases.push(Case::of("kubelets", "`kubist logs` tells a log", told));
        }
        kubectl.run("delete pod shell -n default --wait=false")?;
        Ok(cases)
    }
}

/// Returns an address of this machine that is not the loopback's, to which nodes are not proxied.
fn own_address() -> IpAddr {
    // Nothing is sent.
    let found = || -> std::io::Result<IpAddr> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect(("203.0.113.1", 9))?;
        Ok(socket.local_addr()?.ip())
    };
    found().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn logs(_: &Kubelet, kubectl: &Shell) -> Outcome {
    let all = kubectl.run("logs shell -n default")?;
    let last = kubectl.run("logs shell -n default --tail 1 --timestamps")?;
    let found = (all.lines().count(), last.trim());
    if found == (LINES, "2026-01-02T03:04:39.123456789Z line-99") {
        return Ok(());
    }
    Err(format!("{found:?}").into())
}

fn follow(kubelet: &Kubelet, kubectl: &Shell) -> Outcome {
    let mut followed = kubectl.follow("logs -f shell -n default --tail 1")?;
    followed.until(&["line-99"])?;
    kubelet.write_line("followed")?;
    followed.until(&["followed"])
}

fn exec(_: &Kubelet, kubectl: &Shell) -> Outcome {
    kubectl.print_exactly("exec shell -n default -- echo a b", "a b")?;
    kubectl.refuse("exec shell -n default -- false", "exit status 1")
}

fn input(_: &Kubelet, kubectl: &Shell) -> Outcome {
    let words = "exec -i shell -n default -- head -c 1000000";
    let text = "0123456789".repeat(100_000);
    let read = kubectl.run_with_input(words, text.as_bytes())?;
    if read == text {
        return Ok(());
    }
    Err(format!("{} bytes of {}", read.len(), text.len()).into())
}

/// The output of a running process is what kwok finds in the log from then on.
fn attach(kubelet: &Kubelet, kubectl: &Shell) -> Outcome {
    let mut attached = kubectl.follow("attach shell -n default")?;
    repeat(LIMIT, || {
        kubelet.write_line("attached")?;
        attached.until(&["attached"])
    })
}

fn forward(kubelet: &Kubelet, kubectl: &Shell) -> Outcome {
    let target = TcpListener::bind((Ipv4Addr::LOCALHOST, kubelet.target))?;
    let port = free_port()?;
    let words = format!("port-forward pod/shell {port}:8080 -n default");
    let mut forwarding = kubectl.follow(&words)?;
    forwarding.until(&["Forwarding"])?;
    let mut near = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    near.set_read_timeout(Some(LIMIT))?;
    near.write_all(b"question")?;
    let (mut far, _) = target.accept()?;
    let mut heard = [0; 8];
    far.read_exact(&mut heard)?;
    far.write_all(b"answer")?;
    // kwok does not pass on the end.
    let mut answered = [0; 6];
    near.read_exact(&mut answered)?;
    if (&heard, &answered) == (b"question", b"answer") {
        return Ok(());
    }
    Err(format!("{heard:?} and {answered:?}").into())
}

fn copy(kubelet: &Kubelet, kubectl: &Shell) -> Outcome {
    let there = kubelet.folder.join("there");
    std::fs::write(&there, vec![7; 300_000])?;
    let (there, back) = (there.display(), kubelet.folder.join("back"));
    kubectl.run(&format!("cp default/shell:{there} {}", back.display()))?;
    if std::fs::read(back)? == vec![7; 300_000] {
        return Ok(());
    }
    Err("the copy is another file".into())
}

fn proxy(kubelet: &Kubelet, kubectl: &Shell) -> Outcome {
    let path = "/api/v1/nodes/node-1/proxy/healthz";
    let get = format!("get --raw {path}");
    if kubelet.address.is_loopback() {
        return kubectl.refuse(&get, "address not allowed");
    }
    kubectl.print_exactly(&get, "ok")
}

fn own_logs(binary: &Path, kubeconfig: &Path) -> Outcome {
    let program = binary.display().to_string();
    let kubeconfig = kubeconfig.display().to_string();
    let words = ["logs", "shell", "-n", "default", "--tail", "3"];
    let mut words = words.to_vec();
    words.extend(["--kubeconfig", &kubeconfig]);
    let told = process::output(&program, &words)?;
    match told.lines().count() {
        3 => Ok(()),
        lines => Err(format!("{lines} lines").into()),
    }
}
