//! Validation and defaults of pod-level resources.

use crate::pod_spec::container::is_sidecar;
use crate::pod_spec::container_resources::{self, Level};
use crate::pod_spec::pod_context::PodContext;
use crate::shared::resources::{is_exact, is_huge_pages, is_of_pods};
use crate::shared::rules::Errors;
use kubist_api::core::v1::{PodSpec, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath, Quantity, Str};
use std::collections::BTreeMap;

type Amounts = BTreeMap<Str, Quantity>;

/// Checks the pod-level resources, and that containers do not exceed them.
pub(crate) fn check(errors: &mut Errors, pod: PodContext<'_>, path: &FieldPath) {
    let spec = pod.spec;
    let Some(resources) = spec.resources.as_deref() else {
        return;
    };
    if spec.os.as_ref().is_some_and(|it| it.name == "windows") {
        let detail = "may not be set for a windows pod";
        errors.push(FieldError::forbidden(path, detail));
        return;
    }
    if !resources.claims.is_empty() {
        let detail = "claims may not be set for Resources at pod-level";
        errors.push(FieldError::forbidden(&path.child("claims"), detail));
    }
    container_resources::check(errors, resources, Level::Pod, pod, path);
    covers_requests(errors, spec, resources, path);
    covers_pages(errors, spec, resources, path);
    covers_limits(errors, spec, resources, path);
}

fn covers_requests(
    errors: &mut Errors,
    spec: &PodSpec,
    resources: &ResourceRequirements,
    path: &FieldPath,
) {
    for (name, sum) in of_containers(spec, |it| &it.requests) {
        if let Some(own) = resources.requests.get(&name).filter(|&own| sum > *own) {
            let path = path.child("requests").key(&name);
            let detail =
                format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.push(FieldError::invalid(&path, own.text(), detail));
        }
    }
}

/// Checks that the sum of the container limits of huge pages does not exceed the Pod limit. A huge
/// page limit is also a request.
fn covers_pages(
    errors: &mut Errors,
    spec: &PodSpec,
    resources: &ResourceRequirements,
    path: &FieldPath,
) {
    for (name, sum) in of_containers(spec, |it| &it.limits) {
        let own = resources.limits.get(&name).filter(|&own| sum > *own);
        if let Some(own) = own.filter(|_| is_huge_pages(&name)) {
            let path = path.child("limits").key(&name);
            let detail =
                format!("must be greater than or equal to aggregate container limits of {sum}");
            errors.push(FieldError::invalid(&path, own.text(), detail));
        }
    }
}

/// Checks that no container limit exceeds the Pod limit. The path is upstream's.
fn covers_limits(
    errors: &mut Errors,
    spec: &PodSpec,
    resources: &ResourceRequirements,
    path: &FieldPath,
) {
    for (index, container) in spec.containers.iter().enumerate() {
        for (name, limit) in &container.resources.limits {
            if let Some(own) = resources.limits.get(name).filter(|&own| limit > own) {
                let path = path.child("containers").index(index).key(name);
                let detail = format!("must be less than or equal to pod limits of {own}");
                let path = path.child("limits");
                errors.push(FieldError::invalid(&path, limit.text(), detail));
            }
        }
    }
}

/// Fills in pod-level requests and limits from those of the containers, if the Pod has pod-level
/// resources.
pub(crate) fn fill_in(spec: &mut PodSpec) {
    let Some(own) = spec.resources.as_deref() else {
        return;
    };
    let (mut limits, mut requests) = (own.limits.clone(), own.requests.clone());
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    for (name, sum) in of_containers(spec, |it| &it.limits) {
        if is_huge_pages(&name) && !requests.contains_key(&name) {
            limits.entry(name).or_insert(sum);
        }
    }
    if !limits.is_empty() {
        for (name, sum) in of_containers(spec, |it| &it.requests) {
            if is_of_pods(&name) && !is_exact(&name) {
                requests.entry(name).or_insert(sum);
            }
        }
        for (name, limit) in &limits {
            if is_of_pods(name) && !requests.contains_key(name) {
                requests.insert(name.clone(), limit.clone());
            }
        }
    }
    if let Some(own) = spec.resources.as_deref_mut() {
        own.limits = limits;
        own.requests = requests;
    }
}

/// Returns the peak need of the containers: either regular containers and sidecars, which run
/// together, or an init container with the sidecars started earlier.
fn of_containers(spec: &PodSpec, of: impl Fn(&ResourceRequirements) -> &Amounts) -> Amounts {
    let mut together = Amounts::new();
    for container in &spec.containers {
        add(&mut together, of(&container.resources));
    }
    let (mut sidecars, mut initial) = (Amounts::new(), Amounts::new());
    for container in &spec.init_containers {
        let own = of(&container.resources);
        let mut now = sidecars.clone();
        add(&mut now, own);
        if is_sidecar(container) {
            add(&mut together, own);
            sidecars.clone_from(&now);
        }
        raise(&mut initial, now);
    }
    raise(&mut together, initial);
    together
}

fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        match sums.get_mut(name) {
            Some(sum) => *sum += amount,
            None => drop(sums.insert(name.clone(), amount.clone())),
        }
    }
}

fn raise(most: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        match most.get_mut(&name) {
            Some(most) if *most >= amount => {}
            _ => drop(most.insert(name, amount)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::Container;

    fn amounts(list: &[(&str, &str)]) -> Amounts {
        let parsed = list
            .iter()
            .map(|(name, amount)| (Str::from(*name), amount.parse().unwrap()));
        parsed.collect()
    }

    fn container(requests: &[(&str, &str)], policy: Option<&str>) -> Container {
        Container {
            resources: ResourceRequirements {
                requests: amounts(requests),
                ..ResourceRequirements::default()
            },
            restart_policy: policy.map(Str::from),
            ..Container::default()
        }
    }

    #[test]
    fn initial_containers_count_with_the_sidecars_before_them() {
        let mut spec = PodSpec {
            containers: vec![container(&[("cpu", "1")], None)],
            init_containers: vec![
                container(&[("cpu", "1"), ("memory", "1Gi")], None),
                container(&[("cpu", "500m")], Some("Always")),
                container(&[("cpu", "3")], None),
            ],
            ..PodSpec::default()
        };
        let sum = of_containers(&spec, |it| &it.requests);
        assert_eq!(sum, amounts(&[("cpu", "3500m"), ("memory", "1Gi")]));
        spec.init_containers.pop();
        let sum = of_containers(&spec, |it| &it.requests);
        assert_eq!(sum, amounts(&[("cpu", "1500m"), ("memory", "1Gi")]));
    }

    #[test]
    fn a_pod_requests_what_its_containers_do_or_else_its_limit() {
        let mut spec = PodSpec {
            containers: vec![container(&[("cpu", "1"), ("example.com/gpu", "1")], None)],
            ..PodSpec::default()
        };
        fill_in(&mut spec);
        assert_eq!(spec.resources, None);
        spec.resources = Some(Box::new(ResourceRequirements {
            limits: amounts(&[("cpu", "2"), ("memory", "1Gi")]),
            ..ResourceRequirements::default()
        }));
        fill_in(&mut spec);
        let requests = spec.resources.unwrap().requests;
        assert_eq!(requests, amounts(&[("cpu", "1"), ("memory", "1Gi")]));
    }
}
