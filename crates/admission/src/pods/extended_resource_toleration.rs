//! `ExtendedResourceToleration`: Pods tolerate the taints of nodes with the devices they request.

use super::PODS;
use kubist_api::core::v1::{Pod, Toleration};
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::collections::BTreeSet;
use std::future::ready;

/// Lets Pods tolerate taints with the names of the extended resources that they request.
#[derive(Debug)]
pub(crate) struct ExtendedResourceToleration;

impl AdmissionPlugin for ExtendedResourceToleration {
    fn name(&self) -> &'static str {
        "ExtendedResourceToleration"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        if let Some(pod) = attributes.typed_mut::<Pod>() {
            for resource in extended(pod) {
                tolerate(pod, resource);
            }
        }
        Box::pin(ready(Ok(())))
    }
}

/// Returns the extended resources that a Pod requests.
fn extended(pod: &Pod) -> BTreeSet<Str> {
    let spec = &pod.spec;
    let containers = spec.containers.iter().chain(&spec.init_containers);
    let names = containers.flat_map(|it| it.resources.requests.keys());
    let is_extended = |name: &&Str| {
        let native = !name.contains('/') || name.contains("kubernetes.io/");
        !native && !name.starts_with("requests.")
    };
    names.filter(is_extended).cloned().collect()
}

fn tolerate(pod: &mut Pod, resource: Str) {
    let wanted = Toleration {
        key: resource,
        operator: "Exists".into(),
        effect: "NoSchedule".into(),
        ..Toleration::default()
    };
    let matches = |it: &Toleration| {
        (&it.key, &it.effect, &it.operator, &it.value)
            == (&wanted.key, &wanted.effect, &wanted.operator, &wanted.value)
    };
    let tolerations = &mut pod.spec.tolerations;
    match tolerations.iter_mut().find(|it| matches(it)) {
        Some(found) => *found = wanted,
        None => tolerations.push(wanted),
    }
}
