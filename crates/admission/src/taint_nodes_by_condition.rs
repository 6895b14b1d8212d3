//! `TaintNodesByCondition`: new nodes get no Pods until they are ready.

use kubist_api::core::v1::{Node, Taint};
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::future::ready;

/// Taints new nodes.
#[derive(Debug)]
pub(crate) struct TaintNodesByCondition;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const NO_SCHEDULE: &str = "NoSchedule";

impl AdmissionPlugin for TaintNodesByCondition {
    fn name(&self) -> &'static str {
        "TaintNodesByCondition"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "nodes")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        if let Some(node) = attributes.typed_mut::<Node>() {
            let taints = &mut node.spec.taints;
            let is_it = |it: &Taint| it.key == NOT_READY && it.effect == NO_SCHEDULE;
            if !taints.iter().any(is_it) {
                taints.push(Taint {
                    key: NOT_READY.into(),
                    effect: NO_SCHEDULE.into(),
                    ..Taint::default()
                });
            }
        }
        Box::pin(ready(Ok(())))
    }
}
