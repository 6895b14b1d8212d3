//! `LimitPodHardAntiAffinityTopology`: required anti-affinity is between nodes, and not between
//! whole zones.

use super::PODS;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;

/// Refuses required anti-affinity with any other topology than that of nodes.
#[derive(Debug)]
pub(crate) struct LimitPodHardAntiAffinityTopology;

const HOSTNAME: &str = "kubernetes.io/hostname";

impl AdmissionPlugin for LimitPodHardAntiAffinityTopology {
    fn name(&self) -> &'static str {
        "LimitPodHardAntiAffinityTopology"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let affinity = attributes
            .typed::<Pod>()
            .and_then(|it| it.spec.affinity.as_deref());
        let from = affinity.and_then(|it| it.pod_anti_affinity.as_deref());
        let terms = from.map(|it| &it.required_during_scheduling_ignored_during_execution);
        let mut terms = terms.into_iter().flatten();
        let other = terms.find(|it| it.topology_key != HOSTNAME);
        let result = match other {
            None => Ok(()),
            Some(term) => Err(attributes.forbidden(format_args!(
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {} but only \
                 key {HOSTNAME} is allowed",
                term.topology_key
            ))),
        };
        Box::pin(ready(result))
    }
}
