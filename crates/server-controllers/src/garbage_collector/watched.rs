//! `Watched`: an informer of the metadata of each served resource.
//!
//! Informer and graph share what is kept of an object: its names, owners and phase.

use super::graph::OwnerGraph;
use super::node::Node;
use super::observed::Observed;
use super::unserved::Unserved;
use crate::resources::with_verbs;
use kubist_apimachinery::{ApiResource, GroupKind, Object as _, Str};
use kubist_cache::{ResourceEvent, Selection, Source as _};
use kubist_client::{Client, Discovery, FailedGroup};
use kubist_informers::{
    HandlerConfig, HandlerState, InformerConfig, InformerState, OnProblem, Problem, ProblemLog,
    Registration, SharedInformer,
};
use kubist_reflector::Report;
use kubist_workqueue::{Lane, WorkQueue};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Events are numerous, own nothing and expire; upstream ignores them too.
const IGNORED: (&str, &str) = ("", "events");
/// The resources that change what is served.
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// The pause after the start of each informer. A hundred that start together delay a server and a
/// program in the same thread by 50 ms in the debug profile, which is when tests make their first
/// requests; one after another, they start in the gaps.
const START_PAUSE: Duration = Duration::from_millis(1);

/// The watched resources.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// All served resources, watched or not: an owner may be of any kind.
    by_kind: Mutex<BTreeMap<GroupKind, Arc<ApiResource>>>,
}

impl Watched {
    pub(super) fn resource_of(&self, kind: &GroupKind) -> Option<Arc<ApiResource>> {
        self.by_kind.lock().get(kind).cloned()
    }

    fn learn(&self, discovery: &Discovery) {
        let mut by_kind = self.by_kind.lock();
        for served in with_verbs(discovery, &["get"]) {
            let kind = served.resource.gvk().group_kind();
            let known = by_kind.get(&kind).is_some_and(|it| **it == served.resource);
            if !known {
                by_kind.insert(kind, Arc::new(served.resource.clone()));
            }
        }
    }
}

/// Runs the informers and passes their events to the graph.
pub(super) struct Watcher {
    pub(super) client: Client,
    pub(super) watched: Arc<Watched>,
    pub(super) graph: Arc<Mutex<OwnerGraph>>,
    pub(super) queue: WorkQueue<Str>,
    pub(super) token: CancellationToken,
    /// Notified when a custom resource definition has changed, so that more may be served.
    pub(super) defined: Arc<Notify>,
    informers: BTreeMap<ApiResource, Followed>,
    tasks: JoinSet<()>,
}

/// A followed resource.
struct Followed {
    informer: SharedInformer<Observed>,
    registration: Registration<Observed>,
    unserved: Arc<Unserved>,
    log: Arc<ProblemLog>,
    /// Stops the informer.
    token: CancellationToken,
}

impl Watcher {
    pub(super) fn new(
        client: Client,
        watched: Arc<Watched>,
        graph: Arc<Mutex<OwnerGraph>>,
        queue: WorkQueue<Str>,
        token: CancellationToken,
    ) -> Self {
        Self {
            client,
            watched,
            graph,
            queue,
            token,
            defined: Arc::default(),
            informers: BTreeMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Starts informers for newly served resources, one after another, and stops those of resources
    /// that are no longer served. The objects of the latter stay in the graph: their absence must
    /// not delete anything.
    pub(super) async fn follow(&mut self, discovery: &Discovery) {
        self.watched.learn(discovery);
        self.informers
            .retain(|resource, it| it.is_served(resource, discovery));
        while self.tasks.try_join_next().is_some() {}
        for served in with_verbs(discovery, &["delete", "list", "watch"]) {
            let resource = &served.resource;
            let ignored = (&*resource.group, &*resource.plural) == IGNORED;
            if !ignored && !self.informers.contains_key(resource) {
                let followed = self.start(resource);
                self.informers.insert(resource.clone(), followed);
                sleep(START_PAUSE).await;
            }
        }
    }

    fn start(&mut self, resource: &ApiResource) -> Followed {
        let source = self
            .client
            .dynamic_lister_watcher(resource, &Selection::all());
        let (unserved, log) = (Arc::<Unserved>::default(), Arc::<ProblemLog>::default());
        let name = Str::from(resource.gvr().to_string());
        let informer = SharedInformer::new(
            source,
            InformerConfig {
                name: name.clone(),
                on_problem: Some(self.problems_of(name, &unserved, &log)),
                ..InformerConfig::default()
            },
        );
        let (graph, queue) = (Arc::clone(&self.graph), self.queue.clone());
        let resource = Arc::new(resource.clone());
        let defines = (&*resource.group, &*resource.plural) == DEFINITIONS;
        let defined = defines.then(|| Arc::clone(&self.defined));
        // In place: a task and a mailbox for each of a thousand kinds would mostly wait.
        let handler = move |change: ResourceEvent<Observed>| {
            let look = note(&mut graph.lock(), &resource, &change);
            for uid in look {
                queue.add_to(Lane::Normal, uid);
            }
            if let Some(defined) = &defined {
                defined.notify_one();
            }
        };
        let registration = informer.add_handler_in_place(handler, HandlerConfig::default());
        let token = self.token.child_token();
        let (runs, until) = (informer.clone(), token.clone());
        self.tasks.spawn(async move {
            // This informer is run only here.
            runs.run(until).await.unwrap_or(());
        });
        Followed {
            informer,
            registration,
            unserved,
            log,
            token,
        }
    }

    /// Logs problems like an informer without a callback, except that discovery decides about
    /// resources that are not served.
    fn problems_of(&self, name: Str, unserved: &Arc<Unserved>, log: &Arc<ProblemLog>) -> OnProblem {
        let (unserved, log) = (Arc::clone(unserved), Arc::clone(log));
        let defined = Arc::clone(&self.defined);
        Arc::new(move |problem: &Problem| {
            if matches!(problem, Problem::Fetch(Report::NotServed(_))) {
                unserved.note(problem, Instant::now());
                defined.notify_one();
            } else {
                log.log(&name, problem);
            }
        })
    }

    /// Waits until the first list of each is in the graph.
    pub(super) async fn synced(&self) {
        for followed in self.informers.values() {
            followed.registration.synced().await;
        }
    }

    /// Returns the resources whose first list is incomplete.
    pub(super) fn unsynced(&self) -> Vec<String> {
        let unsynced = |it: &Followed| it.registration.state() == HandlerState::Syncing;
        let informers = self.informers.iter().filter(|(_, it)| unsynced(it));
        informers
            .map(|(resource, _)| resource.gvr().to_string())
            .collect()
    }

    pub(super) fn len(&self) -> usize {
        self.informers.len()
    }

    /// Waits until the informers have stopped; the token must be cancelled.
    pub(super) async fn stopped(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Followed {
    /// Reports whether the server serves the resource, as far as known; if not, the informer stops.
    /// A lasting contradiction between the two is logged.
    fn is_served(&self, resource: &ApiResource, discovery: &Discovery) -> bool {
        let of_it = |it: &FailedGroup| it.group_version == resource.gvr().group_version();
        if discovery.of_resource(&resource.gvr()).is_some() {
            let refused = self.informer.state() == InformerState::NotServed;
            let problem = self.unserved.contradiction(refused, Instant::now());
            if let Some(problem) = problem {
                self.log.log(self.informer.name(), &problem);
            }
        } else if !discovery.failed().iter().any(of_it) {
            tracing::debug!(resource = %resource.gvr(), "no longer served; its informer stops");
            self.token.cancel();
            return false;
        }
        true
    }
}

fn note(
    graph: &mut OwnerGraph,
    resource: &Arc<ApiResource>,
    change: &ResourceEvent<Observed>,
) -> Vec<Str> {
    let observe =
        |graph: &mut OwnerGraph, it: &Arc<Observed>| graph.observe(Node::new(resource, it));
    match change {
        ResourceEvent::Added { object, .. } => observe(graph, object),
        ResourceEvent::Updated { old, new } => {
            let mut look = Vec::new();
            if old.uid() != new.uid() {
                look = graph.remove(old.uid());
            }
            look.extend(observe(graph, new));
            look
        }
        ResourceEvent::Deleted(deleted) => {
            let object = deleted.object();
            object.map(|it| graph.remove(it.uid())).unwrap_or_default()
        }
        ResourceEvent::Resynced(_) => Vec::new(),
    }
}
