//! Validation of resource requests and limits.

use crate::pod_spec::container::Around;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSpec, ResourceRequirements};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

/// The prefix of huge page resources. The page size follows.
const HUGE_PAGES: &str = "hugepages-";

const STANDARD: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];
/// Standard names without a domain that are not container resources.
const STANDARD_ELSEWHERE: [&str; 18] = [
    "storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
    "count",
];

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

/// Reports whether a resource can be requested at Pod level.
pub(crate) fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_pages(name)
}

/// Reports whether a resource is a huge page resource.
pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Checks the requests and limits of a container or Pod.
pub(crate) fn check(
    errors: &mut Errors,
    resources: &ResourceRequirements,
    level: Level,
    around: Around<'_>,
    path: &FieldPath,
) {
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    for (name, amount) in &resources.limits {
        let path = limits_path.key(name);
        level.check_name(errors, name, &path);
        check_amount(errors, name, amount, &path);
        check_pages(errors, name, amount, around, &path);
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
        check_pages(errors, name, amount, around, &path);
    }
    pages_are_not_alone(errors, resources, path);
    check_claims(errors, resources, around, &path.child("claims"));
}

/// Checks a container's claims: each must be a claim of the Pod and may be used once.
fn check_claims(
    errors: &mut Errors,
    resources: &ResourceRequirements,
    around: Around<'_>,
    path: &FieldPath,
) {
    let claims = around.spec.resource_claims.iter().map(|it| &*it.name);
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
    around: Around<'_>,
    path: &FieldPath,
) {
    if is_broken_page(name, amount) && !around.subject.already(has_broken_pages) {
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

/// Reports whether the request must equal the limit.
pub(crate) fn is_exact(name: &str) -> bool {
    !is_native(name) || is_huge_pages(name)
}

/// Reports whether a name is not one of Kubernetes' own.
pub(crate) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && validate_name::qualified_name(&format!("requests.{name}")).is_empty()
}

pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Checks the name of a container resource.
pub(crate) fn check_container_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    check_any_name(errors, name, path);
    if !name.contains('/') {
        if !(STANDARD.contains(&name) || is_huge_pages(name)) {
            let detail = "must be a standard resource for containers";
            errors.push(FieldError::invalid(path, BadValue::json(name), detail));
        }
    } else if !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        errors.push(FieldError::invalid(path, BadValue::json(name), detail));
    }
}

/// Checks the name of any resource.
pub(crate) fn check_any_name(errors: &mut Errors, name: &str, path: &FieldPath) {
    let problems = validate_name::qualified_name(name);
    if !problems.is_empty() {
        let wrong = |it| FieldError::invalid(path, BadValue::json(name), it);
        errors.extend(problems.into_iter().map(wrong));
        return;
    }
    let pages = is_huge_pages(name) || name.starts_with("requests.hugepages-");
    let is_standard = STANDARD.contains(&name) || STANDARD_ELSEWHERE.contains(&name);
    if !name.contains('/') && !is_standard && !pages {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path, BadValue::json(name), detail));
    }
}

/// Checks that a quantity is not negative, and that it is an integer if the resource is counted.
pub(crate) fn check_amount(errors: &mut Errors, name: &str, amount: &Quantity, path: &FieldPath) {
    non_negative(errors, amount, path);
    let counts = is_extended(name) || COUNTED.contains(&name);
    if counts && !amount.is_whole() {
        errors.push(FieldError::invalid(
            path,
            amount.text(),
            "must be an integer",
        ));
    }
}

/// Resources that are counted in integers.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Checks that a quantity is not negative.
pub(crate) fn non_negative(errors: &mut Errors, amount: &Quantity, path: &FieldPath) {
    if amount.signum() < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(path, amount.text(), detail));
    }
}
