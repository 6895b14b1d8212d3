//! Upstream's default admission of Pods: priority, runtime class, and tolerations of unavailable
//! nodes.

use crate::core::pod::topology;
use kubist_api::core::v1::{Pod, Toleration};
use kubist_api::node::v1::RuntimeClass;
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::{GroupResource, KubeObject, Status, Str};
use kubist_registry::Admission;
use std::any::Any;

/// How long a Pod stays on an unavailable node.
const TOLERATION_SECONDS: i64 = 300;
/// The taints of unavailable nodes.
const UNAVAILABLE: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
/// Priority classes that upstream creates itself: name and value.
const SYSTEM_CLASSES: [(&str, i32); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// Admits a Pod on create and update.
pub(crate) async fn admit(
    cx: &Admission<'_>,
    new: &mut Pod,
    old: Option<&Pod>,
) -> Result<(), Status> {
    if !cx.subresource.is_empty() {
        return Ok(());
    }
    if let Some(old) = old {
        let spec = &mut new.spec;
        spec.priority = spec.priority.or(old.spec.priority);
        if spec.preemption_policy.is_none() {
            spec.preemption_policy
                .clone_from(&old.spec.preemption_policy);
        }
    } else {
        set_priority(cx, new).await?;
        set_runtime_class(cx, new).await?;
        if !new.spec.node_name.is_empty() {
            let labels = topology::of_node(cx.objects, &new.spec.node_name).await?;
            new.metadata.labels.extend(labels);
        }
    }
    for taint in UNAVAILABLE {
        tolerate(new, taint);
    }
    Ok(())
}

fn tolerate(pod: &mut Pod, taint: &str) {
    let tolerates = |it: &Toleration| {
        (it.key == taint || it.key.is_empty()) && (it.effect == "NoExecute" || it.effect.is_empty())
    };
    if !pod.spec.tolerations.iter().any(tolerates) {
        pod.spec.tolerations.push(Toleration {
            key: taint.into(),
            operator: "Exists".into(),
            effect: "NoExecute".into(),
            toleration_seconds: Some(TOLERATION_SECONDS),
            ..Toleration::default()
        });
    }
}

/// The values that a priority class assigns to its Pods.
struct PriorityValues {
    value: i32,
    policy: Str,
    class: Str,
}

async fn set_priority(cx: &Admission<'_>, pod: &mut Pod) -> Result<(), Status> {
    let values = match pod.spec.priority_class_name.as_str() {
        "" => default_class(cx).await?,
        name => named_class(cx, name).await?.ok_or_else(|| {
            forbidden(pod, &format!("no PriorityClass with name {name} was found"))
        })?,
    };
    let PriorityValues {
        value,
        policy,
        class,
    } = values;
    if let Some(own) = pod.spec.priority.filter(|&own| own != value) {
        return Err(forbidden(
            pod,
            &format!(
                "the integer value of priority ({own}) must not be provided in pod spec; \
                 priority admission controller computed {value} from the given PriorityClass name"
            ),
        ));
    }
    if let Some(own) = pod
        .spec
        .preemption_policy
        .as_ref()
        .filter(|&own| *own != policy)
    {
        return Err(forbidden(
            pod,
            &format!(
                "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; \
                 priority admission controller computed {policy} from the given PriorityClass name"
            ),
        ));
    }
    pod.spec.priority = Some(value);
    pod.spec.preemption_policy = Some(policy);
    pod.spec.priority_class_name = class;
    Ok(())
}

/// Returns the class for Pods without one: the class with the lowest value among those marked as
/// default.
async fn default_class(cx: &Admission<'_>) -> Result<PriorityValues, Status> {
    let all = cx
        .objects
        .list("scheduling.k8s.io", "priorityclasses", "")
        .await?;
    let classes = all.iter().filter_map(|it| typed::<PriorityClass>(&**it));
    let default = classes
        .filter(|it| it.global_default)
        .min_by_key(|it| it.value);
    Ok(default.map_or_else(
        || PriorityValues {
            value: 0,
            policy: "PreemptLowerPriority".into(),
            class: Str::default(),
        },
        values_of,
    ))
}

async fn named_class(cx: &Admission<'_>, name: &str) -> Result<Option<PriorityValues>, Status> {
    let found = cx
        .objects
        .get("scheduling.k8s.io", "priorityclasses", "", name)
        .await?;
    if let Some(class) = found.as_deref().and_then(typed::<PriorityClass>) {
        return Ok(Some(values_of(class)));
    }
    let system = SYSTEM_CLASSES.iter().find(|(class, _)| *class == name);
    Ok(system.map(|(class, value)| PriorityValues {
        value: *value,
        policy: "PreemptLowerPriority".into(),
        class: (*class).into(),
    }))
}

fn values_of(class: &PriorityClass) -> PriorityValues {
    let policy = class.preemption_policy.clone();
    PriorityValues {
        value: class.value,
        policy: policy.unwrap_or_else(|| "PreemptLowerPriority".into()),
        class: class.metadata.name.clone(),
    }
}

async fn set_runtime_class(cx: &Admission<'_>, pod: &mut Pod) -> Result<(), Status> {
    const NO_OVERHEAD: &str =
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    let Some(name) = pod.spec.runtime_class_name.clone() else {
        if pod.spec.overhead.is_empty() {
            return Ok(());
        }
        return Err(forbidden(pod, NO_OVERHEAD));
    };
    let found = cx
        .objects
        .get("node.k8s.io", "runtimeclasses", "", &name)
        .await?;
    let Some(class) = found.as_deref().and_then(typed::<RuntimeClass>) else {
        let why = format!("pod rejected: RuntimeClass \"{name}\" not found");
        return Err(forbidden(pod, &why));
    };
    if let Some(overhead) = &class.overhead {
        if !pod.spec.overhead.is_empty() && pod.spec.overhead != overhead.pod_fixed {
            let why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
            return Err(forbidden(pod, why));
        }
        pod.spec.overhead.clone_from(&overhead.pod_fixed);
    } else if !pod.spec.overhead.is_empty() {
        return Err(forbidden(pod, NO_OVERHEAD));
    }
    if let Some(scheduling) = &class.scheduling {
        for (key, value) in &scheduling.node_selector {
            let own = pod
                .spec
                .node_selector
                .entry(key.clone())
                .or_insert_with(|| value.clone());
            if own != value {
                let why = format!(
                    "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
                );
                return Err(forbidden(pod, &why));
            }
        }
        for toleration in &scheduling.tolerations {
            if !pod.spec.tolerations.contains(toleration) {
                pod.spec.tolerations.push(toleration.clone());
            }
        }
    }
    Ok(())
}

pub(crate) fn typed<K: KubeObject>(object: &dyn kubist_apimachinery::AnyObject) -> Option<&K> {
    (object as &dyn Any).downcast_ref()
}

pub(crate) fn forbidden(pod: &Pod, why: &str) -> Status {
    Status::forbidden(&GroupResource::new("", "pods"), &pod.metadata.name, why)
}
