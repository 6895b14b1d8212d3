//! What security contexts must satisfy.

use kubist_api::core::v1::{PodSpec, SecurityContext};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

use super::go_struct;
use super::rules::Errors;

/// User and group ids fit into 31 bits.
const ID_MAX: i64 = 0x7fff_ffff;

/// Checks the context of a Pod.
pub(super) fn check_pod(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let Some(context) = &spec.security_context else {
        return;
    };
    let path = path.child("securityContext");
    if spec.share_process_namespace == Some(true) && spec.host_pid {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        let path = path.child("shareProcessNamespace");
        errors.push(FieldError::invalid(&path, true, detail));
    }
    for (name, id) in [
        ("fsGroup", context.fs_group),
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
    ] {
        check_id(errors, id, &path.child(name));
    }
    for (index, id) in context.supplemental_groups.iter().enumerate() {
        check_id(
            errors,
            Some(*id),
            &path.child("supplementalGroups").index(index),
        );
    }
    if let Some(policy) = &context.fs_group_change_policy {
        let supported = ["Always", "OnRootMismatch"];
        super::rules::one_of(
            errors,
            policy,
            &supported,
            &path.child("fsGroupChangePolicy"),
        );
    }
    if let Some(policy) = &context.supplemental_groups_policy {
        let path = path.child("supplementalGroupsPolicy");
        super::rules::one_of(errors, policy, &["Merge", "Strict"], &path);
    }
    if let Some(policy) = &context.se_linux_change_policy {
        // The other policy is behind a gate of upstream's that is off by default.
        let path = path.child("seLinuxChangePolicy");
        super::rules::one_of(errors, policy, &["Recursive"], &path);
    }
    if let Some(profile) = &context.seccomp_profile {
        check_seccomp(errors, &profile.type_, &path.child("seccompProfile"));
    }
}

/// Checks the context of a container.
pub(super) fn check_container(
    errors: &mut Errors,
    context: &SecurityContext,
    spec: &PodSpec,
    path: &FieldPath,
) {
    // Privileged containers are allowed, as every installer of clusters tells upstream's server
    // to do; its flag is off by default, which nobody runs with.
    for (name, id) in [
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
    ] {
        check_id(errors, id, &path.child(name));
    }
    if let Some(mount) = &context.proc_mount {
        let path = path.child("procMount");
        super::rules::one_of(errors, mount, &["Default", "Unmasked"], &path);
        if mount == "Unmasked" && spec.host_users != Some(false) {
            let detail = "`hostUsers` must be false to use `Unmasked`";
            errors.push(FieldError::invalid(&path, mount, detail));
        }
    }
    if let Some(profile) = &context.seccomp_profile {
        check_seccomp(errors, &profile.type_, &path.child("seccompProfile"));
    }
    if context.allow_privilege_escalation == Some(false) {
        let shown = || go_struct::shown(context);
        if context.privileged == Some(true) {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.push(FieldError::invalid(path, shown(), detail));
        }
        let added = context.capabilities.iter().flat_map(|it| &it.add);
        if added.clone().any(|it| it == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.push(FieldError::invalid(path, shown(), detail));
        }
    }
}

fn check_seccomp(errors: &mut Errors, kind: &str, path: &FieldPath) {
    let path = path.child("type");
    match kind {
        "" => errors.push(FieldError::required(
            &path,
            "type is required when seccompProfile is set",
        )),
        kind => {
            let supported = ["Localhost", "RuntimeDefault", "Unconfined"];
            super::rules::one_of(errors, kind, &supported, &path);
        }
    }
}

fn check_id(errors: &mut Errors, id: Option<i64>, path: &FieldPath) {
    if let Some(id) = id {
        let problems = validate_name::in_range(id, 0, ID_MAX);
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(path, id, it)),
        );
    }
}
