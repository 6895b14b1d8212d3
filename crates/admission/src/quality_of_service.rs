//! Whether a Pod has any claim to compute resources.

use kubist_api::core::v1::PodSpec;
use kubist_api::core::v1::ResourceRequirements;

/// Reports whether neither the containers of a Pod nor the Pod as a whole request or limit compute
/// resources. What the Pod as a whole says decides, even if it is empty.
pub(crate) fn is_best_effort(spec: &PodSpec) -> bool {
    if let Some(resources) = spec.resources.as_deref() {
        return !has_compute(resources);
    }
    let mut containers = spec.containers.iter().chain(&spec.init_containers);
    !containers.any(|it| has_compute(&it.resources))
}

fn has_compute(resources: &ResourceRequirements) -> bool {
    let amounts = resources.requests.iter().chain(&resources.limits);
    let mut compute = amounts.filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory"));
    compute.any(|(_, amount)| amount.signum() > 0)
}
