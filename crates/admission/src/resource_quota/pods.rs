//! How Pods count.

use super::scopes::Scope;
use crate::amounts::{Amounts, add};
use crate::pod_resources::{Counting, Side, has_own, of_pod};
use crate::quality_of_service::is_best_effort;
use kubist_api::core::v1::{Pod, PodAffinityTerm};
use kubist_apimachinery::{Quantity, Str, Time};
use std::collections::{BTreeMap, BTreeSet};

const COUNT: &str = "count/pods";
/// What a quota can limit of Pods, besides huge pages and extended resources.
const NAMES: [&str; 11] = [
    COUNT,
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];
/// What every container must specify once a quota limits it.
const REQUIRED: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];
/// The resources that also count by the name without `requests.`.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const HUGE_PAGES: &str = "hugepages-";
const REQUESTS: &str = "requests.";
/// The extended resources of device classes.
const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// Reports whether Pods count for a limited name.
pub(super) fn counts(limited: &str) -> bool {
    if NAMES.contains(&limited) || limited.starts_with(HUGE_PAGES) {
        return true;
    }
    let requested = limited.strip_prefix(REQUESTS);
    let extended = |name: &str| !is_native(limited) || name.starts_with(DEVICE_CLASS);
    requested.is_some_and(|it| it.starts_with(HUGE_PAGES) || extended(it))
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    let own = !is_native(name) && !name.starts_with(REQUESTS);
    own || name.starts_with(DEVICE_CLASS)
}

/// Reports whether a Pod ends by itself.
pub(super) fn is_terminating(pod: &Pod) -> bool {
    pod.spec.active_deadline_seconds.is_some_and(|it| it >= 0)
}

/// Reports whether a Pod is in a scope.
pub(super) fn is_in(scope: &Scope<'_>, pod: &Pod) -> bool {
    match scope.name {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(&pod.spec),
        "NotBestEffort" => !is_best_effort(&pod.spec),
        "PriorityClass" => {
            let class = pod.spec.priority_class_name.as_str();
            scope.matches(Some(class).filter(|it| !it.is_empty()))
        }
        "CrossNamespacePodAffinity" => crosses_namespaces(pod),
        _ => false,
    }
}

/// Reports whether the affinity of a Pod is to Pods of other namespaces.
fn crosses_namespaces(pod: &Pod) -> bool {
    let Some(affinity) = pod.spec.affinity.as_deref() else {
        return false;
    };
    let crosses =
        |it: &PodAffinityTerm| !it.namespaces.is_empty() || it.namespace_selector.is_some();
    let to = affinity.pod_affinity.as_deref();
    let from = affinity.pod_anti_affinity.as_deref();
    let required = [
        to.map(|it| &it.required_during_scheduling_ignored_during_execution),
        from.map(|it| &it.required_during_scheduling_ignored_during_execution),
    ];
    let preferred = [
        to.map(|it| &it.preferred_during_scheduling_ignored_during_execution),
        from.map(|it| &it.preferred_during_scheduling_ignored_during_execution),
    ];
    required.into_iter().flatten().flatten().any(crosses)
        || preferred
            .into_iter()
            .flatten()
            .flatten()
            .any(|it| crosses(&it.pod_affinity_term))
}

/// Returns what containers of a Pod do not specify although a quota of these names requires it.
pub(super) fn lacks(names: &BTreeSet<Str>, pod: &Pod) -> Option<String> {
    if has_own(pod) {
        return None;
    }
    let required = names.iter().filter(|it| REQUIRED.contains(&it.as_str()));
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in required {
        let containers = pod.spec.containers.iter();
        for container in containers.chain(&pod.spec.init_containers) {
            let resources = &container.resources;
            let specified = if let Some(resource) = name.strip_prefix("limits.") {
                resources.limits.contains_key(resource)
            } else {
                let resource = name.strip_prefix(REQUESTS).unwrap_or(name);
                resources.requests.contains_key(resource)
            };
            if !specified {
                let containers = missing.entry(name).or_default();
                containers.insert(&container.name);
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let texts = missing.iter().map(|(name, containers)| {
        let containers: Vec<&str> = containers.iter().copied().collect();
        format!("{name} for: {}", containers.join(","))
    });
    let texts: Vec<_> = texts.collect();
    Some(format!("must specify {}", texts.join("; ")))
}

/// Returns the usage of a Pod. One that has ended counts only as an object, and so does one that
/// its node has not removed in time.
pub(super) fn usage(pod: &Pod, now: Time) -> Amounts {
    let mut usage = Amounts::new();
    usage.insert(COUNT.into(), Quantity::from(1));
    if has_ended(pod, now) {
        return usage;
    }
    usage.insert("pods".into(), Quantity::from(1));
    let mut more = Amounts::new();
    for (name, amount) in of_pod(pod, Side::Requests, Counting::InUse) {
        let with_prefix = || Str::from(format!("{REQUESTS}{name}"));
        if COMPUTE.contains(&name.as_str()) || name.starts_with(HUGE_PAGES) {
            more.insert(with_prefix(), amount.clone());
            more.insert(name, amount);
        } else if is_extended(&name) {
            more.insert(with_prefix(), amount);
        }
    }
    for (name, amount) in of_pod(pod, Side::Limits, Counting::InUse) {
        if COMPUTE.contains(&name.as_str()) {
            more.insert(format!("limits.{name}").into(), amount);
        }
    }
    add(&mut usage, &more);
    usage
}

fn has_ended(pod: &Pod, now: Time) -> bool {
    if matches!(pod.status.phase.as_str(), "Failed" | "Succeeded") {
        return true;
    }
    let meta = &pod.metadata;
    let times = meta
        .deletion_timestamp
        .zip(meta.deletion_grace_period_seconds);
    times.is_some_and(|(deleted, grace)| now.unix() > deleted.unix().saturating_add(grace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::text;
    use kubist_api::core::v1::Container;

    fn pod(requests: &[(&str, &str)], limits: &[(&str, &str)]) -> Pod {
        let amounts = |pairs: &[(&str, &str)]| -> Amounts {
            let made = pairs.iter().map(|(name, amount)| {
                let amount = amount.parse().expect("it is a quantity");
                ((*name).into(), amount)
            });
            made.collect()
        };
        let mut container = Container {
            name: "c".into(),
            ..Container::default()
        };
        container.resources.requests = amounts(requests);
        container.resources.limits = amounts(limits);
        let mut pod = Pod::default();
        pod.spec.containers.push(container);
        pod
    }

    #[test]
    fn requests_count_twice_and_limits_once() {
        let pod = pod(
            &[
                ("cpu", "1"),
                ("hugepages-2Mi", "4Mi"),
                ("example.com/gpu", "2"),
            ],
            &[("cpu", "2"), ("hugepages-2Mi", "4Mi")],
        );
        let expected = "count/pods=1,cpu=1,hugepages-2Mi=4Mi,limits.cpu=2,pods=1,requests.cpu=1,\
            requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi";
        assert_eq!(text(&usage(&pod, Time::from_unix(0))), expected);
        for name in ["cpu", "requests.example.com/gpu", "hugepages-1Gi", "pods"] {
            assert!(counts(name), "{name}");
        }
        for name in ["requests.storage", "services", "example.com/gpu"] {
            assert!(!counts(name), "{name}");
        }
    }

    #[test]
    fn a_pod_that_has_ended_counts_as_an_object_only() {
        let mut pod = pod(&[("cpu", "1")], &[]);
        pod.metadata.deletion_timestamp = Some(Time::from_unix(100));
        pod.metadata.deletion_grace_period_seconds = Some(30);
        let names = |pod: &Pod, now| usage(pod, Time::from_unix(now)).len();
        assert_eq!(names(&pod, 130), 4);
        assert_eq!(names(&pod, 131), 1);
        pod.metadata.deletion_timestamp = None;
        pod.status.phase = "Succeeded".into();
        assert_eq!(names(&pod, 0), 1);
    }

    #[test]
    fn containers_specify_what_is_limited() {
        let names: BTreeSet<Str> = ["cpu", "limits.memory", "pods"].map(Str::from).into();
        let mut pod = pod(&[("cpu", "1")], &[]);
        let missing = "must specify limits.memory for: c";
        assert_eq!(lacks(&names, &pod).as_deref(), Some(missing));
        pod.spec.init_containers.push(Container {
            name: "a".into(),
            ..Container::default()
        });
        let missing = "must specify cpu for: a; limits.memory for: a,c";
        assert_eq!(lacks(&names, &pod).as_deref(), Some(missing));
    }

    #[test]
    fn pods_are_in_scopes() {
        let in_scope = |pod: &Pod, name: &str| {
            let spec = kubist_api::core::v1::ResourceQuotaSpec {
                scopes: vec![name.into()],
                ..Default::default()
            };
            Scope::of(&spec).all(|scope| is_in(&scope, pod))
        };
        let mut pod = pod(&[], &[]);
        assert!(in_scope(&pod, "BestEffort") && in_scope(&pod, "NotTerminating"));
        assert!(!in_scope(&pod, "PriorityClass"));
        pod.spec.active_deadline_seconds = Some(1);
        pod.spec.priority_class_name = "high".into();
        assert!(in_scope(&pod, "Terminating") && in_scope(&pod, "PriorityClass"));
        assert!(!in_scope(&pod, "CrossNamespacePodAffinity"));
        let term = PodAffinityTerm {
            namespaces: vec!["other".into()],
            ..PodAffinityTerm::default()
        };
        let affinity = pod.spec.affinity.get_or_insert_default();
        affinity
            .pod_anti_affinity
            .get_or_insert_default()
            .required_during_scheduling_ignored_during_execution
            .push(term);
        assert!(in_scope(&pod, "CrossNamespacePodAffinity"));
    }
}
