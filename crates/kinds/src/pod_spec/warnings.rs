//! Warnings about Pods and Pod templates, in upstream's words: deprecated or ineffective fields,
//! and probable mistakes.

mod placement;
mod ports;

use self::placement::{affinities, labels};
use self::ports::Ports;
use crate::pod_spec::any_container;
use crate::shared::address_warnings;
use crate::shared::resources::warn_of_fraction;
use crate::volume::{self, path_warnings};
use kubist_api::core::v1::{Container, Pod, PodSpec, PodTemplateSpec, Volume};
use kubist_apimachinery::{FieldPath, ObjectMeta, Quantity, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of warnings for one object; clients read fewer.
const WARNINGS_MAX: usize = 100;

const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Returns the warnings for a new Pod. As upstream, updates have none: they are frequent and seldom
/// made by people.
pub(crate) fn of_pod(pod: &Pod, old: Option<&Pod>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    let mut found = name(&pod.metadata, "the Pod's hostname");
    found.extend(all(None, &pod.spec, &pod.metadata));
    found
}

/// Returns the warnings for a workload whose own name becomes part of its Pods' names.
pub(crate) fn of_named(
    meta: &ObjectMeta,
    old: Option<&ObjectMeta>,
    template: &PodTemplateSpec,
    path: &FieldPath,
) -> Vec<String> {
    let mut found = match old {
        None => name(meta, "Pod names and hostnames"),
        Some(_) => Vec::new(),
    };
    found.extend(of_changed(meta, old, template, path));
    found
}

/// Returns the warnings for a workload's template, on create and when the spec changes.
pub(crate) fn of_changed(
    meta: &ObjectMeta,
    old: Option<&ObjectMeta>,
    template: &PodTemplateSpec,
    path: &FieldPath,
) -> Vec<String> {
    match old {
        Some(old) if old.generation == meta.generation => Vec::new(),
        _ => of_template(template, path),
    }
}

/// The path of the template in most workloads.
pub(crate) fn template_path() -> FieldPath {
    FieldPath::new("spec").child("template")
}

fn name(meta: &ObjectMeta, used_in: &str) -> Vec<String> {
    let problems = validate_name::dns1123_label(&meta.name);
    if problems.is_empty() {
        return Vec::new();
    }
    let problems = problems.join(" ");
    vec![format!(
        "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS \
         label is recommended: [{problems}]"
    )]
}

/// Returns the warnings for a template.
fn of_template(template: &PodTemplateSpec, path: &FieldPath) -> Vec<String> {
    all(Some(path), &template.spec, &template.metadata)
}

fn all(above: Option<&FieldPath>, spec: &PodSpec, meta: &ObjectMeta) -> Vec<String> {
    let at = |name: &str| above.map_or_else(|| FieldPath::new(name), |it| it.child(name));
    let (path, annotations) = (at("spec"), at("metadata").child("annotations"));
    let mut found = Vec::new();
    labels(&mut found, spec, &path);
    for (key, message) in ANNOTATIONS {
        if meta.annotations.contains_key(key) {
            found.push(format!("{}: {message}", annotations.key(key)));
        }
    }
    volumes(&mut found, &spec.volumes, &path.child("volumes"));
    repeated(&mut found, spec, &path);
    fractions(&mut found, &spec.overhead, &path.child("overhead"));
    profiles(&mut found, above.is_some(), spec, meta, &annotations);
    let mut ports = Ports::default();
    for (container, path) in any_container::all(spec, &path) {
        let (resources, at) = (&container.resources, path.child("resources"));
        fractions(&mut found, &resources.limits, &at.child("limits"));
        fractions(&mut found, &resources.requests, &at.child("requests"));
        environment(&mut found, &container, &path);
        ports.add(&mut found, &container, &path);
    }
    if spec
        .termination_grace_period_seconds
        .is_some_and(|it| it < 0)
    {
        let path = path.child("terminationGracePeriodSeconds");
        found.push(format!(
            "{path}: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    affinities(&mut found, spec, &path.child("affinity"));
    addresses(&mut found, spec, &path);
    found.truncate(WARNINGS_MAX);
    found
}

fn volumes(found: &mut Vec<String>, volumes: &[Volume], path: &FieldPath) {
    for (index, it) in volumes.iter().enumerate() {
        let path = path.index(index);
        let since = volume::warnings::removed_feature;
        for (name, is_used, message) in [
            (
                "photonPersistentDisk",
                it.photon_persistent_disk.is_some(),
                since("1.11", "1.16"),
            ),
            (
                "gitRepo",
                it.git_repo.is_some(),
                "deprecated in v1.11, and disabled by default in v1.33+".to_owned(),
            ),
            ("scaleIO", it.scale_io.is_some(), since("1.16", "1.22")),
            ("flocker", it.flocker.is_some(), since("1.22", "1.25")),
            ("storageOS", it.storageos.is_some(), since("1.22", "1.25")),
            ("quobyte", it.quobyte.is_some(), since("1.22", "1.25")),
            ("glusterfs", it.glusterfs.is_some(), since("1.25", "1.26")),
            ("cephfs", it.cephfs.is_some(), since("1.28", "1.31")),
            ("rbd", it.rbd.is_some(), since("1.28", "1.31")),
        ] {
            if is_used {
                found.push(format!("{}: {message}", path.child(name)));
            }
        }
        let template = it.ephemeral.iter();
        for claim in template.filter_map(|it| it.volume_claim_template.as_deref()) {
            let path = path.child("ephemeral").child("volumeClaimTemplate");
            volume::warnings::of_claim(found, &claim.spec, &path.child("spec"));
        }
    }
    for it in volumes {
        path_warnings::check(found, it);
    }
}

/// Warns of duplicate entries, which have no effect, and of empty secret names.
fn repeated(found: &mut Vec<String>, spec: &PodSpec, path: &FieldPath) {
    let mut seen = BTreeSet::new();
    for (index, it) in spec.host_aliases.iter().enumerate() {
        if !seen.insert(&it.ip) {
            let path = path.child("hostAliases").index(index).child("ip");
            found.push(format!("{path}: duplicate ip {:?}", it.ip.as_str()));
        }
    }
    let names = spec.image_pull_secrets.iter().enumerate();
    let path = path.child("imagePullSecrets");
    let mut seen = BTreeSet::new();
    for (index, it) in names.clone() {
        if !seen.insert(&it.name) {
            let path = path.index(index).child("name");
            found.push(format!("{path}: duplicate name {:?}", it.name.as_str()));
        }
    }
    for (index, _) in names.filter(|(_, it)| it.name.is_empty()) {
        let path = path.index(index).child("name");
        found.push(format!("{path}: invalid empty name \"\""));
    }
}

/// Warns of byte amounts that are not whole numbers.
fn fractions(found: &mut Vec<String>, amounts: &BTreeMap<Str, Quantity>, path: &FieldPath) {
    for name in ["memory", "ephemeral-storage"] {
        warn_of_fraction(found, amounts, name, path);
    }
}

/// Warns of addresses in non-standard notation.
fn addresses(found: &mut Vec<String>, spec: &PodSpec, path: &FieldPath) {
    let servers = spec.dns_config.iter().flat_map(|it| &it.nameservers);
    let at = path.child("dnsConfig").child("nameservers");
    for (index, server) in servers.enumerate() {
        address_warnings::ip(found, server, &at.index(index));
    }
    let at = path.child("hostAliases");
    for (index, alias) in spec.host_aliases.iter().enumerate() {
        address_warnings::ip(found, &alias.ip, &at.index(index).child("ip"));
    }
}

/// Warns of annotations that fields have replaced.
fn profiles(
    found: &mut Vec<String>,
    is_template: bool,
    spec: &PodSpec,
    meta: &ObjectMeta,
    path: &FieldPath,
) {
    let of_pod = spec.security_context.as_deref();
    let seccomp = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    let has_profile = of_pod.is_some_and(|it| it.seccomp_profile.is_some());
    if !has_profile && meta.annotations.contains_key(SECCOMP) {
        found.push(format!("{}: {seccomp}", path.key(SECCOMP)));
    }
    if meta.annotations.is_empty() {
        return;
    }
    for (container, _) in any_container::all(spec, path) {
        let own = container.security_context.as_deref();
        let key = format!("{SECCOMP_OF}{}", container.name);
        let has_profile = own.is_some_and(|it| it.seccomp_profile.is_some());
        if !has_profile && meta.annotations.contains_key(key.as_str()) {
            found.push(format!("{}: {seccomp}", path.key(&key)));
        }
        let key = format!("{APP_ARMOR_OF}{}", container.name);
        let has_profile = own.is_some_and(|it| it.app_armor_profile.is_some())
            || of_pod.is_some_and(|it| it.app_armor_profile.is_some());
        if is_template && !has_profile && meta.annotations.contains_key(key.as_str()) {
            found.push(format!(
                "{}: deprecated since v1.30; use the \"appArmorProfile\" field instead",
                path.key(&key)
            ));
        }
    }
}

/// Warns of variables that hide an earlier one of the same name without referring to it.
fn environment(found: &mut Vec<String>, container: &Container, path: &FieldPath) {
    let mut seen = BTreeSet::new();
    for (index, it) in container.env.iter().enumerate() {
        if seen.insert(&it.name) {
            continue;
        }
        let before = format!("$({})", it.name);
        let value = it.value.as_str();
        if it.value_from.is_some() || value == before || !value.contains(&before) {
            found.push(format!(
                "{}: hides previous definition of {:?}, which may be dropped when using apply",
                path.child("env").index(index),
                it.name.as_str()
            ));
        }
    }
}
