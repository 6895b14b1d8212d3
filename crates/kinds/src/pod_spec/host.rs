//! Validation of host namespaces, host names and host aliases.

use crate::pod_spec::any_container;
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::PodSpec;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The maximum length of a host name in the kernel, in characters.
const HOSTNAME_LENGTH_MAX: usize = 64;

/// Checks that a Pod with a user namespace shares no other namespace with its host. Two of
/// upstream's paths are the Go field names.
pub(crate) fn check_users(
    errors: &mut Errors,
    spec: &PodSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    const DETAIL: &str = "when `hostUsers` is false";
    let has_own_users = |it: &PodSpec| it.host_users == Some(false);
    if !has_own_users(spec) {
        return;
    }
    let had_network = subject.already(|old| has_own_users(old) && old.host_network);
    for (name, there) in [
        ("hostNetwork", spec.host_network && !had_network),
        ("HostPID", spec.host_pid),
        ("HostIPC", spec.host_ipc),
    ] {
        if there {
            errors.push(FieldError::forbidden(&path.child(name), DETAIL));
        }
    }
    let had_devices = subject.already(|old| {
        let mut all = any_container::all(old, path);
        has_own_users(old) && all.any(|(it, _)| !it.volume_devices.is_empty())
    });
    if had_devices {
        return;
    }
    for (container, path) in any_container::all(spec, path) {
        if !container.volume_devices.is_empty() {
            let path = path.child("volumeDevices");
            errors.push(FieldError::forbidden(&path, DETAIL));
        }
    }
}

/// Checks that a host name override is not combined with other host name fields.
pub(crate) fn check_hostname(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let Some(name) = &spec.hostname_override else {
        return;
    };
    let path = path.child("hostnameOverride");
    if spec.set_hostname_as_fqdn == Some(true) {
        let detail = "may not be specified when setHostnameAsFQDN is true";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if spec.host_network {
        let detail = "may not be specified when hostNetwork is true";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if name.len() > HOSTNAME_LENGTH_MAX {
        errors.push(FieldError::too_long(&path, HOSTNAME_LENGTH_MAX));
    }
    rules::text(errors, name, &path, validate_name::dns1123_subdomain);
}

/// Checks the entries that a Pod adds to its hosts file.
pub(crate) fn check_aliases(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    for (index, alias) in spec.host_aliases.iter().enumerate() {
        let path = path.index(index);
        crate::shared::addresses::ip(errors, &alias.ip, &path.child("ip"));
        for (index, name) in alias.hostnames.iter().enumerate() {
            let path = path.child("hostnames").index(index);
            rules::text(errors, name, &path, validate_name::dns1123_subdomain);
        }
    }
}
