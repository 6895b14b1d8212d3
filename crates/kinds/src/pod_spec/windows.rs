//! Validation of fields that are specific to Windows or to Linux.

use crate::pod_spec::any_container;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Container, PodSpec, SecurityContext, WindowsSecurityContextOptions};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The maximum length of a credential spec: 64 KiB.
const CREDENTIAL_LENGTH_MAX: usize = 64 * 1024;
/// The exclusive maximum length of a domain, in bytes.
const DOMAIN_LENGTH: usize = 256;
/// The maximum length of a user name, in bytes.
const USER_LENGTH_MAX: usize = 104;
/// Characters that a NetBIOS domain name must not contain.
const NOT_IN_NETBIOS: &str = "\\/:*?\"<>|";
/// Characters that a user name must not contain.
const NOT_IN_USER: &str = "\"/\\:;|=,+*?<>@[]";

/// Checks the Windows options of a security context.
pub(crate) fn check_options(
    errors: &mut Errors,
    options: Option<&WindowsSecurityContextOptions>,
    path: &FieldPath,
) {
    let Some(options) = options else {
        return;
    };
    if let Some(name) = &options.gmsa_credential_spec_name {
        let path = path.child("gmsaCredentialSpecName");
        rules::text(errors, name, &path, validate_name::dns1123_subdomain);
    }
    if let Some(spec) = &options.gmsa_credential_spec {
        let path = path.child("gmsaCredentialSpec");
        if spec.is_empty() {
            let detail = "gmsaCredentialSpec cannot be an empty string";
            errors.push(FieldError::invalid(&path, spec, detail));
        } else if spec.len() > CREDENTIAL_LENGTH_MAX {
            let detail = "gmsaCredentialSpec size must be under 64 KiB";
            errors.push(FieldError::invalid(&path, spec, detail));
        }
    }
    if let Some(name) = &options.run_as_user_name {
        rules::text(errors, name, &path.child("runAsUserName"), user_problems);
    }
}

/// Returns the problems of `user` or `domain\user`.
fn user_problems(name: &str) -> Vec<String> {
    let one = |detail: &str| vec![format!("runAsUserName {detail}")];
    if name.is_empty() {
        return one("cannot be an empty string");
    }
    if name.bytes().any(|it| it.is_ascii_control()) {
        return one("cannot contain control characters");
    }
    let (domain, user) = match name.split_once('\\') {
        Some((_, user)) if user.contains('\\') => {
            return one("cannot contain more than one backslash");
        }
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let mut problems = Vec::new();
    let mut add = |detail: String| problems.push(format!("runAsUserName's {detail}"));
    if let Some(domain) = domain {
        if domain.len() >= DOMAIN_LENGTH {
            add(format!(
                "Domain length must be under {DOMAIN_LENGTH} characters"
            ));
        }
        if !is_netbios(domain) && !is_dns(domain) {
            add("Domain doesn't match the NetBios nor the DNS format".to_owned());
        }
    }
    if user.is_empty() {
        add("User cannot be empty".to_owned());
    } else if user.len() > USER_LENGTH_MAX {
        add(format!(
            "User length must not be longer than {USER_LENGTH_MAX} characters"
        ));
    }
    if !user.is_empty() && user.bytes().all(|it| b". ".contains(&it)) {
        add("User cannot contain only periods or spaces".to_owned());
    }
    if user.contains(|it| NOT_IN_USER.contains(it)) {
        let detail = "User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";
        add(detail.to_owned());
    }
    problems
}

fn is_netbios(domain: &str) -> bool {
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(|it| NOT_IN_NETBIOS.contains(it))
}

fn is_dns(domain: &str) -> bool {
    let label = |part: &str| {
        let bytes = part.as_bytes();
        let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        bytes.len() <= 63
            && end(bytes.first())
            && end(bytes.last())
            && bytes
                .iter()
                .all(|&it| it.is_ascii_alphanumeric() || it == b'-')
    };
    domain.split('.').all(label)
}

/// Checks that either all containers of a Pod are host processes, or none.
pub(crate) fn check_host_processes(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let context = spec.security_context.as_deref();
    let options = context.and_then(|it| it.windows_options.as_deref());
    let of_pod = options.and_then(|it| it.host_process);
    let (mut containers, mut of_host) = (0, 0);
    for (container, path) in any_container::all(spec, path) {
        let own = own_host_process(&container);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let path = path.child("securityContext").child("windowsOptions");
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {of_pod}"
            );
            errors.push(FieldError::invalid(&path.child("hostProcess"), own, detail));
        }
        containers += 1;
        of_host += usize::from(own.or(of_pod) == Some(true));
    }
    if of_host == 0 {
        return;
    }
    if of_host != containers {
        let detail = "If pod contains any hostProcess containers then all containers must be \
                      HostProcess containers";
        errors.push(FieldError::invalid(path, "", detail));
    }
    if !spec.host_network {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(
            &path.child("hostNetwork"),
            false,
            detail,
        ));
    }
}

fn own_host_process(container: &Container) -> Option<bool> {
    let context = container.security_context.as_deref()?;
    context.windows_options.as_deref()?.host_process
}

/// Checks that a Pod for Linux has no Windows options.
pub(crate) fn check_linux(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let mut has_none = |there: bool, path: &FieldPath| {
        if there {
            let path = path.child("securityContext").child("windowsOptions");
            let detail = "windows options cannot be set for a linux pod";
            errors.push(FieldError::forbidden(&path, detail));
        }
    };
    let context = spec.security_context.as_deref();
    has_none(context.is_some_and(|it| it.windows_options.is_some()), path);
    for (container, path) in any_container::all(spec, path) {
        let context = container.security_context.as_deref();
        has_none(
            context.is_some_and(|it| it.windows_options.is_some()),
            &path,
        );
    }
}

/// Checks that a Pod for Windows has no fields that are specific to Linux.
pub(crate) fn check_windows(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let own = path.child("securityContext");
    if let Some(it) = &spec.security_context {
        for (path, name, there) in [
            (&own, "appArmorProfile", it.app_armor_profile.is_some()),
            (&own, "seLinuxOptions", it.se_linux_options.is_some()),
            (path, "hostUsers", spec.host_users.is_some()),
            (path, "hostPID", spec.host_pid),
            (path, "hostIPC", spec.host_ipc),
            (&own, "seccompProfile", it.seccomp_profile.is_some()),
            (&own, "fsGroup", it.fs_group.is_some()),
            (
                &own,
                "fsGroupChangePolicy",
                it.fs_group_change_policy.is_some(),
            ),
            (&own, "sysctls", !it.sysctls.is_empty()),
            (
                path,
                "shareProcessNamespace",
                spec.share_process_namespace.is_some(),
            ),
            (&own, "runAsUser", it.run_as_user.is_some()),
            (&own, "runAsGroup", it.run_as_group.is_some()),
            (
                &own,
                "supplementalGroups",
                !it.supplemental_groups.is_empty(),
            ),
            (
                &own,
                "supplementalGroupsPolicy",
                it.supplemental_groups_policy.is_some(),
            ),
            (
                &own,
                "seLinuxChangePolicy",
                it.se_linux_change_policy.is_some(),
            ),
        ] {
            not_on_windows(errors, there, path, name);
        }
    }
    for (container, path) in any_container::all(spec, path) {
        if let Some(context) = container.security_context.as_deref() {
            check_windows_container(errors, context, &path.child("securityContext"));
        }
    }
}

fn check_windows_container(errors: &mut Errors, it: &SecurityContext, path: &FieldPath) {
    for (name, there) in [
        ("appArmorProfile", it.app_armor_profile.is_some()),
        ("seLinuxOptions", it.se_linux_options.is_some()),
        ("seccompProfile", it.seccomp_profile.is_some()),
        ("capabilities", it.capabilities.is_some()),
        (
            "readOnlyRootFilesystem",
            it.read_only_root_filesystem.is_some(),
        ),
        ("privileged", it.privileged.is_some()),
        (
            "allowPrivilegeEscalation",
            it.allow_privilege_escalation.is_some(),
        ),
        ("procMount", it.proc_mount.is_some()),
        ("runAsUser", it.run_as_user.is_some()),
        ("runAsGroup", it.run_as_group.is_some()),
    ] {
        not_on_windows(errors, there, path, name);
    }
}

fn not_on_windows(errors: &mut Errors, there: bool, path: &FieldPath, name: &str) {
    if there {
        let detail = "cannot be set for a windows pod";
        errors.push(FieldError::forbidden(&path.child(name), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_at_most_one_domain() {
        for good in [
            "Administrator",
            "NT AUTHORITY\\SYSTEM",
            "example.com\\me",
            "a b",
        ] {
            assert_eq!(user_problems(good), [""; 0], "{good}");
        }
        for (bad, problem) in [
            ("", "runAsUserName cannot be an empty string"),
            ("a\tb", "runAsUserName cannot contain control characters"),
            (
                "a\\b\\c",
                "runAsUserName cannot contain more than one backslash",
            ),
            (
                ".a\\b",
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
            ),
            ("a\\", "runAsUserName's User cannot be empty"),
            (
                ". .",
                "runAsUserName's User cannot contain only periods or spaces",
            ),
            (
                "a@b",
                "runAsUserName's User cannot contain the following characters: \
                 \"/\\:;|=,+*?<>@[]",
            ),
        ] {
            assert_eq!(user_problems(bad), [problem]);
        }
    }
}
