//! Validation of the container statuses of a Pod.

use crate::pod_spec::security::check_id;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{
    Container, ContainerRestartRule, ContainerStatus, LinuxContainerUser, Pod, PodSpec,
    ResourceClaim, ResourceHealth,
};
use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::collections::{BTreeMap, BTreeSet};

/// The health states of a device.
const HEALTH: [&str; 3] = ["Healthy", "Unhealthy", "Unknown"];
/// The maximum length of a device health message, in bytes.
const MESSAGE_BYTES_MAX: usize = 1_024;
const NO_CLAIM: &str = "must match one of the container's resource claims in a format \
                        'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const NO_REQUEST: &str = "must match one of the container's resource requests";

/// Checks that a terminated container that is not restarted stays terminated. Paths refer to the
/// stored statuses, as upstream's.
pub(crate) fn check_terminated(errors: &mut Errors, new: &Pod, old: &Pod, path: &FieldPath) {
    let (spec, now, before) = (&old.spec, &new.status, &old.status);
    let all = spec.init_containers.iter().chain(&spec.containers);
    let mut after_end = all.flat_map(|it| &it.restart_policy_rules);
    // A container that restarts all containers may restart any of them.
    if !after_end.any(|it| it.action == "RestartAllContainers") {
        for (field, now, before, containers) in [
            (
                "containerStatuses",
                &now.container_statuses,
                &before.container_statuses,
                &spec.containers,
            ),
            (
                "initContainerStatuses",
                &now.init_container_statuses,
                &before.init_container_statuses,
                &spec.init_containers,
            ),
        ] {
            let containers = by_name(containers);
            let again = |name: &Str, code: i32| {
                let container = containers.get(name);
                container.is_some_and(|it| is_restarted(it, spec, code))
            };
            check_terminated_list(errors, now, before, again, &path.child(field));
        }
    }
    let (now, before) = (
        &now.ephemeral_container_statuses,
        &before.ephemeral_container_statuses,
    );
    let path = path.child("ephemeralContainerStatuses");
    check_terminated_list(errors, now, before, |_, _| false, &path);
}

fn check_terminated_list(
    errors: &mut Errors,
    now: &[ContainerStatus],
    before: &[ContainerStatus],
    is_restarted: impl Fn(&Str, i32) -> bool,
    path: &FieldPath,
) {
    let not_ended = now.iter().filter(|it| it.state.terminated.is_none());
    let not_ended: BTreeSet<&Str> = not_ended.map(|it| &it.name).collect();
    for (index, old) in before.iter().enumerate() {
        if let Some(ended) = &old.state.terminated
            && not_ended.contains(&old.name)
            && !is_restarted(&old.name, ended.exit_code)
        {
            let path = path.index(index).child("state");
            let detail = "may not be transitioned to non-terminated state";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}

/// Maps each name to the first container with it.
fn by_name(containers: &[Container]) -> BTreeMap<&Str, &Container> {
    let last_first = containers.iter().rev();
    last_first.map(|it| (&it.name, it)).collect()
}

/// Reports whether a container that exited with this code is restarted, according to its restart
/// rules, its restart policy, or the Pod's restart policy.
fn is_restarted(container: &Container, spec: &PodSpec, code: i32) -> bool {
    let own = container.restart_policy.as_deref();
    if own.is_some() {
        let mut rules = container.restart_policy_rules.iter();
        let rule = rules.find(|it| is_for(it, code));
        if rule.is_some_and(|it| matches!(it.action.as_str(), "Restart" | "RestartAllContainers")) {
            return true;
        }
    }
    let decided = own.and_then(|it| by_policy(it, code));
    let of_pod = || by_policy(&spec.restart_policy, code);
    decided.or_else(of_pod).unwrap_or(true)
}

fn by_policy(policy: &str, code: i32) -> Option<bool> {
    match policy {
        "Always" => Some(true),
        "OnFailure" => Some(code != 0),
        "Never" => Some(false),
        _ => None,
    }
}

fn is_for(rule: &ContainerRestartRule, code: i32) -> bool {
    rule.exit_codes
        .as_deref()
        .is_some_and(|it| match it.operator.as_str() {
            "In" => it.values.contains(&code),
            "NotIn" => !it.values.contains(&code),
            _ => false,
        })
}

/// Checks the container users and the allocated devices.
pub(crate) fn check(errors: &mut Errors, pod: &Pod, path: &FieldPath) {
    let (status, spec) = (&pod.status, &pod.spec);
    let os = spec.os.as_deref().map_or("linux", |it| it.name.as_str());
    for (field, statuses) in [
        ("containerStatuses", &status.container_statuses),
        ("initContainerStatuses", &status.init_container_statuses),
        (
            "ephemeralContainerStatuses",
            &status.ephemeral_container_statuses,
        ),
    ] {
        let path = path.child(field);
        for (index, status) in statuses.iter().enumerate() {
            let user = status.user.as_deref();
            if let Some(user) = user.and_then(|it| it.linux.as_deref()) {
                let path = path.index(index).child("user").child("linux");
                check_user(errors, user, os, &path);
            }
        }
    }
    for (field, statuses, containers) in [
        (
            "containerStatuses",
            &status.container_statuses,
            &spec.containers,
        ),
        (
            "initContainerStatuses",
            &status.init_container_statuses,
            &spec.init_containers,
        ),
    ] {
        check_allocated(errors, statuses, containers, &path.child(field));
    }
    let path = path.child("ephemeralContainerStatuses");
    for (index, status) in status.ephemeral_container_statuses.iter().enumerate() {
        if !status.allocated_resources_status.is_empty() {
            let path = path.index(index).child("allocatedResourcesStatus");
            let detail = "must not be specified in container status";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}

fn check_user(errors: &mut Errors, user: &LinuxContainerUser, os: &str, path: &FieldPath) {
    match os {
        "linux" => {
            check_id(errors, Some(user.uid), &path.child("uid"));
            check_id(errors, Some(user.gid), &path.child("gid"));
            let path = path.child("supplementalGroups");
            for (index, group) in user.supplemental_groups.iter().enumerate() {
                check_id(errors, Some(*group), &path.index(index));
            }
        }
        "windows" => {
            let detail = "cannot be set for a windows pod";
            errors.push(FieldError::forbidden(path, detail));
        }
        _ => {}
    }
}

/// Checks that allocated resources were requested. Statuses of unknown containers are accepted.
fn check_allocated(
    errors: &mut Errors,
    statuses: &[ContainerStatus],
    containers: &[Container],
    path: &FieldPath,
) {
    let containers = by_name(containers);
    let mut claims: BTreeSet<(&Str, Str)> = BTreeSet::new();
    for (name, container) in &containers {
        for claim in &container.resources.claims {
            claims.insert((*name, as_resource(claim)));
        }
    }
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index).child("allocatedResourcesStatus");
        let container = containers.get(&status.name);
        for (index, allocated) in status.allocated_resources_status.iter().enumerate() {
            let path = path.index(index);
            if let Some(container) = container {
                let (requested, detail) = if allocated.name.starts_with("claim:") {
                    let key = (&status.name, allocated.name.clone());
                    (claims.contains(&key), NO_CLAIM)
                } else {
                    let requests = &container.resources.requests;
                    (requests.contains_key(&allocated.name), NO_REQUEST)
                };
                if !requested {
                    let path = path.child("name");
                    errors.push(FieldError::invalid(&path, &allocated.name, detail));
                }
            }
            check_devices(errors, &allocated.resources, &path.child("resources"));
        }
    }
}

/// Returns a claim as statuses name it.
fn as_resource(claim: &ResourceClaim) -> Str {
    if claim.request.is_empty() {
        format!("claim:{}", claim.name).into()
    } else {
        format!("claim:{}/{}", claim.name, claim.request).into()
    }
}

fn check_devices(errors: &mut Errors, devices: &[ResourceHealth], path: &FieldPath) {
    let repeated = rules::repeats(devices.iter().map(|it| &it.resource_id));
    for (index, device) in devices.iter().enumerate() {
        let path = path.index(index);
        rules::one_of(errors, &device.health, &HEALTH, &path.child("health"));
        if let Some(message) = &device.message {
            let path = path.child("message");
            if message.is_empty() {
                let detail = "must be non-empty if specified";
                errors.push(FieldError::required(&path, detail));
            } else if message.len() > MESSAGE_BYTES_MAX {
                errors.push(FieldError::too_long(&path, MESSAGE_BYTES_MAX));
            }
        }
        if repeated[index] {
            let path = path.child("resourceID");
            errors.push(FieldError::duplicate(&path, &device.resource_id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{ContainerRestartRuleOnExitCodes, ContainerUser, ResourceStatus};

    fn status(name: &str, ended: Option<i32>) -> ContainerStatus {
        let mut status = ContainerStatus {
            name: name.into(),
            ..ContainerStatus::default()
        };
        if let Some(code) = ended {
            status.state.terminated.get_or_insert_default().exit_code = code;
        }
        status
    }

    fn container(name: &str, policy: Option<&str>) -> Container {
        Container {
            name: name.into(),
            restart_policy: policy.map(Into::into),
            ..Container::default()
        }
    }

    /// Returns the errors if all containers that exited with these codes run again.
    fn after(spec: PodSpec, ended: &[(&str, i32)]) -> Vec<String> {
        let mut old = Pod {
            spec,
            ..Pod::default()
        };
        let mut new = old.clone();
        for (name, code) in ended {
            old.status
                .container_statuses
                .push(status(name, Some(*code)));
            new.status.container_statuses.push(status(name, None));
        }
        let mut errors = Errors::new();
        check_terminated(&mut errors, &new, &old, &FieldPath::new("status"));
        errors.iter().map(ToString::to_string).collect()
    }

    fn refused(index: usize) -> String {
        format!(
            "status.containerStatuses[{index}].state: Forbidden: may not be transitioned to \
             non-terminated state"
        )
    }

    #[test]
    fn a_container_that_ended_stays_ended_unless_it_is_restarted() {
        let spec = |policy: &str| PodSpec {
            restart_policy: policy.into(),
            containers: vec![container("a", None), container("b", Some("OnFailure"))],
            ..PodSpec::default()
        };
        let ended = [("a", 1), ("b", 1), ("a", 0), ("b", 0), ("none", 1)];
        assert_eq!(after(spec("Always"), &ended), [refused(3), refused(4)]);
        let expected = [refused(2), refused(3), refused(4)];
        assert_eq!(after(spec("OnFailure"), &ended), expected);
        let expected = [refused(0), refused(2), refused(3), refused(4)];
        assert_eq!(after(spec("Never"), &ended), expected);
    }

    #[test]
    fn rules_restart_by_exit_codes() {
        let rule = |action: &str, operator: &str| ContainerRestartRule {
            action: action.into(),
            exit_codes: Some(Box::new(ContainerRestartRuleOnExitCodes {
                operator: operator.into(),
                values: vec![42],
            })),
        };
        let spec = |rule: ContainerRestartRule| PodSpec {
            restart_policy: "Never".into(),
            containers: vec![Container {
                restart_policy_rules: vec![rule],
                ..container("a", Some("Never"))
            }],
            ..PodSpec::default()
        };
        let ended = [("a", 42), ("a", 1)];
        assert_eq!(after(spec(rule("Restart", "In")), &ended), [refused(1)]);
        assert_eq!(after(spec(rule("Restart", "NotIn")), &ended), [refused(0)]);
        let all = spec(rule("RestartAllContainers", "In"));
        assert_eq!(after(all, &[("other", 1)]), [""; 0]);
    }

    #[test]
    fn users_and_devices_are_those_of_the_container() {
        let mut pod = Pod::default();
        let mut claiming = container("a", None);
        claiming.resources.claims.push(ResourceClaim {
            name: "gpu".into(),
            request: "one".into(),
        });
        pod.spec.containers.push(claiming);
        let resource = |name: &str| ResourceStatus {
            name: name.into(),
            resources: ["Healthy", "Odd"]
                .map(|health| ResourceHealth {
                    resource_id: "d".into(),
                    health: health.into(),
                    message: None,
                })
                .into(),
        };
        let mut reported = status("a", None);
        reported.allocated_resources_status = vec![resource("claim:gpu/one"), resource("cpu")];
        reported.user = Some(Box::new(ContainerUser {
            linux: Some(Box::new(LinuxContainerUser {
                uid: -1,
                ..LinuxContainerUser::default()
            })),
        }));
        pod.status.container_statuses.push(reported.clone());
        pod.status.ephemeral_container_statuses.push(reported);
        let mut errors = Errors::new();
        check(&mut errors, &pod, &FieldPath::new("status"));
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let at = "status.containerStatuses[0]";
        let range = "Invalid value: -1: must be between 0 and 2147483647, inclusive";
        let health = "Unsupported value: \"Odd\": supported values: \"Healthy\", \"Unhealthy\", \
                      \"Unknown\"";
        let field = format!("{at}.allocatedResourcesStatus");
        assert_eq!(
            found,
            [
                format!("{at}.user.linux.uid: {range}"),
                format!("status.ephemeralContainerStatuses[0].user.linux.uid: {range}"),
                format!("{field}[0].resources[1].health: {health}"),
                format!("{field}[0].resources[1].resourceID: Duplicate value: \"d\""),
                format!("{field}[1].name: Invalid value: \"cpu\": {NO_REQUEST}"),
                format!("{field}[1].resources[1].health: {health}"),
                format!("{field}[1].resources[1].resourceID: Duplicate value: \"d\""),
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must \
                 not be specified in container status"
                    .to_owned(),
            ]
        );
    }
}
