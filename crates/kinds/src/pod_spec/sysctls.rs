//! Validation of the sysctls that a Pod sets.

use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodSecurityContext, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

const LENGTH_MAX: usize = 253;
const FORM: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
/// The namespaced IPC sysctls, in addition to those under `fs.mqueue`.
const OF_IPC: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// Checks that names are unique and that no sysctl belongs to a host namespace.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &PodSpec,
    context: &PodSecurityContext,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let had = |old: &PodSpec| {
        let all = old.security_context.iter().flat_map(|it| &it.sysctls);
        all.into_iter().any(|it| of_host(&it.name, old).is_some())
    };
    let may_be_of_host = subject.already(had);
    let mut names = BTreeSet::new();
    for (index, sysctl) in context.sysctls.iter().enumerate() {
        let (name, path) = (&sysctl.name, path.index(index).child("name"));
        if rules::required(errors, name, &path) {
            if !is_name(name) {
                let detail =
                    format!("must have at most {LENGTH_MAX} characters and match regex {FORM}");
                errors.push(FieldError::invalid(&path, name, detail));
            } else if names.contains(name) {
                errors.push(FieldError::duplicate(&path, name));
            }
        }
        if let Some(detail) = of_host(name, spec).filter(|_| !may_be_of_host) {
            errors.push(FieldError::invalid(&path, name, detail));
        }
        names.insert(name);
    }
}

fn is_name(name: &str) -> bool {
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let segment = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().copied().is_some_and(end)
            && bytes.last().copied().is_some_and(end)
            && bytes.iter().all(|&it| end(it) || b"-_".contains(&it))
    };
    name.len() <= LENGTH_MAX && name.split(['.', '/']).all(segment)
}

/// Returns the error for a sysctl of a namespace that the Pod shares with its host, if it is one.
fn of_host(name: &str, spec: &PodSpec) -> Option<&'static str> {
    let name = with_points(name);
    let name = name.split('*').next().unwrap_or_default();
    if spec.host_network && name.starts_with("net.") {
        return Some("may not be specified when 'hostNetwork' is true");
    }
    let is_ipc = OF_IPC.contains(&name) || name.starts_with("fs.mqueue.");
    (spec.host_ipc && is_ipc).then_some("may not be specified when 'hostIPC' is true")
}

/// Normalizes a name with slashes as separators to one with dots.
fn with_points(name: &str) -> String {
    if name
        .find(['.', '/'])
        .is_none_or(|at| name[at..].starts_with('.'))
    {
        return name.to_owned();
    }
    let swapped = name.chars().map(|it| match it {
        '.' => '/',
        '/' => '.',
        other => other,
    });
    swapped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_segments_with_points_or_slashes() {
        for good in ["kernel.shm_rmid_forced", "net/ipv4/tcp_syncookies", "a"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a.", "A", "a..b", "_a", "net.*", &"x".repeat(254)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn parameters_of_a_namespace_of_the_host_are_the_hosts() {
        let spec = PodSpec {
            host_network: true,
            host_ipc: true,
            ..PodSpec::default()
        };
        for name in [
            "net.ipv4.x",
            "net/ipv4/eno2.100/x",
            "kernel.sem",
            "fs/mqueue/x",
        ] {
            assert!(of_host(name, &spec).is_some(), "{name}");
            assert_eq!(of_host(name, &PodSpec::default()), None);
        }
        assert_eq!(of_host("kernel.domainname", &spec), None);
    }
}
