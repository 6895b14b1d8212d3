//! What the baseline forbids of containers.

use crate::pod_security::subject::Subject;
use crate::pod_security::wording::{Setters, Violation, containers, quoted};
use std::collections::BTreeSet;

/// The capabilities that runtimes grant by default.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The safe kernel parameters, with the first version in which they are.
const SYSCTLS: [(&str, u64); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

pub(super) fn capabilities(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let (mut names, mut added) = (Vec::new(), BTreeSet::new());
    for (name, context) in subject.contexts() {
        let capabilities = context.capabilities.as_deref();
        let all = capabilities.into_iter().flat_map(|it| &it.add);
        let mut bad = all.filter(|it| !CAPABILITIES.contains(&it.as_str()));
        if let Some(first) = bad.next() {
            names.push(name);
            added.insert(first.as_str());
            added.extend(bad.map(kubist_apimachinery::Str::as_str));
        }
    }
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "{} must not include {} in securityContext.capabilities.add",
        containers(&names),
        quoted(added)
    );
    Some(Violation::new("non-default capabilities", detail))
}

pub(super) fn privileged(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let bad = subject
        .contexts()
        .filter(|(_, context)| context.privileged == Some(true));
    let names: Vec<&str> = bad.map(|(name, _)| name).collect();
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "{} must not set securityContext.privileged=true",
        containers(&names)
    );
    Some(Violation::new("privileged", detail))
}

/// Since 1.35, Pods with users of their own may see all of `/proc`.
pub(super) fn proc_mount(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor >= 35 && subject.has_own_users() {
        return None;
    }
    any_proc_mount(subject)
}

pub(super) fn any_proc_mount(subject: Subject<'_>) -> Option<Violation> {
    let mut setters = Setters::default();
    for (name, context) in subject.contexts() {
        let mount = context.proc_mount.as_deref();
        setters.container(name, mount.filter(|it| *it != "Default"));
    }
    let detail = format!(
        "{} must not set securityContext.procMount to {}",
        setters.text()?,
        setters.quoted_values()
    );
    Some(Violation::new("procMount", detail))
}

pub(super) fn sysctls(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    let set = subject.security().into_iter().flat_map(|it| &it.sysctls);
    let is_safe = |name: &str| {
        let mut safe = SYSCTLS.iter();
        safe.any(|(safe, since)| *safe == name && minor >= *since)
    };
    let bad = set.filter(|it| !is_safe(&it.name));
    let names: Vec<&str> = bad.map(|it| it.name.as_str()).collect();
    (!names.is_empty()).then(|| Violation::new("forbidden sysctls", names.join(", ")))
}
