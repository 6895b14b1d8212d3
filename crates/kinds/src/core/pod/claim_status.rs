//! Validation of resource claim statuses in the status of a Pod.

use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{
    Container, Pod, PodExtendedResourceClaimStatus, PodResourceClaimStatus, PodSpec,
};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

/// Checks all resource claim fields of a Pod status.
pub(crate) fn check(errors: &mut Errors, pod: &Pod, path: &FieldPath) {
    let (status, spec) = (&pod.status, &pod.spec);
    let at = path.child("resourceClaimStatuses");
    check_claims(errors, &status.resource_claim_statuses, spec, &at);
    if let Some(extended) = &status.extended_resource_claim_status {
        let at = path.child("extendedResourceClaimStatus");
        check_extended(errors, extended, spec, &at);
    }
    let at = path.child("nodeAllocatableResourceClaimStatuses");
    check_allocatable(errors, pod, &at);
}

fn check_claims(
    errors: &mut Errors,
    claims: &[PodResourceClaimStatus],
    spec: &PodSpec,
    path: &FieldPath,
) {
    let known: BTreeSet<&Str> = spec.resource_claims.iter().map(|it| &it.name).collect();
    let repeated = rules::repeats(claims.iter().map(|it| &it.name));
    for (index, claim) in claims.iter().enumerate() {
        let path = path.index(index);
        let at = path.child("name");
        if !known.contains(&claim.name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(FieldError::invalid(&at, &claim.name, detail));
        }
        if repeated[index] {
            errors.push(FieldError::duplicate(&at, &claim.name));
        }
        if let Some(name) = &claim.resource_claim_name {
            let path = path.child("resourceClaimName");
            rules::text(errors, name, &path, validate_name::dns1123_subdomain);
        }
    }
}

/// Checks the claim that was created for extended resources that containers request by name.
fn check_extended(
    errors: &mut Errors,
    status: &PodExtendedResourceClaimStatus,
    spec: &PodSpec,
    path: &FieldPath,
) {
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let containers: BTreeMap<&Str, &Container> = containers.map(|it| (&it.name, it)).collect();
    let all = &status.request_mappings;
    let mappings = path.child("requestMappings");
    if all.is_empty() {
        let detail = "at least one request mapping is required";
        errors.push(FieldError::required(&mappings, detail));
    }
    let keys = all
        .iter()
        .map(|it| (&it.container_name, &it.resource_name, &it.request_name));
    let repeated = rules::repeats(keys);
    for (index, mapping) in all.iter().enumerate() {
        let at = mappings.index(index);
        let resource = &mapping.resource_name;
        match containers.get(&mapping.container_name) {
            Some(container) if container.resources.requests.contains_key(resource) => {}
            Some(_) => {
                let detail = "must match the extended resource name of an entry in \
                              spec.initContainers.resources.requests or \
                              spec.containers.resources.requests";
                let path = at.child("resourceName");
                errors.push(FieldError::invalid(&path, resource, detail));
            }
            None => {
                let detail = "must match the name of an entry in spec.initContainers.name or \
                              spec.containers.name";
                let path = at.child("containerName");
                let name = &mapping.container_name;
                errors.push(FieldError::invalid(&path, name, detail));
            }
        }
        let request = &mapping.request_name;
        let rule = validate_name::dns1123_label;
        rules::text(errors, request, &path.child("requestName"), rule);
        if repeated[index] {
            for (name, value) in [
                ("containerName", &mapping.container_name),
                ("resourceName", resource),
                ("requestName", request),
            ] {
                errors.push(FieldError::duplicate(&at.child(name), value));
            }
        }
    }
    let at = path.child("resourceClaimName");
    if rules::required(errors, &status.resource_claim_name, &at) {
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, &status.resource_claim_name, &at, rule);
    }
}

/// Checks the claims that provide a Pod with node-allocatable resources.
fn check_allocatable(errors: &mut Errors, pod: &Pod, path: &FieldPath) {
    let named = pod.spec.resource_claims.iter();
    let named = named.filter_map(|it| it.resource_claim_name.as_ref());
    let made = pod.status.resource_claim_statuses.iter();
    let made = made.filter_map(|it| it.resource_claim_name.as_ref());
    let known: BTreeSet<&Str> = named.chain(made).collect();
    let statuses = &pod.status.node_allocatable_resource_claim_statuses;
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        let at = path.child("resourceClaimName");
        let name = &status.resource_claim_name;
        if name.is_empty() {
            errors.push(FieldError::required(&at, "must not be empty"));
        }
        if !known.contains(name) {
            let detail = "no mapping found in pod reference";
            errors.push(FieldError::invalid(&at, name, detail));
        }
        if status.containers.is_empty() {
            let path = path.child("containers");
            errors.push(FieldError::required(&path, "must not be empty"));
        }
        let at = path.child("resources");
        if status.resources.is_empty() {
            errors.push(FieldError::required(&at, "must not be empty"));
        }
        for (name, amount) in &status.resources {
            let path = at.key(name);
            if !shared::resources::is_native(name) {
                let detail = "must be a node allocatable resource name";
                errors.push(FieldError::invalid(&path, name, detail));
            }
            if amount.signum() < 0 {
                let detail = "must be non-negative";
                errors.push(FieldError::invalid(&path, amount.as_str(), detail));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{
        ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus,
    };
    use kubist_apimachinery::Quantity;

    fn problems(pod: &Pod) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, pod, &FieldPath::new("status"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn claims_are_those_of_the_spec() {
        let mut new = Pod::default();
        for _ in 0..2 {
            new.status
                .resource_claim_statuses
                .push(PodResourceClaimStatus {
                    name: "x".into(),
                    resource_claim_name: None,
                });
        }
        let extended = new
            .status
            .extended_resource_claim_status
            .insert(Box::default());
        extended
            .request_mappings
            .push(ContainerExtendedResourceRequest {
                container_name: "c".into(),
                request_name: "r".into(),
                ..ContainerExtendedResourceRequest::default()
            });
        let name = "must match the name of an entry in";
        let at = "status.resourceClaimStatuses";
        let extended = "status.extendedResourceClaimStatus";
        assert_eq!(
            problems(&new),
            [
                format!("{at}[0].name: Invalid value: \"x\": {name} `spec.resourceClaims`"),
                format!("{at}[1].name: Invalid value: \"x\": {name} `spec.resourceClaims`"),
                format!("{at}[1].name: Duplicate value: \"x\""),
                format!(
                    "{extended}.requestMappings[0].containerName: Invalid value: \"c\": {name} \
                     spec.initContainers.name or spec.containers.name"
                ),
                format!("{extended}.resourceClaimName: Required value"),
            ]
        );
    }

    #[test]
    fn what_nodes_have_by_themselves_is_claimed_by_name() {
        let mut pod = Pod::default();
        let amounts = [("cpu", "1"), ("example.com/a", "-1")];
        let amount = |(name, it): (&str, &str)| -> (Str, Quantity) {
            (name.into(), it.parse().expect("an amount"))
        };
        pod.status.node_allocatable_resource_claim_statuses.push(
            NodeAllocatableResourceClaimStatus {
                resource_claim_name: "x".into(),
                resources: amounts.into_iter().map(amount).collect(),
                ..NodeAllocatableResourceClaimStatus::default()
            },
        );
        let at = "status.nodeAllocatableResourceClaimStatuses[0]";
        let resource = format!("{at}.resources[example.com/a]: Invalid value:");
        assert_eq!(
            problems(&pod),
            [
                format!(
                    "{at}.resourceClaimName: Invalid value: \"x\": no mapping found in pod \
                     reference"
                ),
                format!("{at}.containers: Required value: must not be empty"),
                format!("{resource} \"example.com/a\": must be a node allocatable resource name"),
                format!("{resource} \"-1\": must be non-negative"),
            ]
        );
    }
}
