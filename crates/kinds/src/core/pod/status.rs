//! Preparation (as upstream) and validation of the status of a Pod.

use crate::core::pod::{claim_status, container_status};
use crate::pod_spec;
use crate::shared::rules::{self, Errors};
use crate::shared::{self, go_struct};
use kubist_api::core::v1::{Pod, PodCondition, PodStatus, VolumeMountStatus};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Keeps stored values that clients omit, and drops fields of gates that are off by default unless
/// the stored status already uses them.
pub(crate) fn prepare(new: &mut Pod, old: &Pod) {
    new.metadata.deletion_timestamp = old.metadata.deletion_timestamp;
    let (status, before) = (&mut new.status, &old.status);
    // Older nodes omit the class.
    if status.qos_class.is_empty() {
        status.qos_class = before.qos_class.clone();
    }
    if status.observed_generation == 0 {
        status.observed_generation = before.observed_generation;
    }
    keep_generations(&mut status.conditions, &before.conditions);
    // ImageVolumeWithDigest.
    if !mounts(before).any(|it| it.volume_status.is_some()) {
        mounts_mut(status).for_each(|it| it.volume_status = None);
    }
    // DRANodeAllocatableResources.
    if before.node_allocatable_resource_claim_statuses.is_empty() {
        status.node_allocatable_resource_claim_statuses.clear();
    }
}

/// Restores omitted generations of conditions. Several conditions of one type are matched in order.
fn keep_generations(conditions: &mut [PodCondition], before: &[PodCondition]) {
    let mut kept: BTreeMap<&Str, VecDeque<i64>> = BTreeMap::new();
    for condition in before {
        let generations = kept.entry(&condition.type_).or_default();
        generations.push_back(condition.observed_generation);
    }
    for condition in conditions {
        let generations = kept.get_mut(&condition.type_);
        let generation = generations.and_then(VecDeque::pop_front);
        if condition.observed_generation == 0 {
            condition.observed_generation = generation.unwrap_or_default();
        }
    }
}

fn mounts(status: &PodStatus) -> impl Iterator<Item = &VolumeMountStatus> {
    let lists = [
        &status.init_container_statuses,
        &status.container_statuses,
        &status.ephemeral_container_statuses,
    ];
    lists.into_iter().flatten().flat_map(|it| &it.volume_mounts)
}

fn mounts_mut(status: &mut PodStatus) -> impl Iterator<Item = &mut VolumeMountStatus> {
    let lists = [
        &mut status.init_container_statuses,
        &mut status.container_statuses,
        &mut status.ephemeral_container_statuses,
    ];
    lists
        .into_iter()
        .flatten()
        .flat_map(|it| &mut it.volume_mounts)
}

/// Checks a change of the status, which may also change annotations.
pub(crate) fn check(new: &Pod, old: &Pod) -> Errors {
    let mut errors = Errors::new();
    let annotations = FieldPath::new("metadata").child("annotations");
    pod_spec::annotations::check_update(&mut errors, new, old, &annotations);
    let path = FieldPath::new("status");
    let status = &new.status;
    let at = path.child("conditions");
    for (index, condition) in status.conditions.iter().enumerate() {
        check_condition(&mut errors, condition, &at.index(index));
    }
    check_nomination(&mut errors, new, old, &path.child("nominatedNodeName"));
    let at = path.child("observedGeneration");
    check_generation(&mut errors, status.observed_generation, &at);
    let (class, before) = (&status.qos_class, &old.status.qos_class);
    let at = path.child("qosClass");
    rules::immutable_value(&mut errors, class, before, &at, BadValue::json);
    container_status::check_terminated(&mut errors, new, old, &path);
    claim_status::check(&mut errors, new, &path);
    check_pod_addresses(&mut errors, status, &old.status, &path.child("podIPs"));
    check_host_addresses(&mut errors, status, &old.status, &path.child("hostIPs"));
    container_status::check(&mut errors, new, &path);
    errors
}

/// Upstream's path of the type is the Go field name.
fn check_condition(errors: &mut Errors, condition: &PodCondition, path: &FieldPath) {
    let at = path.child("observedGeneration");
    check_generation(errors, condition.observed_generation, &at);
    let kind = condition.type_.as_str();
    if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
        let rule = validate_name::qualified_name;
        rules::text(errors, kind, &path.child("Type"), rule);
    }
}

fn check_generation(errors: &mut Errors, generation: i64, path: &FieldPath) {
    if generation < 0 {
        let detail = "must be a non-negative integer";
        errors.push(FieldError::invalid(path, generation, detail));
    }
}

/// Checks the nominated node, which is set only while the Pod is not bound to a node.
fn check_nomination(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let name = &new.status.nominated_node_name;
    if *name == old.status.nominated_node_name || name.is_empty() {
        return;
    }
    rules::text(errors, name, path, validate_name::dns1123_subdomain);
    if !old.spec.node_name.is_empty() {
        let detail = "may not be set on pods that are already bound to a node";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn check_pod_addresses(errors: &mut Errors, now: &PodStatus, was: &PodStatus, path: &FieldPath) {
    let texts: Vec<&Str> = now.pod_ips.iter().map(|it| &it.ip).collect();
    let kept = shared::addresses::kept(was.pod_ips.iter().map(|it| &it.ip));
    let shown = || go_struct::shown_list(&now.pod_ips);
    check_addresses(errors, &texts, &kept, shown, path);
}

fn check_host_addresses(errors: &mut Errors, now: &PodStatus, was: &PodStatus, path: &FieldPath) {
    let texts: Vec<&Str> = now.host_ips.iter().map(|it| &it.ip).collect();
    let Some(&first) = texts.first() else {
        return;
    };
    if *first != now.host_ip {
        let path = path.index(0).child("ip");
        let detail = "must be equal to `hostIP`";
        errors.push(FieldError::invalid(&path, first, detail));
    }
    let kept = shared::addresses::kept(was.host_ips.iter().map(|it| &it.ip));
    let shown = || go_struct::shown_list(&now.host_ips);
    check_addresses(errors, &texts, &kept, shown, path);
}

/// Checks for at most one address of each IP family. Stored addresses may stay in any notation.
fn check_addresses(
    errors: &mut Errors,
    texts: &[&Str],
    kept: &shared::addresses::Kept<'_>,
    shown: impl FnOnce() -> BadValue,
    path: &FieldPath,
) {
    for (index, text) in texts.iter().enumerate() {
        shared::addresses::ip_unless_kept(errors, text, kept, &path.index(index));
    }
    if texts.len() < 2 {
        return;
    }
    let mut families = BTreeSet::new();
    for (index, text) in texts.iter().enumerate() {
        if let Some(address) = shared::addresses::parse_ip(text) {
            families.insert(address.is_ipv6());
            continue;
        }
        let detail =
            format!("failed to check for dual stack with error:invalid IP[{index}]: {text}");
        errors.push(FieldError::internal(path, detail));
        families.clear();
        break;
    }
    if families.len() != 2 || texts.len() > 2 {
        let detail = "may specify no more than one IP for each IP family";
        errors.push(FieldError::invalid(path, shown(), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{HostIP, PodIP};

    fn problems(new: &Pod, old: &Pod) -> Vec<String> {
        check(new, old).iter().map(ToString::to_string).collect()
    }

    fn with_addresses(addresses: &[&str]) -> Pod {
        let mut pod = Pod::default();
        let address = |it: &&str| PodIP { ip: (*it).into() };
        pod.status.pod_ips = addresses.iter().map(address).collect();
        pod
    }

    #[test]
    fn a_pod_has_one_address_of_each_family() {
        let old = Pod::default();
        let of = |addresses: &[&str]| problems(&with_addresses(addresses), &old);
        assert_eq!(of(&["10.1.2.3", "fd00::1"]), [""; 0]);
        assert_eq!(
            of(&["10.1.2.3", "10.1.2.4"]),
            [
                "status.podIPs: Invalid value: [{\"IP\":\"10.1.2.3\"},{\"IP\":\"10.1.2.4\"}]: may \
              specify no more than one IP for each IP family"
            ]
        );
        assert_eq!(
            of(&["x"]),
            [
                "status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 \
              or 2001:db8::ffff)"
            ]
        );
        let found = of(&["10.1.2.3", "x"]);
        assert_eq!(
            found[1],
            "status.podIPs: Internal error: failed to check for dual stack with error:invalid \
             IP[1]: x"
        );
        assert!(found[2].ends_with("no more than one IP for each IP family"));
        assert_eq!(found.len(), 3, "{found:?}");
        let stored = with_addresses(&["010.1.2.3"]);
        assert_eq!(problems(&stored, &stored), [""; 0]);
    }

    #[test]
    fn the_address_of_a_host_is_the_first_of_its_addresses() {
        let mut new = Pod::default();
        new.status.host_ips.push(HostIP {
            ip: "1.2.3.4".into(),
        });
        assert_eq!(
            problems(&new, &Pod::default()),
            ["status.hostIPs[0].ip: Invalid value: \"1.2.3.4\": must be equal to `hostIP`"]
        );
        new.status.host_ip = "1.2.3.4".into();
        assert_eq!(problems(&new, &Pod::default()), [""; 0]);
    }

    #[test]
    fn what_servers_and_schedulers_decide_stays() {
        let mut old = Pod::default();
        old.status.qos_class = "Burstable".into();
        old.spec.node_name = "n".into();
        let mut new = old.clone();
        new.status.qos_class = "Odd".into();
        new.status.observed_generation = -1;
        new.status.nominated_node_name = "m".into();
        assert_eq!(
            problems(&new, &old),
            [
                "status.nominatedNodeName: Forbidden: may not be set on pods that are already \
                 bound to a node",
                "status.observedGeneration: Invalid value: -1: must be a non-negative integer",
                "status.qosClass: Invalid value: \"Odd\": field is immutable",
            ]
        );
    }

    #[test]
    fn conditions_have_qualified_names() {
        let mut new = Pod::default();
        for (kind, generation) in [("Ready", -1), ("example.com/Fine", 0), ("a b", 0)] {
            new.status.conditions.push(PodCondition {
                type_: kind.into(),
                observed_generation: generation,
                ..PodCondition::default()
            });
        }
        let found = problems(&new, &Pod::default());
        assert_eq!(
            found[0],
            "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative \
             integer"
        );
        let expected = "status.conditions[2].Type: Invalid value: \"a b\": name part must consist";
        assert!(found[1].starts_with(expected), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn what_clients_leave_out_stays() {
        let condition = |generation| PodCondition {
            type_: "Ready".into(),
            observed_generation: generation,
            ..PodCondition::default()
        };
        let mut old = Pod::default();
        old.status.qos_class = "Burstable".into();
        old.status.observed_generation = 3;
        old.status.conditions = vec![condition(1), condition(2)];
        let mut new = Pod::default();
        new.status.conditions = vec![condition(0), condition(0), condition(0)];
        let claims = &mut new.status.node_allocatable_resource_claim_statuses;
        claims.push(Default::default());
        prepare(&mut new, &old);
        assert_eq!(new.status.qos_class, "Burstable");
        assert_eq!(new.status.observed_generation, 3);
        let kept = [condition(1), condition(2), condition(0)];
        assert_eq!(new.status.conditions, kept);
        let claims = &new.status.node_allocatable_resource_claim_statuses;
        assert!(claims.is_empty(), "it is behind a gate");
    }
}
