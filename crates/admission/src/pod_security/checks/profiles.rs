//! Which profiles of AppArmor, seccomp and `SELinux` are allowed.

use crate::pod_security::subject::Subject;
use crate::pod_security::wording::{Setters, Violation, containers, plural, quoted};
use kubist_api::core::v1::{AppArmorProfile, SELinuxOptions, SeccompProfile};
use kubist_apimachinery::go_text::quote;
use std::collections::BTreeSet;

const APP_ARMOR_ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const SECCOMP: &str = "seccompProfile";

/// Returns the type of a profile, unless it is one of the two that are allowed.
fn forbidden(kind: &str) -> Option<&str> {
    (!matches!(kind, "RuntimeDefault" | "Localhost")).then_some(kind)
}

pub(super) fn app_armor(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    fn bad(profile: &AppArmorProfile) -> Option<&str> {
        forbidden(&profile.type_)
    }
    let mut setters = Setters::default();
    let of_pod = subject.security();
    let of_pod = of_pod.and_then(|it| it.app_armor_profile.as_deref());
    setters.pod(of_pod.and_then(bad));
    for (name, context) in subject.contexts() {
        let profile = context.app_armor_profile.as_deref();
        setters.container(name, profile.and_then(bad));
    }
    let mut who = setters.texts();
    let annotations = subject.annotations.iter().filter(|(name, value)| {
        let allowed =
            value.is_empty() || **value == "runtime/default" || value.starts_with("localhost/");
        name.starts_with(APP_ARMOR_ANNOTATION) && !allowed
    });
    let annotated: Vec<String> = annotations
        .map(|(name, value)| format!("{name}={}", quote(value)))
        .collect();
    if !annotated.is_empty() {
        let word = plural("annotation", "annotations", annotated.len());
        who.push(word.to_owned());
    }
    if who.is_empty() {
        return None;
    }
    let values = setters.values.iter().copied();
    let values: Vec<&str> = values.chain(annotated.iter().map(String::as_str)).collect();
    let reason = plural(
        "forbidden AppArmor profile",
        "forbidden AppArmor profiles",
        values.len(),
    );
    let detail = format!(
        "{} must not set AppArmor profile type to {}",
        who.join(" and "),
        quoted(values)
    );
    Some(Violation::new(reason, detail))
}

/// What is wrong with `SELinux` options.
#[derive(Default)]
struct Labels<'a> {
    types: BTreeSet<&'a str>,
    user: bool,
    role: bool,
}

impl<'a> Labels<'a> {
    /// Notes options, and reports whether they are wrong.
    fn note(&mut self, options: Option<&'a SELinuxOptions>, minor: u64) -> bool {
        let Some(options) = options else {
            return false;
        };
        let allowed = match options.type_.as_str() {
            "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
            "container_engine_t" => minor >= 31,
            _ => false,
        };
        if !allowed {
            self.types.insert(&options.type_);
        }
        let (user, role) = (!options.user.is_empty(), !options.role.is_empty());
        self.user |= user;
        self.role |= role;
        !allowed || user || role
    }
}

pub(super) fn se_linux(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    let (mut labels, mut setters) = (Labels::default(), Setters::default());
    let of_pod = subject.security();
    let of_pod = of_pod.and_then(|it| it.se_linux_options.as_deref());
    setters.pod = labels.note(of_pod, minor);
    for (name, context) in subject.contexts() {
        if labels.note(context.se_linux_options.as_deref(), minor) {
            setters.containers.push(name);
        }
    }
    let who = setters.text()?;
    let mut what = Vec::new();
    if !labels.types.is_empty() {
        let word = plural("type", "types", labels.types.len());
        what.push(format!("{word} {}", quoted(labels.types)));
    }
    for (is_set, name) in [(labels.user, "user"), (labels.role, "role")] {
        if is_set {
            what.push(format!("{name} may not be set"));
        }
    }
    let what = what.join("; ");
    let detail = format!("{who} set forbidden securityContext.seLinuxOptions: {what}");
    Some(Violation::new("seLinuxOptions", detail))
}

/// Until 1.19, profiles were annotations.
pub(super) fn seccomp(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor < 19 {
        return annotated_seccomp(subject);
    }
    let setters = seccomp_setters(subject);
    let who = setters.text()?;
    Some(Violation::new(SECCOMP, forbidden_seccomp(&who, &setters)))
}

fn annotated_seccomp(subject: Subject<'_>) -> Option<Violation> {
    let of_containers = subject
        .containers()
        .map(|it| format!("{SECCOMP_OF_CONTAINER}{}", it.name));
    let mut bad = BTreeSet::new();
    for name in of_containers.chain([SECCOMP_OF_POD.to_owned()]) {
        let value = subject.annotations.get(name.as_str());
        let is_allowed = |it: &str| {
            matches!(it, "runtime/default" | "docker/default") || it.starts_with("localhost/")
        };
        if let Some(value) = value.filter(|it| !is_allowed(it)) {
            bad.insert(format!("{name}={}", quote(value)));
        }
    }
    if bad.is_empty() {
        return None;
    }
    let word = plural("annotation", "annotations", bad.len());
    let bad: Vec<String> = bad.into_iter().collect();
    let detail = format!("forbidden {word} {}", bad.join(", "));
    Some(Violation::new(SECCOMP, detail))
}

fn seccomp_setters(subject: Subject<'_>) -> Setters<'_> {
    let mut setters = Setters::default();
    let of_pod = subject.security();
    let of_pod = of_pod.and_then(|it| it.seccomp_profile.as_deref());
    setters.pod(of_pod.and_then(bad_seccomp));
    for (name, context) in subject.contexts() {
        let profile = context.seccomp_profile.as_deref();
        setters.container(name, profile.and_then(bad_seccomp));
    }
    setters
}

fn bad_seccomp(profile: &SeccompProfile) -> Option<&str> {
    forbidden(&profile.type_)
}

fn forbidden_seccomp(who: &str, setters: &Setters<'_>) -> String {
    let values = setters.quoted_values();
    format!("{who} must not set securityContext.seccompProfile.type to {values}")
}

pub(super) fn required_seccomp(subject: Subject<'_>, minor: u64) -> Option<Violation> {
    if minor >= 25 && subject.is_windows() {
        return None;
    }
    let setters = seccomp_setters(subject);
    if let Some(who) = setters.text() {
        return Some(Violation::new(SECCOMP, forbidden_seccomp(&who, &setters)));
    }
    let of_pod = subject.security();
    if of_pod.is_some_and(|it| it.seccomp_profile.is_some()) {
        return None;
    }
    let silent = subject.containers().filter(|container| {
        let context = container.security;
        context.is_none_or(|it| it.seccomp_profile.is_none())
    });
    let names: Vec<&str> = silent.map(|it| it.name).collect();
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \
         \"Localhost\"",
        containers(&names)
    );
    Some(Violation::new(SECCOMP, detail))
}
