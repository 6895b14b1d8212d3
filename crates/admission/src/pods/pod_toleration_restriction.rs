//! `PodTolerationRestriction`: which taints the Pods of a namespace may and do tolerate.
//!
//! The namespace says it, in annotations. Upstream has further settings in a file.

use super::PODS;
use super::namespace_annotation::of_namespace;
use super::tolerations::{includes, merge};
use crate::quality_of_service::is_best_effort;
use kubist_api::core::v1::{Pod, PodSpec, Toleration};
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Adds the tolerations of the namespace, and refuses those that it does not list.
#[derive(Debug)]
pub(crate) struct PodTolerationRestriction;

/// The annotation with the tolerations that new Pods get.
const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
/// The annotation with the tolerations that Pods may have; nothing means all.
const PERMITTED: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
/// The taint of nodes that are short of memory: Pods that request resources may still run there.
const LITTLE_MEMORY: &str = "node.kubernetes.io/memory-pressure";

impl AdmissionPlugin for PodTolerationRestriction {
    fn name(&self) -> &'static str {
        "PodTolerationRestriction"
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
        Box::pin(async move {
            let mut more = match attributes.target().operation {
                Operation::Create => listed(attributes, DEFAULTS).await?,
                _ => Vec::new(),
            };
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                if !is_of_best_effort(pod) {
                    more.push(Toleration {
                        key: LITTLE_MEMORY.into(),
                        operator: "Exists".into(),
                        effect: "NoSchedule".into(),
                        ..Toleration::default()
                    });
                }
                if !more.is_empty() {
                    pod.spec.tolerations = merge(&pod.spec.tolerations, &more);
                }
            }
            check(attributes).await
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(check(attributes))
    }
}

async fn check(attributes: &Attributes<'_>) -> Result<(), Status> {
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(());
    };
    let tolerations = &pod.spec.tolerations;
    if tolerations.is_empty() {
        return Ok(());
    }
    let permitted = listed(attributes, PERMITTED).await?;
    let is_permitted = |it: &Toleration| permitted.iter().any(|other| includes(other, it));
    if permitted.is_empty() || tolerations.iter().all(is_permitted) {
        return Ok(());
    }
    Err(Status::unmapped_error(
        "pod tolerations (possibly merged with namespace default tolerations) conflict with its \
         namespace whitelist",
    ))
}

/// Reports whether nothing is promised to a Pod, so that it is the first to be evicted.
fn is_of_best_effort(pod: &Pod) -> bool {
    match pod.status.qos_class.as_str() {
        "" => is_best_effort(&pod.spec),
        class => class == "BestEffort",
    }
}

/// Returns the tolerations in an annotation of the namespace.
async fn listed(attributes: &Attributes<'_>, key: &str) -> Result<Vec<Toleration>, Status> {
    let text = of_namespace(attributes, key).await?.unwrap_or_default();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    // The list alone is no message, and a part of one that has it is.
    let json = format!("{{\"tolerations\":{text}}}");
    let mut spec = PodSpec::default();
    let decoded = merge_json(&mut spec, json.as_bytes(), &mut DecodeContext::new());
    decoded.map_err(|error| Status::unmapped_error(error.to_string()))?;
    Ok(spec.tolerations)
}
