//! A simulated scheduler and kubelet: Pods are assigned to nodes, reported as running, and removed
//! after their deletion. No container runs anywhere.
//!
//! It serves every node, including nodes that Pods name by hand. It ignores resources, affinities
//! and probes, and Pods never finish by themselves.

mod node;
mod pod_status;

use crate::{done_unless_refused, unless_outdated};
use kubist_api::core::v1::{Binding, Node, ObjectReference, Pod};
use kubist_apimachinery::wire::ScalarField;
use kubist_apimachinery::{DeleteOptions, Object as _, ObjectName, Resource as _};
use kubist_cache::{Encoded, FieldLookup as _, Lister};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Pods of this scheduler are assigned to nodes.
const SCHEDULER: &str = "default-scheduler";

/// The configuration of the simulation.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// The number of nodes, which are named `node-1` and so on. Default: 3; 0 counts as 1.
    pub nodes: u32,
    /// The time from the assignment of a Pod until it runs. Default: none.
    pub start_delay: Duration,
    /// The time from the deletion of a Pod until it is removed. Default: none.
    pub stop_delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: 3,
            start_delay: Duration::ZERO,
            stop_delay: Duration::ZERO,
        }
    }
}

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    options: &Options,
) -> (Controller, Kubelet) {
    let pods = factory.informer::<Encoded<Pod>>();
    let reconciler = Kubelet {
        client: client.clone(),
        pods: pods.lister_unsynced(),
        paths: Paths::new(),
        options: options.clone(),
        placed: AtomicU32::new(0),
        started: AtomicU32::new(0),
        waiting: Mutex::default(),
    };
    (Controller::new("kubelet", &pods), reconciler)
}

/// Creates the Node objects, if they do not exist, and reports them as ready.
///
/// # Errors
/// The server rejects them.
pub async fn register_nodes(client: Client, count: u32) -> Result<(), Error> {
    let nodes: Api<Node> = Api::all(client);
    for number in 1..=count.max(1) {
        let node = node::node(number, nodes.client().ambient().time());
        let created = match nodes.create(&node).await {
            Err(error) if error.is_already_exists() => nodes.get(node.name()).await?,
            created => created?,
        };
        let ready = Node {
            status: node.status,
            ..created
        };
        unless_outdated(nodes.replace_status(&ready).await)?;
    }
    Ok(())
}

/// Reconciles Pods.
#[derive(Debug)]
pub struct Kubelet {
    client: Client,
    pods: Lister<Encoded<Pod>>,
    paths: Paths,
    options: Options,
    /// The number of Pods assigned to nodes.
    placed: AtomicU32,
    /// The number of Pods with an address.
    started: AtomicU32,
    /// The Pods that wait for their next step, with uid and start time. An entry is removed with
    /// its Pod.
    waiting: Mutex<BTreeMap<ObjectName, (String, Step, Instant)>>,
}

/// The next step of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Place,
    Start,
    Remove,
    Nothing,
}

impl Reconciler for Kubelet {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(pod) = self.pods.get(&key) else {
            self.waiting.lock().remove(&key);
            return Ok(Action::done());
        };
        let step = self.paths.next_step(&pod);
        if let Some(left) = self.wait(&key, pod.uid(), step) {
            return Ok(Action::requeue_after(left));
        }
        let pods = Api::namespaced(self.client.clone(), key.namespace.clone());
        match step {
            Step::Place => done_unless_refused(self.place(&pods, &pod).await),
            Step::Start => done_unless_refused(self.start(&pods, &*pod.decode()?).await),
            Step::Remove => {
                let options = DeleteOptions::now().with_uid(pod.uid());
                done_unless_refused(pods.delete_with(pod.name(), &options).await)
            }
            Step::Nothing => Ok(Action::done()),
        }
    }
}

impl Kubelet {
    /// Returns how long the Pod still waits for this step.
    fn wait(&self, key: &ObjectName, uid: &str, step: Step) -> Option<Duration> {
        let delay = match step {
            Step::Start => self.options.start_delay,
            Step::Remove => self.options.stop_delay,
            Step::Place | Step::Nothing => Duration::ZERO,
        };
        let mut waiting = self.waiting.lock();
        if delay.is_zero() {
            waiting.remove(key);
            return None;
        }
        let now = Instant::now();
        let entry = waiting.entry(key.clone());
        let entry = entry.or_insert_with(|| (uid.to_owned(), step, now));
        if entry.0 != uid || entry.1 != step {
            *entry = (uid.to_owned(), step, now);
        }
        let left = delay.saturating_sub(now.duration_since(entry.2));
        (!left.is_zero()).then_some(left)
    }

    /// Assigns the Pod to a node, in turn.
    async fn place(&self, pods: &Api<Pod>, pod: &Encoded<Pod>) -> Result<(), ApiError> {
        let turn = self.placed.fetch_add(1, Ordering::Relaxed);
        let mut binding = Binding {
            target: ObjectReference {
                api_version: Node::API_VERSION.into(),
                kind: Node::KIND.into(),
                name: node::name(turn % self.options.nodes.max(1) + 1).into(),
                ..ObjectReference::default()
            },
            ..Binding::default()
        };
        binding.metadata.name = pod.name().into();
        binding.metadata.namespace = pod.namespace().into();
        binding.metadata.uid = pod.uid().into();
        pods.subresource::<Binding>("binding")
            .submit(pod.name(), &binding)
            .await
    }

    /// Reports the Pod as running.
    async fn start(&self, pods: &Api<Pod>, pod: &Pod) -> Result<Pod, ApiError> {
        let address = pod_status::address(self.started.fetch_add(1, Ordering::Relaxed));
        let mut pod = pod.clone();
        pod.status = pod_status::running(&pod, &address, pods.client().ambient().time());
        pods.replace_status(&pod).await
    }
}

/// The fields that determine the next step, so that most Pods need not be decoded.
#[derive(Debug)]
struct Paths {
    node: ScalarField,
    phase: ScalarField,
    scheduler: ScalarField,
}

impl Paths {
    fn new() -> Self {
        let path = |path| {
            ScalarField::new(Encoded::<Pod>::schema(), path).expect("every Pod has this field")
        };
        Self {
            node: path("spec.nodeName"),
            phase: path("status.phase"),
            scheduler: path("spec.schedulerName"),
        }
    }

    fn next_step(&self, pod: &Encoded<Pod>) -> Step {
        if pod.is_terminating() {
            return Step::Remove;
        }
        let ours = matches!(&*pod.field(&self.scheduler), "" | SCHEDULER);
        match (&*pod.field(&self.node), &*pod.field(&self.phase)) {
            ("", "" | "Pending") if ours => Step::Place,
            ("", _) => Step::Nothing,
            (_, "" | "Pending") => Step::Start,
            _ => Step::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Time;

    #[test]
    fn a_pod_is_assigned_then_started_then_left_alone_until_it_is_deleted() {
        let paths = Paths::new();
        let step = |pod: &Pod| paths.next_step(&Encoded::new(pod).expect("a Pod"));
        let mut pod = Pod::default();
        pod.status.phase = "Pending".into();
        pod.spec.scheduler_name = SCHEDULER.into();
        assert_eq!(step(&pod), Step::Place);
        pod.spec.scheduler_name = "another".into();
        assert_eq!(step(&pod), Step::Nothing);
        pod.spec.node_name = "node-1".into();
        assert_eq!(step(&pod), Step::Start);
        let now = Time::from_unix(1_700_000_000);
        pod.status = pod_status::running(&pod, "10.244.0.1", now);
        assert_eq!(step(&pod), Step::Nothing);
        pod.metadata.deletion_timestamp = Some(now);
        assert_eq!(step(&pod), Step::Remove);
    }
}
