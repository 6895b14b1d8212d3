//! The template of Pods in an object.

use crate::objects::typed;
use kubist_api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use kubist_api::batch::v1::{CronJob, Job};
use kubist_api::core::v1::{PodTemplate, PodTemplateSpec, ReplicationController};
use kubist_apimachinery::AnyObject;

/// Returns the template of Pods in an object; `None` if it has none.
pub(crate) fn of(object: &dyn AnyObject) -> Option<&PodTemplateSpec> {
    let of_core = typed::<PodTemplate>(object).map(|it| &it.template);
    let controller = typed::<ReplicationController>(object);
    of_core
        .or_else(|| controller?.spec.template.as_deref())
        .or_else(|| typed::<ReplicaSet>(object).map(|it| &it.spec.template))
        .or_else(|| typed::<Deployment>(object).map(|it| &it.spec.template))
        .or_else(|| typed::<DaemonSet>(object).map(|it| &it.spec.template))
        .or_else(|| typed::<StatefulSet>(object).map(|it| &it.spec.template))
        .or_else(|| typed::<Job>(object).map(|it| &it.spec.template))
        .or_else(|| typed::<CronJob>(object).map(|it| &it.spec.job_template.spec.template))
}
