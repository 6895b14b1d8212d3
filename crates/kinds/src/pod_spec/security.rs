//! Validation of the security contexts of Pods and containers.

use crate::pod_spec::subject::PodSubject;
use crate::pod_spec::{self, sysctls};
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSecurityContext, PodSpec, SecurityContext};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// User and group ids have at most 31 bits.
const ID_MAX: i64 = 0x7fff_ffff;

/// Checks the security context of a Pod.
pub(crate) fn check_pod(
    errors: &mut Errors,
    spec: &PodSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let Some(context) = &spec.security_context else {
        return;
    };
    for (name, id) in [
        ("fsGroup", context.fs_group),
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
    ] {
        check_id(errors, id, &path.child(name));
    }
    let groups = path.child("supplementalGroups");
    for (index, id) in context.supplemental_groups.iter().enumerate() {
        check_id(errors, Some(*id), &groups.index(index));
    }
    if spec.share_process_namespace == Some(true) && spec.host_pid {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        let path = path.child("shareProcessNamespace");
        errors.push(FieldError::invalid(&path, true, detail));
    }
    sysctls::check(errors, spec, context, subject, &path.child("sysctls"));
    if let Some(policy) = &context.fs_group_change_policy {
        let supported = ["Always", "OnRootMismatch"];
        let path = path.child("fsGroupChangePolicy");
        rules::one_of(errors, policy, &supported, &path);
    }
    let profile = context.seccomp_profile.as_deref();
    pod_spec::profiles::check_seccomp(errors, profile, &path.child("seccompProfile"));
    let windows = context.windows_options.as_deref();
    pod_spec::windows::check_options(errors, windows, &path.child("windowsOptions"));
    let profile = context.app_armor_profile.as_deref();
    pod_spec::profiles::check_app_armor(errors, profile, &path.child("appArmorProfile"));
    if let Some(policy) = &context.supplemental_groups_policy {
        let path = path.child("supplementalGroupsPolicy");
        rules::one_of(errors, policy, &["Merge", "Strict"], &path);
    }
    check_labelling(errors, context, subject, &path.child("seLinuxChangePolicy"));
}

/// Checks the SELinux change policy. One of its values belongs to an upstream gate that is off by
/// default.
fn check_labelling(
    errors: &mut Errors,
    context: &PodSecurityContext,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let policy_of = |spec: &PodSpec| {
        let context = spec.security_context.as_deref();
        context.is_some_and(|it| it.se_linux_change_policy.is_some())
    };
    let supported: &[&str] = if subject.already(policy_of) {
        &["MountOption", "Recursive"]
    } else {
        &["Recursive"]
    };
    if let Some(policy) = &context.se_linux_change_policy {
        rules::one_of(errors, policy, supported, path);
    }
}

/// Checks the security context of a container.
pub(crate) fn check_container(
    errors: &mut Errors,
    context: &SecurityContext,
    spec: &PodSpec,
    path: &FieldPath,
) {
    // Privileged containers are allowed. Upstream's flag for that is off by default, but all
    // cluster installers turn it on.
    for (name, id) in [
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
    ] {
        check_id(errors, id, &path.child(name));
    }
    if let Some(mount) = &context.proc_mount {
        let path = path.child("procMount");
        rules::one_of(errors, mount, &["Default", "Unmasked"], &path);
        if mount == "Unmasked" && spec.host_users != Some(false) {
            let detail = "`hostUsers` must be false to use `Unmasked`";
            errors.push(FieldError::invalid(&path, mount, detail));
        }
    }
    let profile = context.seccomp_profile.as_deref();
    pod_spec::profiles::check_seccomp(errors, profile, &path.child("seccompProfile"));
    check_privilege_escalation(errors, context, path);
    let windows = context.windows_options.as_deref();
    pod_spec::windows::check_options(errors, windows, &path.child("windowsOptions"));
    let profile = context.app_armor_profile.as_deref();
    pod_spec::profiles::check_app_armor(errors, profile, &path.child("appArmorProfile"));
}

/// Checks that a container which forbids privilege escalation is not privileged and does not add
/// CAP_SYS_ADMIN.
fn check_privilege_escalation(errors: &mut Errors, context: &SecurityContext, path: &FieldPath) {
    if context.allow_privilege_escalation != Some(false) {
        return;
    }
    let shown = || go_struct::shown(context);
    if context.privileged == Some(true) {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(FieldError::invalid(path, shown(), detail));
    }
    let added = context.capabilities.iter().flat_map(|it| &it.add);
    for _ in added.filter(|&it| it == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` \
                      CAP_SYS_ADMIN";
        errors.push(FieldError::invalid(path, shown(), detail));
    }
}

/// Checks a user or group id.
pub(crate) fn check_id(errors: &mut Errors, id: Option<i64>, path: &FieldPath) {
    if let Some(id) = id {
        let problems = validate_name::in_range(id, 0, ID_MAX);
        let wrong = |it| FieldError::invalid(path, id, it);
        errors.extend(problems.into_iter().map(wrong));
    }
}
