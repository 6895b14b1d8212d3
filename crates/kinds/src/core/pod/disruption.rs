//! Disruption budgets: they limit how many pods of a set may be voluntarily disrupted at a time.

use kubist_api::core::v1::Pod;
use kubist_api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus};
use kubist_apimachinery::{
    AnyObject, Condition, GroupResource, Selector, Status, StatusCause, StatusDetails,
    StatusReason, Str, Time, set_condition,
};
use kubist_registry::{ActionCall, UpdatePath, UpdatedObject};
use std::any::Any;

/// The maximum number of disrupted pods that a budget records; further evictions are refused, as
/// upstream.
const DISRUPTED_MAX: usize = 2000;
/// The retry delay for a budget that has not been processed yet, as upstream.
const RETRY_SECONDS: i32 = 10;

/// Reports whether a budget applies to the pod. Pods that have finished, are pending or are being
/// deleted are not protected.
fn is_protected(pod: &Pod) -> bool {
    let phase = pod.status.phase.as_str();
    !matches!(phase, "Succeeded" | "Failed" | "Pending") && !pod.metadata.is_terminating()
}

/// The terms on which a pod may be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    /// Its budget granted a disruption.
    Granted,
    /// No budget protects the pod in its current state. It may be evicted while that state is
    /// unchanged.
    Unprotected,
    /// The named budget covers the pod, but does not count it as healthy. It may be evicted while
    /// that state is unchanged.
    NotCounted(Str),
}

/// The manager of the fields that an eviction changes of a budget, as upstream.
const SERVER_AGENT: &str = "kube-apiserver";

/// Checks whether the pod's budget permits an eviction, and takes one disruption from the budget.
/// Fails with 429 if none is left.
pub(super) async fn check_and_decrement(
    call: ActionCall<'_>,
    pod: &Pod,
    dry_run: bool,
) -> Result<Permission, Status> {
    if !is_protected(pod) {
        return Ok(Permission::Unprotected);
    }
    let Some(store) = call.store.other("policy", "poddisruptionbudgets") else {
        return Ok(Permission::Granted);
    };
    let namespace = &pod.metadata.namespace;
    let mut budgets = Vec::new();
    for stored in store.list(namespace).await? {
        let object = stored.object()?;
        if let Some(budget) = budget(&**object)
            && covers(budget, pod)
        {
            budgets.push(budget.clone());
        }
    }
    let budget = match &budgets[..] {
        [] => return Ok(Permission::Unprotected),
        [budget] => budget,
        _ => {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction \
                           subresource does not support.";
            return Err(Status::failure(500, StatusReason::Unknown, message));
        }
    };
    if !is_ready(pod) && evicts_unhealthy(budget) {
        return Ok(Permission::NotCounted(budget.metadata.name.clone()));
    }
    let object = Disrupted {
        pod: &pod.metadata.name,
        now: call.cx.now(),
    };
    let place = (&**namespace, &*budget.metadata.name);
    // As upstream, where the server is a client of its own here.
    let mut cx = call.cx.clone();
    cx.user_agent = SERVER_AGENT.into();
    store
        .update(&cx, place, &object, UpdatePath::Status, dry_run)
        .await?;
    Ok(Permission::Granted)
}

fn budget(object: &dyn AnyObject) -> Option<&PodDisruptionBudget> {
    (object as &dyn Any).downcast_ref()
}

fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let selector = budget.spec.selector.as_deref();
    let selector = selector.and_then(|it| Selector::try_from(it).ok());
    selector.is_some_and(|selector| selector.matches_labels(&pod.metadata.labels))
}

fn is_ready(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    let first = conditions.find(|it| it.type_ == "Ready");
    first.is_some_and(|it| it.status == "True")
}

/// Reports whether unready pods are evicted without counting as a disruption: always, or while
/// enough others are healthy.
fn evicts_unhealthy(budget: &PodDisruptionBudget) -> bool {
    let (spec, status) = (&budget.spec, &budget.status);
    spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow")
        || (status.desired_healthy > 0 && status.current_healthy >= status.desired_healthy)
}

/// The update that takes one disruption from a budget.
struct Disrupted<'a> {
    pod: &'a str,
    now: Time,
}

impl UpdatedObject for Disrupted<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(budget);
        let mut budget = old
            .cloned()
            .ok_or_else(|| Status::internal_error("expected a PodDisruptionBudget"))?;
        let status = &mut budget.status;
        if status.observed_generation < budget.metadata.generation {
            return Err(not_processed(&budget.metadata.name));
        }
        let implausible = |why: &str| {
            let resource = GroupResource::new("policy", "poddisruptionbudget");
            Err(Status::forbidden(&resource, &budget.metadata.name, why))
        };
        if status.disruptions_allowed < 0 {
            return implausible("pdb disruptions allowed is negative");
        }
        if status.disrupted_pods.len() > DISRUPTED_MAX {
            return implausible(
                "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            );
        }
        if status.disruptions_allowed == 0 {
            return Err(refusal(&exhausted(&budget.metadata.name, status), 0));
        }
        status.disruptions_allowed -= 1;
        status.disrupted_pods.insert(self.pod.into(), self.now);
        if status.disruptions_allowed == 0 {
            let condition = Condition {
                type_: "DisruptionAllowed".into(),
                status: "False".into(),
                observed_generation: status.observed_generation,
                reason: "InsufficientPods".into(),
                last_transition_time: Some(self.now),
                ..Condition::default()
            };
            set_condition(&mut status.conditions, condition, self.now);
        }
        Ok(Box::new(budget))
    }
}

/// Returns 429: the status of the budget has not been computed yet.
pub(super) fn not_processed(name: &str) -> Status {
    let message = format!("The disruption budget {name} is still being processed by the server.");
    refusal(&message, RETRY_SECONDS)
}

/// Explains why a budget has no disruption left.
fn exhausted(name: &str, status: &PodDisruptionBudgetStatus) -> String {
    let mut conditions = status.conditions.iter();
    let failed = conditions.find(|it| it.type_ == "DisruptionAllowed");
    let failed = failed.filter(|it| it.status == "False" && it.reason == "SyncFailed");
    let (has, needs) = (status.current_healthy, status.desired_healthy);
    match failed {
        Some(condition) => format!(
            "The disruption budget {name} does not allow evicting pods currently because it \
             failed sync: {}",
            condition.message
        ),
        None if has <= needs => {
            format!(
                "The disruption budget {name} needs {needs} healthy pods and has {has} currently"
            )
        }
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

fn refusal(cause: &str, retry_after_seconds: i32) -> Status {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    Status::too_many_requests(message, retry_after_seconds).with_details(StatusDetails {
        causes: vec![StatusCause {
            reason: "DisruptionBudget".into(),
            message: cause.into(),
            ..StatusCause::default()
        }],
        retry_after_seconds,
        ..StatusDetails::default()
    })
}
