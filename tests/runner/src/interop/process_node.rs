//! A stand-in for kubelets: Pods become ready, and those of Kubernetes' test image that serve
//! webhooks, or are an API server to aggregate, run as processes of this machine.
//!
//! Each Pod has an address of [`ADDRESSES`], which the caller has given to the loopback interface
//! of a network namespace. Containers listen on all addresses, so only one Pod of a port can run
//! at a time; a process that could not begin is started again. Volumes of secrets are folders, and
//! the paths below them are replaced in the arguments. Probes, exec, logs and everything else that
//! a
//! kubelet does are not simulated.

#![expect(
    clippy::disallowed_methods,
    reason = "it waits for programs by the clock of the machine"
)]

use super::kubectl::Shell;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The first three numbers of the addresses of Pods.
pub(super) const ADDRESSES: &str = "10.244.9";
/// Addresses from 1 to this.
pub(super) const ADDRESSES_MAX: u8 = 250;
/// The pause between two looks at the Pods.
const PAUSE: Duration = Duration::from_millis(300);
/// How long a connection attempt to a starting process may take.
const CONNECT: Duration = Duration::from_millis(200);
/// The commands of the test image that are run.
const SERVERS: [&str; 2] = ["webhook", "crd-conversion-webhook"];
/// What the image of the API server to aggregate has in its name.
const SAMPLE: &str = "sample-apiserver";
/// Where a Pod of it expects its etcd.
const ETCD: &str = "http://127.0.0.1:2379";

/// What Pods run.
#[derive(Clone)]
pub(super) struct Images {
    /// The program of the test image.
    pub(super) agnhost: PathBuf,
    pub(super) sample_apiserver: PathBuf,
    pub(super) etcd: PathBuf,
    /// What the aggregated server uses to ask the server under test who a user is, and what they
    /// may do: there is no service account within.
    pub(super) kubeconfig: PathBuf,
}

/// Runs Pods until it is told to stop.
pub(super) struct ProcessNode<'a> {
    kubectl: &'a Shell,
    images: Images,
    folder: PathBuf,
    pods: BTreeMap<String, Pod>,
    next: u8,
}

struct Pod {
    address: String,
    process: Option<Process>,
    is_ready: bool,
}

/// A server of a Pod.
struct Process {
    program: PathBuf,
    /// Another that runs as long.
    beside: Option<Child>,
    arguments: Vec<String>,
    port: u16,
    child: Option<Child>,
}

impl Process {
    /// Starts it, if it does not run. Reports whether it accepts connections.
    fn keep(&mut self, address: &str) -> Outcome<bool> {
        let ended = match &mut self.child {
            Some(child) => child.try_wait()?.is_some(),
            None => true,
        };
        if ended {
            let mut command = Command::new(&self.program);
            command.args(&self.arguments).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            // As in a container; those that ask for it never speak to the server.
            command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
            command.env("KUBERNETES_SERVICE_PORT", "1");
            self.child = Some(command.spawn()?);
            return Ok(false);
        }
        let address: SocketAddr = format!("{address}:{}", self.port).parse()?;
        Ok(TcpStream::connect_timeout(&address, CONNECT).is_ok())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let beside = self.beside.iter_mut();
        for child in self.child.iter_mut().chain(beside) {
            // It may have ended already.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl<'a> ProcessNode<'a> {
    pub(super) fn new(kubectl: &'a Shell, images: Images, folder: &Path) -> Self {
        Self {
            kubectl,
            images,
            folder: folder.to_path_buf(),
            pods: BTreeMap::new(),
            next: 0,
        }
    }

    /// Looks at all Pods again and again. What fails for a moment, such as a Pod that was deleted
    /// meanwhile, is tried again.
    pub(super) fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            if let Err(error) = self.look() {
                eprintln!("          the nodes: {error}");
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn look(&mut self) -> Outcome {
        let list = self.kubectl.json("get pods --all-namespaces")?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let uid = |pod: &Value| {
            pod["metadata"]["uid"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        self.pods
            .retain(|known, _| items.iter().any(|it| uid(it) == *known));
        for pod in &items {
            if pod["spec"]["nodeName"].as_str().is_none_or(str::is_empty) {
                continue;
            }
            let (uid, done) = (uid(pod), pod["status"]["phase"] == "Succeeded");
            if pod["metadata"]["deletionTimestamp"].is_string() {
                self.pods.remove(&uid);
                let delete = format!(
                    "delete pod {} --grace-period=0 --force --wait=false",
                    at(pod)
                );
                // It may be gone.
                self.kubectl.run(&delete).ok();
            } else if !done {
                self.keep(&uid, pod)?;
            }
        }
        Ok(())
    }

    /// Brings a Pod one step further.
    fn keep(&mut self, uid: &str, pod: &Value) -> Outcome {
        if !self.pods.contains_key(uid) {
            self.next = self.next % ADDRESSES_MAX + 1;
            let begun = Pod {
                address: format!("{ADDRESSES}.{}", self.next),
                process: self.process(uid, pod)?,
                is_ready: false,
            };
            self.pods.insert(uid.to_owned(), begun);
        }
        let Some(known) = self.pods.get_mut(uid) else {
            return Ok(());
        };
        let is_ready = match &mut known.process {
            Some(process) => process.keep(&known.address)?,
            None => true,
        };
        if is_ready == known.is_ready {
            return Ok(());
        }
        known.is_ready = is_ready;
        let patch = status(pod, &known.address, is_ready).to_string();
        let (name, namespace) = named(pod);
        let patched = self.kubectl.run_arguments(&[
            "patch",
            "pod",
            &name,
            "--namespace",
            &namespace,
            "--subresource=status",
            "--type=merge",
            "--patch",
            &patch,
        ]);
        // The Pod may have been deleted since.
        if patched.is_err() {
            known.is_ready = !is_ready;
        }
        Ok(())
    }

    /// Returns what runs for a Pod, if it is a server of the test image.
    fn process(&self, uid: &str, pod: &Value) -> Outcome<Option<Process>> {
        let container = &pod["spec"]["containers"][0];
        let arguments = container["args"].as_array().cloned().unwrap_or_default();
        let mut arguments: Vec<String> = arguments
            .iter()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect();
        let command = arguments.first().map(String::as_str).unwrap_or_default();
        let image = container["image"].as_str().unwrap_or_default();
        let is_sample = image.contains(SAMPLE);
        if !is_sample && !SERVERS.contains(&command) {
            return Ok(None);
        }
        let mounts = container["volumeMounts"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for mount in &mounts {
            let Some(folder) = self.mounted(uid, pod, mount)? else {
                continue;
            };
            let inside = mount["mountPath"].as_str().unwrap_or_default();
            for argument in &mut arguments {
                *argument = argument.replace(inside, &folder.display().to_string());
            }
        }
        let port = container["ports"][0]["containerPort"]
            .as_u64()
            .unwrap_or(443);
        let (program, beside) = if is_sample {
            let kubeconfig = self.images.kubeconfig.display();
            for flag in [
                "kubeconfig",
                "authentication-kubeconfig",
                "authorization-kubeconfig",
            ] {
                arguments.push(format!("--{flag}={kubeconfig}"));
            }
            (&self.images.sample_apiserver, Some(self.etcd(uid)?))
        } else {
            (&self.images.agnhost, None)
        };
        Ok(Some(Process {
            program: program.clone(),
            beside,
            arguments,
            port: u16::try_from(port)?,
            child: None,
        }))
    }

    /// Starts the etcd of an aggregated server.
    fn etcd(&self, uid: &str) -> Outcome<Child> {
        let mut command = Command::new(&self.images.etcd);
        command
            .args([
                "--listen-client-urls",
                ETCD,
                "--advertise-client-urls",
                ETCD,
            ])
            .arg("--data-dir")
            .arg(self.folder.join(uid).join("etcd"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(command.spawn()?)
    }

    /// Writes the secret of a mount into a folder; none for other volumes.
    fn mounted(&self, uid: &str, pod: &Value, mount: &Value) -> Outcome<Option<PathBuf>> {
        let volumes = pod["spec"]["volumes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let volume = volumes.iter().find(|it| it["name"] == mount["name"]);
        let secret = volume.and_then(|it| it["secret"]["secretName"].as_str());
        let Some(secret) = secret else {
            return Ok(None);
        };
        let (_, namespace) = named(pod);
        let folder = self.folder.join(uid).join(secret);
        std::fs::create_dir_all(&folder)?;
        let template = "{{range $name, $value := .data}}{{$name}} {{$value}}{{\"\\n\"}}{{end}}";
        let printed = self.kubectl.run_arguments(&[
            "get",
            "secret",
            secret,
            "--namespace",
            &namespace,
            "--output",
            &format!("go-template={template}"),
        ])?;
        for (name, value) in printed.lines().filter_map(|line| line.split_once(' ')) {
            let encoded = folder.join(format!("{name}.base64"));
            std::fs::write(&encoded, value)?;
            let encoded = encoded.display().to_string();
            let arguments = ["--decode", encoded.as_str()];
            let value = kubist_test_support::process::output("base64", &arguments)?;
            std::fs::write(folder.join(name), value)?;
        }
        Ok(Some(folder))
    }
}

fn named(pod: &Value) -> (String, String) {
    let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default().to_owned();
    (text("name"), text("namespace"))
}

/// The arguments that name a Pod.
fn at(pod: &Value) -> String {
    let (name, namespace) = named(pod);
    format!("{name} --namespace {namespace}")
}

/// The status of a Pod that runs, as a kubelet writes it.
fn status(pod: &Value, address: &str, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    let begun = &pod["metadata"]["creationTimestamp"];
    let containers = pod["spec"]["containers"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let containers: Vec<Value> = containers
        .iter()
        .map(|it| {
            json!({
                "name": it["name"], "image": it["image"], "imageID": it["image"],
                "containerID": "process://1", "ready": is_ready, "started": true,
                "restartCount": 0, "state": {"running": {"startedAt": begun}},
            })
        })
        .collect();
    let condition = |kind: &str, status: &str| {
        let (at, kind) = (begun.clone(), kind.to_owned());
        json!({"type": kind, "status": status, "lastTransitionTime": at})
    };
    json!({"status": {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "hostIP": address,
        "hostIPs": [{"ip": address}],
        "startTime": begun,
        "containerStatuses": containers,
        "conditions": [
            condition("PodScheduled", "True"), condition("Initialized", "True"),
            condition("ContainersReady", ready), condition("Ready", ready),
        ],
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_ready_when_its_process_is() {
        let pod = json!({"metadata": {"name": "a", "namespace": "b", "creationTimestamp": "now"},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let status = status(&pod, "10.244.9.1", true);
        assert_eq!(status["status"]["containerStatuses"][0]["ready"], true);
        assert_eq!(status["status"]["conditions"][3]["status"], "True");
        assert_eq!(at(&pod), "a --namespace b");
    }
}
