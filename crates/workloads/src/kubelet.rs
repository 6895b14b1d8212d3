//! A simulated scheduler and kubelet: Pods are assigned to nodes, reported as running, ended and
//! removed after their deletion. No container runs anywhere.
//!
//! It serves every node, including nodes that Pods name by hand. The scheduler looks at node
//! selectors, required node affinity, taints and cordons; resources, preferences and probes are
//! ignored. Containers of Jobs end after [`Options::job_run_time`], and those of Pods with the
//! annotations `kubist.dev/run-for` (a duration) and `kubist.dev/exit-code` (a number, or
//! `container=number` for some) as these say. All others run until they are deleted.

mod lifetime;
mod node;
mod pod_status;
mod scheduler;
mod server;

pub use server::{KubeletServer, ServeError};

use self::lifetime::Next;
use self::scheduler::Scheduler;
use crate::pod_state::is_over;
use crate::{done_unless_refused, unless_outdated};
use kubist_api::core::v1::{Node, Pod};
use kubist_apimachinery::wire::ScalarField;
use kubist_apimachinery::{DeleteOptions, Object as _, ObjectName};
use kubist_cache::{Encoded, FieldLookup as _, Index, Lister};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Pods of this scheduler are assigned to nodes.
const SCHEDULER: &str = "default-scheduler";

/// The taint of a node that is not ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

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
    /// The time that the containers of a Job run. Default: one second.
    pub job_run_time: Duration,
    /// The address at which the kubelets of all nodes answer, usually a port of loopback; port 0
    /// is a free port. Default: none, so that there are no logs, no exec, no attach and no
    /// port-forward.
    pub listen: Option<SocketAddr>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: 3,
            start_delay: Duration::ZERO,
            stop_delay: Duration::ZERO,
            job_run_time: Duration::from_secs(1),
            listen: None,
        }
    }
}

/// Creates the controller and its reconciler.
pub fn controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
    options: &Options,
) -> (Controller, Kubelet) {
    let (pods, nodes) = (
        factory.informer::<Encoded<Pod>>(),
        factory.informer::<Node>(),
    );
    let paths = Paths::new();
    let node = paths.node.clone();
    let unassigned = pods.add_index(Index::new(
        "unassigned",
        move |pod: &Encoded<Pod>, found| {
            if pod.field(&node).is_empty() {
                found.push("");
            }
        },
    ));
    let reconciler = Kubelet {
        client: client.clone(),
        pods: pods.lister_unsynced(),
        scheduler: Scheduler::new(nodes.lister_unsynced()),
        paths,
        options: options.clone(),
        started: AtomicU32::new(0),
        waiting: Mutex::default(),
    };
    let lister = pods.lister_unsynced();
    let controller = Controller::new("kubelet", &pods).watches(&nodes, move |_: &Node| {
        let waiting = lister.by_index(&unassigned, "");
        waiting.iter().map(|it| it.object_name()).collect()
    });
    (controller, reconciler)
}

/// Registers the nodes, and answers for their kubelets until the token is cancelled, if
/// [`Options::listen`] says where.
///
/// # Errors
/// The server rejects the nodes, or the address cannot be used.
pub async fn serve_nodes(
    client: Client,
    factory: SharedInformerFactory<Client>,
    options: Options,
    token: CancellationToken,
) -> Result<(), Error> {
    let Some(address) = options.listen else {
        return register_nodes(client, options.nodes, None).await;
    };
    let pods = factory.informer::<Encoded<Pod>>().lister_unsynced();
    let server = KubeletServer::bind(address, client.clone(), pods).await;
    let server = server.map_err(Error::terminal)?;
    register_nodes(client, options.nodes, Some(server.address())).await?;
    server.serve(token).await;
    Ok(())
}

/// Creates the Node objects, if they do not exist, and reports them as ready, with the address of
/// their kubelets.
///
/// # Errors
/// The server rejects them.
pub async fn register_nodes(
    client: Client,
    count: u32,
    kubelet: Option<SocketAddr>,
) -> Result<(), Error> {
    let nodes: Api<Node> = Api::all(client);
    for number in 1..=count.max(1) {
        let node = node::node(number, kubelet, nodes.client().ambient().time());
        let created = match nodes.create(&node).await {
            Err(error) if error.is_already_exists() => nodes.get(node.name()).await?,
            created => created?,
        };
        let ready = Node {
            status: node.status,
            ..created
        };
        let Some(mut node) = unless_outdated(nodes.replace_status(&ready).await)? else {
            continue;
        };
        // Nodes begin with this taint, which upstream's node controller removes.
        let taints = node.spec.taints.len();
        node.spec.taints.retain(|it| it.key != NOT_READY);
        if node.spec.taints.len() < taints {
            unless_outdated(nodes.replace(&node).await)?;
        }
    }
    Ok(())
}

/// Reconciles Pods.
#[derive(Debug)]
pub struct Kubelet {
    client: Client,
    pods: Lister<Encoded<Pod>>,
    scheduler: Scheduler,
    paths: Paths,
    options: Options,
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
    /// The containers end, after the time and the number of restarts.
    End(Duration, i32),
    /// Those that are to run again do.
    Restart(Duration, i32),
    Remove,
    Nothing,
}

impl Reconciler for Kubelet {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(pod) = self.pods.get(&key) else {
            self.waiting.lock().remove(&key);
            return Ok(Action::done());
        };
        let step = match self.paths.next_step(&pod) {
            Some(step) => step,
            None => self.step_of_running(&*pod.decode()?),
        };
        if let Some(left) = self.wait(&key, pod.uid(), step) {
            return Ok(Action::requeue_after(left));
        }
        let pods = Api::namespaced(self.client.clone(), key.namespace.clone());
        let now = self.client.ambient().time();
        match step {
            Step::Place => done_unless_refused(self.scheduler.place(&pods, &*pod.decode()?).await),
            Step::Start => done_unless_refused(self.start(&pods, &*pod.decode()?).await),
            Step::End(..) => {
                let mut pod = Pod::clone(&*pod.decode()?);
                pod.status = lifetime::ended(&pod, now);
                done_unless_refused(pods.replace_status(&pod).await)
            }
            Step::Restart(..) => {
                let mut pod = Pod::clone(&*pod.decode()?);
                pod.status = lifetime::restarted(&pod, now);
                done_unless_refused(pods.replace_status(&pod).await)
            }
            Step::Remove => done_unless_refused(remove(&pods, &*pod.decode()?).await),
            Step::Nothing => Ok(Action::done()),
        }
    }
}

/// Removes a Pod. If others keep it by finalizers, they see that it has ended.
async fn remove(pods: &Api<Pod>, pod: &Pod) -> Result<(), ApiError> {
    let is_kept = !pod.metadata.finalizers.is_empty();
    if is_kept && !is_over(pod) && !pod.spec.node_name.is_empty() {
        let mut stopped = pod.clone();
        stopped.status = lifetime::stopped(pod, pods.client().ambient().time());
        return pods.replace_status(&stopped).await.map(drop);
    }
    if is_kept && pod.metadata.deletion_grace_period_seconds == Some(0) {
        return Ok(());
    }
    let options = DeleteOptions::now().with_uid(pod.uid());
    pods.delete_with(pod.name(), &options).await.map(drop)
}

impl Kubelet {
    /// Returns how long the Pod still waits for this step.
    fn wait(&self, key: &ObjectName, uid: &str, step: Step) -> Option<Duration> {
        let delay = match step {
            Step::Start => self.options.start_delay,
            Step::Remove => self.options.stop_delay,
            Step::End(delay, _) | Step::Restart(delay, _) => delay,
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

    /// Returns the next step of a Pod that runs and will end.
    fn step_of_running(&self, pod: &Pod) -> Step {
        match lifetime::next(pod, self.options.job_run_time) {
            (Next::End(delay), restarts) => Step::End(delay, restarts),
            (Next::Restart(delay), restarts) => Step::Restart(delay, restarts),
            (Next::Nothing, _) => Step::Nothing,
        }
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

    /// Returns the next step; none if the Pod must be decoded to tell.
    fn next_step(&self, pod: &Encoded<Pod>) -> Option<Step> {
        if pod.is_terminating() {
            return Some(Step::Remove);
        }
        let ours = matches!(&*pod.field(&self.scheduler), "" | SCHEDULER);
        match (&*pod.field(&self.node), &*pod.field(&self.phase)) {
            ("", "" | "Pending") if ours => Some(Step::Place),
            ("", _) => Some(Step::Nothing),
            (_, "" | "Pending") => Some(Step::Start),
            (_, "Running") if may_end(pod) => None,
            _ => Some(Step::Nothing),
        }
    }
}

/// Reports whether a Pod that runs ends by itself.
fn may_end(pod: &Encoded<Pod>) -> bool {
    let owner = pod.owners().controller();
    owner.is_some_and(|it| it.kind == "Job") || pod.annotations().get(lifetime::RUN_FOR).is_some()
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
        assert_eq!(step(&pod), Some(Step::Place));
        pod.spec.scheduler_name = "another".into();
        assert_eq!(step(&pod), Some(Step::Nothing));
        pod.spec.node_name = "node-1".into();
        assert_eq!(step(&pod), Some(Step::Start));
        let now = Time::from_unix(1_700_000_000);
        pod.status = pod_status::running(&pod, "10.244.0.1", now);
        assert_eq!(step(&pod), Some(Step::Nothing));
        let annotations = &mut pod.metadata.annotations;
        annotations.insert(lifetime::RUN_FOR.into(), "1s".into());
        assert_eq!(step(&pod), None, "it ends");
        pod.metadata.deletion_timestamp = Some(now);
        assert_eq!(step(&pod), Some(Step::Remove));
    }
}
