//! What the restricted level demands of containers.

use super::baseline;
use crate::pod_security::subject::Subject;
use crate::pod_security::wording::{Setters, Violation, containers, quoted};
use kubist_apimachinery::Str;
use std::collections::BTreeSet;

pub(super) fn privilege_escalation(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor >= 25 && subject.is_windows() {
        return None;
    }
    let forbids = |it: Option<bool>| it == Some(false);
    let bad = subject.containers().filter(|container| {
        let context = container.security;
        !context.is_some_and(|it| forbids(it.allow_privilege_escalation))
    });
    let names: Vec<&str> = bad.map(|it| it.name).collect();
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "{} must set securityContext.allowPrivilegeEscalation=false",
        containers(&names)
    );
    Some(Violation::new("allowPrivilegeEscalation != false", detail))
}

pub(super) fn capabilities(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor >= 25 && subject.is_windows() {
        return None;
    }
    let (mut keeping, mut adding, mut added) = (Vec::new(), Vec::new(), BTreeSet::new());
    for container in subject.containers() {
        let context = container.security;
        let Some(capabilities) = context.and_then(|it| it.capabilities.as_deref()) else {
            keeping.push(container.name);
            continue;
        };
        if !capabilities.drop.iter().any(|it| *it == "ALL") {
            keeping.push(container.name);
        }
        let bad = capabilities.add.iter().map(Str::as_str);
        let bad: Vec<&str> = bad.filter(|it| *it != "NET_BIND_SERVICE").collect();
        if !bad.is_empty() {
            adding.push(container.name);
            added.extend(bad);
        }
    }
    let mut details = Vec::new();
    if !keeping.is_empty() {
        details.push(format!(
            "{} must set securityContext.capabilities.drop=[\"ALL\"]",
            containers(&keeping)
        ));
    }
    if !adding.is_empty() {
        details.push(format!(
            "{} must not include {} in securityContext.capabilities.add",
            containers(&adding),
            quoted(added)
        ));
    }
    (!details.is_empty()).then(|| Violation::new("unrestricted capabilities", details.join("; ")))
}

pub(super) fn proc_mount(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    baseline::any_proc_mount(subject)
}

/// Since 1.35, Pods with users of their own may run as their root.
pub(super) fn non_root(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if minor >= 35 && subject.has_own_users() {
        return None;
    }
    let of_pod = subject.security().and_then(|it| it.run_as_non_root);
    let mut setters = Setters {
        pod: of_pod == Some(false),
        ..Setters::default()
    };
    let mut silent = Vec::new();
    for container in subject.containers() {
        match container.security.and_then(|it| it.run_as_non_root) {
            Some(false) => setters.containers.push(container.name),
            None if of_pod != Some(true) => silent.push(container.name),
            _ => {}
        }
    }
    if let Some(who) = setters.text() {
        let detail = format!("{who} must not set securityContext.runAsNonRoot=false");
        return Some(Violation::new(REASON, detail));
    }
    if silent.is_empty() {
        return None;
    }
    let detail = format!(
        "pod or {} must set securityContext.runAsNonRoot=true",
        containers(&silent)
    );
    Some(Violation::new(REASON, detail))
}

/// Since 1.35, Pods with users of their own may run as their root.
pub(super) fn user(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor >= 35 && subject.has_own_users() {
        return None;
    }
    let of_pod = subject.security().and_then(|it| it.run_as_user);
    let mut setters = Setters {
        pod: of_pod == Some(0),
        ..Setters::default()
    };
    for (name, context) in subject.contexts() {
        if context.run_as_user == Some(0) {
            setters.containers.push(name);
        }
    }
    let detail = format!("{} must not set runAsUser=0", setters.text()?);
    Some(Violation::new("runAsUser=0", detail))
}
