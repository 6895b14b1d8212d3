//! Validation of the resource requests, limits and claims of containers and Pods.

use crate::pod_spec::pod_context::PodContext;
use crate::shared::resources::{
    HUGE_PAGES, check_amount, check_any_name, check_container_name, is_exact, is_huge_pages,
    is_of_pods,
};
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSpec, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath, Quantity, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

/// The owner of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A single container.
    Container,
    /// All containers of a Pod together.
    Pod,
}

impl Level {
    /// The names that upstream suggests.
    const OF_PODS: [&'static str; 3] = ["cpu", "hugepages-", "memory"];

    fn check_name(self, errors: &mut Errors, name: &str, path: &FieldPath) {
        if self == Self::Container {
            check_container_name(errors, name, path);
            return;
        }
        let before = errors.len();
        check_any_name(errors, name, path);
        if errors.len() == before && !is_of_pods(name) {
            errors.push(FieldError::not_supported(path, name, &Self::OF_PODS));
        }
    }
}

/// Checks the requests and limits of a container or Pod.
pub(crate) fn check(
    errors: &mut Errors,
    resources: &ResourceRequirements,
    level: Level,
    pod: PodContext<'_>,
    path: &FieldPath,
) {
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    for (name, amount) in &resources.limits {
        let path = limits_path.key(name);
        level.check_name(errors, name, &path);
        check_amount(errors, name, amount, &path);
        check_pages(errors, name, amount, pod, &path);
    }
    for (name, amount) in &resources.requests {
        let path = requests_path.key(name);
        level.check_name(errors, name, &path);
        check_amount(errors, name, amount, &path);
        match resources.limits.get(name) {
            Some(limit) if is_exact(name) && amount != limit => {
                let detail = format!("must be equal to {name} limit of {limit}");
                errors.push(FieldError::invalid(&requests_path, amount.text(), detail));
            }
            Some(limit) if amount > limit => {
                let detail = format!("must be less than or equal to {name} limit of {limit}");
                errors.push(FieldError::invalid(&requests_path, amount.text(), detail));
            }
            None if is_exact(name) => {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(&limits_path, detail));
            }
            _ => {}
        }
        check_pages(errors, name, amount, pod, &path);
    }
    pages_are_not_alone(errors, resources, path);
    check_claims(errors, resources, pod, &path.child("claims"));
}

/// Checks a container's claims: each must be a claim of the Pod and may be used once.
fn check_claims(
    errors: &mut Errors,
    resources: &ResourceRequirements,
    pod: PodContext<'_>,
    path: &FieldPath,
) {
    let claims = pod.spec.resource_claims.iter().map(|it| &*it.name);
    let known: BTreeSet<&str> = claims.filter(|it| !it.is_empty()).collect();
    // A complete claim overlaps with each request in it.
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (index, claim) in resources.claims.iter().enumerate() {
        let path = path.index(index);
        let (name, request) = (&*claim.name, &*claim.request);
        if name.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        if seen.contains(&(name, "")) {
            errors.push(FieldError::duplicate(&path, name));
        } else {
            if !request.is_empty() {
                let at = path.child("request");
                rules::text(errors, request, &at, validate_name::dns1123_label);
            }
            if seen.contains(&(name, request)) {
                let key = format!("{name}/{request}");
                errors.push(FieldError::duplicate(&path, &key));
            } else if request.is_empty() {
                let parts = seen.range((name, "")..);
                let parts = parts.take_while(|(other, _)| *other == name);
                errors.extend(parts.map(|_| FieldError::duplicate(&path, name)));
            }
            seen.insert((name, request));
        }
        if !known.contains(name) {
            errors.push(unknown_claim(name, &known, &path));
        }
    }
}

fn unknown_claim(name: &str, known: &BTreeSet<&str>, path: &FieldPath) -> FieldError {
    let mut detail = "must be one of the names in pod.spec.resourceClaims".to_owned();
    if known.is_empty() {
        detail.push_str(" which is empty");
    } else {
        let names: Vec<&str> = known.iter().copied().collect();
        detail.extend([": ", &names.join(", ")]);
    }
    let mut error = FieldError::not_found(path, name);
    error.detail = detail.into();
    error
}

/// Checks that huge pages are a multiple of the page size.
fn check_pages(
    errors: &mut Errors,
    name: &str,
    amount: &Quantity,
    pod: PodContext<'_>,
    path: &FieldPath,
) {
    if is_broken_page(name, amount) && !pod.subject.already(has_broken_pages) {
        let detail = format!("{amount} is not positive integer multiple of {name}");
        errors.push(FieldError::invalid(path, amount.text(), detail));
    }
}

fn is_broken_page(name: &str, amount: &Quantity) -> bool {
    let Some(size) = name.strip_prefix(HUGE_PAGES) else {
        return false;
    };
    match size.parse::<Quantity>() {
        Ok(size) if size.signum() > 0 && size.is_whole() => amount.value() % size.value() != 0,
        _ => true,
    }
}

fn has_broken_pages(spec: &PodSpec) -> bool {
    let any = |amounts: &BTreeMap<Str, Quantity>| {
        let mut amounts = amounts.iter();
        amounts.any(|(name, amount)| is_broken_page(name, amount))
    };
    let ephemeral = spec.ephemeral_containers.iter().map(|it| &it.resources);
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let mut resources = containers.map(|it| &it.resources).chain(ephemeral);
    resources.any(|it| any(&it.limits) || any(&it.requests)) || any(&spec.overhead)
}

/// Checks that huge pages are used together with CPU or memory.
fn pages_are_not_alone(errors: &mut Errors, resources: &ResourceRequirements, path: &FieldPath) {
    let keys = || resources.limits.keys().chain(resources.requests.keys());
    let ordinary = |name: &Str| name == "cpu" || name == "memory";
    if keys().any(|it| is_huge_pages(it)) && !keys().any(ordinary) {
        let detail = "HugePages require cpu or memory";
        errors.push(FieldError::forbidden(path, detail));
    }
}
