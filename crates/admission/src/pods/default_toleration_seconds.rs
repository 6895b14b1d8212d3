//! `DefaultTolerationSeconds`: how long Pods stay on a node that has become unavailable.

use super::PODS;
use kubist_api::core::v1::{Pod, Toleration};
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;

/// Lets Pods tolerate unavailable nodes for five minutes, unless they say otherwise.
#[derive(Debug)]
pub(crate) struct DefaultTolerationSeconds;

const SECONDS: i64 = 300;
/// The taints of unavailable nodes.
const UNAVAILABLE: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

impl AdmissionPlugin for DefaultTolerationSeconds {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
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
            for taint in UNAVAILABLE {
                tolerate(pod, taint);
            }
        }
        Box::pin(ready(Ok(())))
    }
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
            toleration_seconds: Some(SECONDS),
            ..Toleration::default()
        });
    }
}
