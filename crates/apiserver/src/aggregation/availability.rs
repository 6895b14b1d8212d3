//! Checks whether the servers of other group versions answer, and says so in their `APIService`s.
//!
//! Conditions, reasons and messages are upstream's. Services and their endpoints are read every
//! second. A server that answers is asked again every 30 seconds, any other every second.

use crate::aggregation::remote::{AVAILABLE, Remote};
use crate::aggregation::{Aggregation, Surroundings};
use crate::webhook::{is_slice_of, typed};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use kubist_api::apiregistration::v1::{APIService, APIServiceCondition, APIServiceSpec};
use kubist_api::core::v1::Service;
use kubist_api::discovery::v1::EndpointSlice;
use kubist_apimachinery::{AnyObject, Resource as _, Status};
use kubist_registry::{Lookup, UpdatePath, UpdatedObject, User};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often a server that answers is asked, as upstream.
const INTERVAL: Duration = Duration::from_secs(30);
/// How often its Service is looked at, and any other server is asked.
const PAUSE: Duration = Duration::from_secs(1);
/// How many more questions one that does not answer the first gets, at once.
const MORE: usize = 4;
const JSON: &str = "application/json";

/// When a server has answered last, and with which specification.
#[derive(Debug)]
pub(super) struct Asked {
    spec: Arc<APIServiceSpec>,
    at: Instant,
}

/// The result of a check: status, reason and message of the condition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    status: &'static str,
    reason: &'static str,
    message: String,
}

impl Finding {
    fn no(reason: &'static str, message: String) -> Self {
        Self {
            status: "False",
            reason,
            message,
        }
    }

    fn unknown(reason: &'static str, message: String) -> Self {
        Self {
            status: "Unknown",
            reason,
            message,
        }
    }

    fn passed() -> Self {
        Self {
            status: "True",
            reason: "Passed",
            message: "all checks passed".to_owned(),
        }
    }
}

impl Aggregation {
    /// Checks all servers again and again. Never returns.
    pub(super) async fn check_all(&self, surroundings: Surroundings<'_>) {
        let is_same = |one: &Remote, other: &Remote| Arc::ptr_eq(&one.spec, &other.spec);
        self.rounds(&self.changed, is_same, async |remote| {
            self.check(surroundings, &remote).await;
            PAUSE
        })
        .await;
    }

    /// Checks one, and writes its condition.
    async fn check(&self, surroundings: Surroundings<'_>, remote: &Remote) {
        let lookup = surroundings.registry.lookup();
        let finding = match of_service(remote, lookup).await {
            Some(finding) => finding,
            None => self.asked(surroundings, remote).await,
        };
        if let Err(status) = write(surroundings, remote, finding).await {
            let name = remote.name.as_str();
            tracing::warn!(name, why = %status.message, "an APIService has no condition");
        }
    }

    /// Has a server asked soon that did not answer a request.
    pub(crate) fn suspect(&self, remote: &Remote) {
        self.asked.lock().remove(&remote.name);
    }

    /// Asks a server whether it answers, unless it did so lately.
    async fn asked(&self, surroundings: Surroundings<'_>, remote: &Remote) -> Finding {
        let is_fresh =
            |it: &Asked| Arc::ptr_eq(&it.spec, &remote.spec) && it.at.elapsed() < INTERVAL;
        if remote.available && self.asked.lock().get(&remote.name).is_some_and(is_fresh) {
            return Finding::passed();
        }
        let at = Instant::now();
        match self.answers(surroundings, remote).await {
            Ok(()) => {
                let spec = Arc::clone(&remote.spec);
                let asked = Asked { spec, at };
                self.asked.lock().insert(remote.name.clone(), asked);
                Finding::passed()
            }
            Err(why) => {
                self.asked.lock().remove(&remote.name);
                Finding::no("FailedDiscoveryCheck", why)
            }
        }
    }

    /// Asks for the discovery of a group version: once, and if that fails several times more, any
    /// of which is enough.
    async fn answers(&self, surroundings: Surroundings<'_>, remote: &Remote) -> Result<(), String> {
        let Err(mut why) = self.answers_once(surroundings, remote).await else {
            return Ok(());
        };
        let more = (0..MORE).map(|_| self.answers_once(surroundings, remote));
        let mut more: FuturesUnordered<_> = more.collect();
        while let Some(answered) = more.next().await {
            match answered {
                Ok(()) => return Ok(()),
                Err(last) => why = last,
            }
        }
        Err(why)
    }

    async fn answers_once(
        &self,
        surroundings: Surroundings<'_>,
        remote: &Remote,
    ) -> Result<(), String> {
        let root = remote.root();
        let code = self.ask_for_code(surroundings, remote, &root, JSON).await?;
        if code.is_success() || code.is_redirection() {
            return Ok(());
        }
        let url = match self.backend(remote, surroundings.registry.lookup()).await {
            Ok(backend) => format!("{}://{}{root}", backend.scheme(), backend.authority()),
            Err(_) => root,
        };
        let code = code.as_u16();
        Err(format!(
            "failing or missing response from {url}: bad status from {url}: {code}"
        ))
    }
}

/// Returns what is wrong with the Service of a remote.
async fn of_service(remote: &Remote, lookup: &dyn Lookup) -> Option<Finding> {
    let (namespace, name) = (&*remote.service.namespace, &*remote.service.name);
    let port = i32::from(remote.service.port);
    let unreadable = |what: &'static str, status: &Status| {
        let why = &status.message;
        let message = format!("service/{name} in {namespace:?} cannot be checked due to: {why}");
        Finding::unknown(what, message)
    };
    let found = lookup
        .get(Service::GROUP, Service::PLURAL, namespace, name)
        .await;
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => {
            let message = format!("service/{name} in {namespace:?} is not present");
            return Some(Finding::no("ServiceNotFound", message));
        }
        Err(status) => return Some(unreadable("ServiceAccessError", &status)),
    };
    let service = typed::<Service>(&*found)?;
    if service.spec.type_ != *"ClusterIP" {
        return None;
    }
    let mut ports = service.spec.ports.iter();
    let Some(of_port) = ports.find(|it| it.port == port) else {
        let message = format!("service/{name} in {namespace:?} is not listening on port {port}");
        return Some(Finding::no("ServicePortError", message));
    };
    let slices = lookup.list(EndpointSlice::GROUP, EndpointSlice::PLURAL, namespace);
    let slices = match slices.await {
        Ok(slices) => slices,
        Err(status) => return Some(unreadable("EndpointsAccessError", &status)),
    };
    of_slices(remote, &of_port.name, &slices)
}

fn of_slices(remote: &Remote, port: &str, slices: &[Arc<dyn AnyObject>]) -> Option<Finding> {
    let (namespace, name) = (&*remote.service.namespace, &*remote.service.name);
    let slices = slices.iter().filter_map(|it| typed::<EndpointSlice>(&**it));
    let slices: Vec<&EndpointSlice> = slices.filter(|it| is_slice_of(it, name)).collect();
    if slices.is_empty() {
        let message = format!("cannot find endpointslices for service/{name} in {namespace:?}");
        return Some(Finding::no("EndpointsNotFound", message));
    }
    let is_active = |it: &&EndpointSlice| {
        let is_ready = it
            .endpoints
            .iter()
            .any(|it| it.conditions.ready != Some(false));
        let has_port = |it: &kubist_api::discovery::v1::EndpointPort| {
            it.name.as_deref() == Some(port) && it.port.is_some()
        };
        is_ready && it.ports.iter().any(has_port)
    };
    if slices.iter().any(is_active) {
        return None;
    }
    let message = format!(
        "endpointslices for service/{name} in {namespace:?} have no addresses with port name \
         {port:?}"
    );
    Some(Finding::no("MissingEndpoints", message))
}

/// Writes the condition, unless it is already there.
async fn write(
    surroundings: Surroundings<'_>,
    remote: &Remote,
    found: Finding,
) -> Result<(), Status> {
    let registry = surroundings.registry;
    let stores = registry.stores();
    let Some(store) = stores.resource(APIService::GROUP, APIService::PLURAL) else {
        return Ok(());
    };
    let lookup = registry.lookup();
    let stored = lookup.get(APIService::GROUP, APIService::PLURAL, "", &remote.name);
    let Some(stored) = stored.await? else {
        return Ok(());
    };
    let stored = typed::<APIService>(&*stored);
    if stored.is_none_or(|it| it.spec != *remote.spec || says(it, &found)) {
        return Ok(());
    }
    let mut cx = registry.request(User {
        name: "system:apiserver".into(),
        groups: vec!["system:masters".into()],
        ..User::default()
    });
    cx.user_agent = "kube-aggregator".into();
    let change = Conditioned(APIServiceCondition {
        type_: AVAILABLE.into(),
        status: found.status.into(),
        last_transition_time: Some(cx.now()),
        reason: found.reason.into(),
        message: found.message.into(),
    });
    let place = ("", &*remote.name);
    let written = store.update(&cx, place, &change, UpdatePath::Status, false);
    match written.await {
        // It was deleted, or another server has written the condition.
        Err(status) if status.is_not_found() || status.is_conflict() => Ok(()),
        written => written.map(drop),
    }
}

fn says(object: &APIService, found: &Finding) -> bool {
    let mut conditions = object.status.conditions.iter();
    let condition = conditions.find(|it| it.type_ == *AVAILABLE);
    condition.is_some_and(|it| {
        it.status == *found.status && it.reason == *found.reason && *it.message == *found.message
    })
}

/// An `APIService` with its condition.
#[derive(Debug)]
struct Conditioned(APIServiceCondition);

impl UpdatedObject for Conditioned {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(typed::<APIService>);
        let mut object = old.cloned().unwrap_or_default();
        let conditions = &mut object.status.conditions;
        match conditions.iter_mut().find(|it| it.type_ == self.0.type_) {
            Some(known) if known.status == self.0.status => {
                known.reason = self.0.reason.clone();
                known.message = self.0.message.clone();
            }
            Some(known) => known.clone_from(&self.0),
            None => conditions.push(self.0.clone()),
        }
        Ok(Box::new(object))
    }

    fn creates(&self) -> bool {
        false
    }
}
