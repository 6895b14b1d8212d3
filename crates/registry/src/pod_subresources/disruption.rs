//! Disruption budgets: how many pods of a set may be away at a time, by somebody's choice.

use crate::RequestContext;
use crate::rest::{Rest, UpdatedObject};
use crate::store::{Part, UpdateRequest};
use kubist_api::core::v1::Pod;
use kubist_api::policy::v1::PodDisruptionBudget;
use kubist_apimachinery::{
    AnyObject, Condition, Selector, Status, StatusCause, StatusDetails, Time, set_condition,
};
use std::any::Any;

/// Pods that a budget remembers as being on their way out; more are refused, as upstream.
const DISRUPTED_MAX: usize = 2000;

/// Whether a budget counts the pod at all: one that runs nothing, or that is going anyway, does
/// nobody any harm.
pub(super) fn is_protected(pod: &Pod) -> bool {
    let phase = pod.status.phase.as_str();
    !matches!(phase, "Succeeded" | "Failed" | "Pending") && !pod.metadata.is_terminating()
}

/// Takes one disruption off the budget of a pod. 429 if there is none left.
pub(super) async fn take(
    rest: &Rest,
    cx: &RequestContext,
    pod: &Pod,
    dry_run: bool,
) -> Result<(), Status> {
    let Some(store) = rest.shared.find("policy", "poddisruptionbudgets") else {
        return Ok(());
    };
    let namespace = &pod.metadata.namespace;
    let mut names = Vec::new();
    for stored in rest.shared.all(store, namespace).await? {
        let object = stored.object()?;
        if let Some(budget) = budget(&**object)
            && covers(budget, pod)
        {
            names.push(budget.metadata.name.clone());
        }
    }
    let name = match &names[..] {
        [] => return Ok(()),
        [name] => name,
        _ => {
            let why = "This pod has more than one PodDisruptionBudget, which the eviction \
                       subresource does not support.";
            return Err(Status::internal_error(why));
        }
    };
    let object = Disrupted {
        pod: &pod.metadata.name,
        now: cx.now(),
    };
    let request = UpdateRequest {
        shared: &rest.shared,
        cx,
        namespace,
        name,
        object: &object,
        part: Part::Everything,
        subresource: "status",
        dry_run,
    };
    store.update(request).await.map(drop)
}

fn budget(object: &dyn AnyObject) -> Option<&PodDisruptionBudget> {
    (object as &dyn Any).downcast_ref()
}

fn covers(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let selector = budget.spec.selector.as_deref();
    let selector = selector.and_then(|it| Selector::try_from(it).ok());
    selector.is_some_and(|selector| selector.matches_labels(&pod.metadata.labels))
}

/// A budget with one disruption less.
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
            let message = "The disruption budget is still being processed by the server.";
            return Err(refusal(message, 10));
        }
        if status.disrupted_pods.len() > DISRUPTED_MAX || status.disruptions_allowed < 0 {
            let why = "the budget's status is not plausible";
            return Err(Status::internal_error(why));
        }
        if status.disruptions_allowed == 0 {
            let message = format!(
                "The disruption budget {} needs {} healthy pods and has {} currently",
                budget.metadata.name, status.desired_healthy, status.current_healthy
            );
            return Err(refusal(&message, 0));
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
