//! `RuntimeClass`: the overhead and the placement of Pods, by their runtime class.

use super::PODS;
use super::tolerations::merge;
use crate::objects::typed;
use kubist_api::core::v1::Pod;
use kubist_api::node::v1::RuntimeClass as Class;
use kubist_apimachinery::{AnyObject, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::sync::Arc;

/// Sets what the runtime class of a new Pod says.
#[derive(Debug)]
pub(crate) struct RuntimeClass;

const DIFFERS: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNDEFINED: &str =
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

impl AdmissionPlugin for RuntimeClass {
    fn name(&self) -> &'static str {
        "RuntimeClass"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let found = class_of(attributes).await?;
            let Some(class) = found.as_deref().and_then(typed::<Class>) else {
                return Ok(());
            };
            let set = attributes.typed_mut::<Pod>().map(|pod| set(pod, class));
            match set {
                Some(Err(why)) => Err(attributes.forbidden(why)),
                _ => Ok(()),
            }
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let found = class_of(attributes).await?;
            let class = found.as_deref().and_then(typed::<Class>);
            let Some(pod) = attributes.typed::<Pod>() else {
                return Ok(());
            };
            let own = &pod.spec.overhead;
            match class.and_then(|it| it.overhead.as_deref()) {
                Some(overhead) if *own != overhead.pod_fixed => Err(attributes.forbidden(DIFFERS)),
                None if !own.is_empty() => Err(attributes.forbidden(UNDEFINED)),
                _ => Ok(()),
            }
        })
    }
}

/// Returns the runtime class of a Pod, if it has one.
async fn class_of(attributes: &Attributes<'_>) -> Result<Option<Arc<dyn AnyObject>>, Status> {
    let pod = attributes.typed::<Pod>();
    let Some(name) = pod.and_then(|it| it.spec.runtime_class_name.clone()) else {
        return Ok(None);
    };
    let objects = attributes.objects();
    let found = objects.get("node.k8s.io", "runtimeclasses", "", &name);
    let missing = || {
        attributes.forbidden(format_args!(
            "pod rejected: RuntimeClass \"{name}\" not found"
        ))
    };
    found.await?.map(Some).ok_or_else(missing)
}

/// Sets overhead and placement.
///
/// # Errors
/// The Pod says something else.
fn set(pod: &mut Pod, class: &Class) -> Result<(), String> {
    let spec = &mut pod.spec;
    if let Some(overhead) = class.overhead.as_deref() {
        if !spec.overhead.is_empty() && spec.overhead != overhead.pod_fixed {
            return Err(DIFFERS.to_owned());
        }
        spec.overhead.clone_from(&overhead.pod_fixed);
    }
    let Some(scheduling) = class.scheduling.as_deref() else {
        return Ok(());
    };
    for (key, value) in &scheduling.node_selector {
        let own = spec
            .node_selector
            .entry(key.clone())
            .or_insert_with(|| value.clone());
        if own != value {
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; \
                 pod.spec.nodeSelector[{key}] = {own}"
            ));
        }
    }
    spec.tolerations = merge(&spec.tolerations, &scheduling.tolerations);
    Ok(())
}
