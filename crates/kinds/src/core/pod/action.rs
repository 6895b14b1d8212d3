//! Helpers that the action subresources of Pods share.

use kubist_api::core::v1::{Pod, PodCondition};
use kubist_apimachinery::{AnyObject, Status, Time};
use kubist_registry::Created;
use std::any::Any;

pub(super) fn pod(object: Option<&dyn AnyObject>) -> Result<Pod, Status> {
    let found = object.and_then(|object| (object as &dyn Any).downcast_ref::<Pod>());
    found
        .cloned()
        .ok_or_else(|| Status::internal_error("expected a Pod"))
}

/// Sets a pod condition. Its transition time changes only with its status.
pub(super) fn set_condition(pod: &mut Pod, mut condition: PodCondition, now: Time) {
    condition.last_transition_time = Some(now);
    let conditions = &mut pod.status.conditions;
    match conditions.iter_mut().find(|it| it.type_ == condition.type_) {
        Some(found) => {
            if found.status == condition.status {
                condition.last_transition_time = found.last_transition_time;
            }
            *found = condition;
        }
        None => conditions.push(condition),
    }
}

pub(super) fn success() -> Created {
    let mut status = Status::success();
    status.code = 201;
    Created::Status(Box::new(status))
}
