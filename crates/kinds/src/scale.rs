//! The scales of workloads: desired and current replicas.

use kubist_api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use kubist_api::core::v1::ReplicationController;
use kubist_apimachinery::{AnyObject, LabelSelector, Selector, Str, format_label_selector};
use kubist_registry::Replicas;
use std::any::Any;

/// Returns the scale of a workload, or `None` if the kind has none.
pub(crate) fn replicas(object: &dyn AnyObject) -> Option<Replicas> {
    let any: &dyn Any = object;
    let (wanted, current, selector) = if let Some(it) = any.downcast_ref::<Deployment>() {
        let selector = text(it.spec.selector.as_deref());
        (it.spec.replicas, it.status.replicas, selector)
    } else if let Some(it) = any.downcast_ref::<ReplicaSet>() {
        let selector = text(it.spec.selector.as_deref());
        (it.spec.replicas, it.status.replicas, selector)
    } else if let Some(it) = any.downcast_ref::<StatefulSet>() {
        let selector = text(it.spec.selector.as_deref());
        (it.spec.replicas, it.status.replicas, selector)
    } else {
        let it = any.downcast_ref::<ReplicationController>()?;
        let selector = Selector::from_labels(&it.spec.selector).to_string().into();
        (it.spec.replicas, it.status.replicas, selector)
    };
    Some(Replicas {
        desired: wanted.unwrap_or(1),
        current,
        selector,
    })
}

fn text(selector: Option<&LabelSelector>) -> Str {
    let parsed = selector.and_then(|it| Selector::try_from(it).ok());
    parsed.map_or_else(
        || format_label_selector(selector).into(),
        |selector| selector.to_string().into(),
    )
}

/// Sets the desired replicas of a workload.
pub(crate) fn set_replicas(object: &mut dyn AnyObject, replicas: i32) {
    let any: &mut dyn Any = object;
    if let Some(it) = any.downcast_mut::<Deployment>() {
        it.spec.replicas = Some(replicas);
    } else if let Some(it) = any.downcast_mut::<ReplicaSet>() {
        it.spec.replicas = Some(replicas);
    } else if let Some(it) = any.downcast_mut::<StatefulSet>() {
        it.spec.replicas = Some(replicas);
    } else if let Some(it) = any.downcast_mut::<ReplicationController>() {
        it.spec.replicas = Some(replicas);
    }
}
