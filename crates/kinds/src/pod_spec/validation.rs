//! Validation of a Pod spec, in a Pod or a template.

use crate::pod_spec::annotations::MIRROR;
use crate::pod_spec::container_resources::{self, Level};
use crate::pod_spec::pod_context::PodContext;
use crate::pod_spec::subject::PodSubject;
use crate::pod_spec::{self, container_ports, tolerations, topology_spread};
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use crate::volume;
use kubist_api::core::v1::{PodSpec, ResourceRequirements};
use kubist_apimachinery::{FieldError, FieldPath, validate_labels, validate_name};
use std::collections::BTreeSet;

/// The maximum number of seconds: 31 bits.
const SECONDS_MAX: i64 = 0x7fff_ffff;

/// Checks a spec at `path`.
pub(crate) fn check(
    errors: &mut Errors,
    spec: &PodSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    let pod_name = subject.is_pod.then_some(subject.metadata.name.as_str());
    let volumes =
        volume::validation::check(errors, &spec.volumes, pod_name, &path.child("volumes"));
    let pod = PodContext {
        spec,
        subject,
        volumes: &volumes,
    };
    check_claims(errors, spec, subject, &path.child("resourceClaims"));
    pod_spec::container::check_all(errors, pod, path);
    pod_spec::resources::check(errors, pod, &path.child("resources"));
    let containers = path.child("containers");
    container_ports::check_host_network(errors, spec, subject, &containers);
    let supported = ["Always", "OnFailure", "Never"];
    let at = path.child("restartPolicy");
    rules::word(errors, &spec.restart_policy, &supported, &at);
    let at = path.child("dnsPolicy");
    rules::word(errors, &spec.dns_policy, &pod_spec::dns::POLICIES, &at);
    let selector = path.child("nodeSelector");
    errors.extend(validate_labels(&spec.node_selector, &selector));
    let context = path.child("securityContext");
    pod_spec::security::check_pod(errors, spec, subject, &context);
    check_placing(errors, spec, subject, path);
    pod_spec::windows::check_host_processes(errors, spec, path);
    pod_spec::host::check_users(errors, spec, subject, path);
    pod_spec::host::check_hostname(errors, spec, path);
    check_names(errors, spec, path);
    let compares = subject.already(tolerations::compares);
    let at = path.child("tolerations");
    tolerations::check(errors, &spec.tolerations, compares, &at);
    pod_spec::host::check_aliases(errors, spec, &path.child("hostAliases"));
    check_classes(errors, spec, path);
    check_overhead(errors, pod, &path.child("overhead"));
    check_os(errors, spec, path);
    check_group(errors, spec, &path.child("schedulingGroup"));
    pod_spec::env::check_files(errors, spec, path);
}

/// Checks the scheduling fields.
fn check_placing(errors: &mut Errors, spec: &PodSpec, subject: &PodSubject<'_>, path: &FieldPath) {
    if let Some(affinity) = &spec.affinity {
        pod_spec::affinity::check(errors, affinity, subject, &path.child("affinity"));
    }
    pod_spec::dns::check(errors, spec, &path.child("dnsConfig"));
    let gates = path.child("readinessGates");
    for (index, gate) in spec.readiness_gates.iter().enumerate() {
        let path = gates.index(index).child("conditionType");
        let rule = validate_name::qualified_name;
        rules::text(errors, &gate.condition_type, &path, rule);
    }
    let gates = path.child("schedulingGates");
    let mut seen = BTreeSet::new();
    for (index, gate) in spec.scheduling_gates.iter().enumerate() {
        let path = gates.index(index);
        rules::text(errors, &gate.name, &path, validate_name::qualified_name);
        if !seen.insert(&gate.name) {
            errors.push(FieldError::duplicate(&path, &gate.name));
        }
    }
    let constraints = &spec.topology_spread_constraints;
    let at = path.child("topologySpreadConstraints");
    topology_spread::check(errors, constraints, subject, &at);
}

/// Checks resource claims: names are unique, and each refers to a claim or to a claim template.
fn check_claims(errors: &mut Errors, spec: &PodSpec, subject: &PodSubject<'_>, path: &FieldPath) {
    let mirror = subject.is_pod && subject.metadata.annotations.contains_key(MIRROR);
    let mut names = BTreeSet::new();
    for (index, claim) in spec.resource_claims.iter().enumerate() {
        if mirror {
            let detail = "static pods do not support resource claims";
            errors.push(FieldError::forbidden(&FieldPath::new(""), detail));
            continue;
        }
        let path = path.index(index);
        let at = path.child("name");
        if rules::required(errors, &claim.name, &at) {
            if names.insert(&claim.name) {
                rules::text(errors, &claim.name, &at, validate_name::dns1123_label);
            } else {
                errors.push(FieldError::duplicate(&at, &claim.name));
            }
        }
        let (made, template) = (
            &claim.resource_claim_name,
            &claim.resource_claim_template_name,
        );
        let detail = match (made, template) {
            (Some(_), Some(_)) => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
            (None, None) => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            _ => "",
        };
        if !detail.is_empty() {
            errors.push(FieldError::invalid(&path, go_struct::shown(claim), detail));
        }
        for (name, value) in [
            ("resourceClaimName", made),
            ("resourceClaimTemplateName", template),
        ] {
            if let Some(value) = value {
                let path = path.child(name);
                rules::text(errors, value, &path, validate_name::dns1123_subdomain);
            }
        }
    }
}

fn check_names(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    type Rule = fn(&str) -> Vec<String>;
    let subdomain: Rule = validate_name::dns1123_subdomain;
    let label: Rule = validate_name::dns1123_label;
    let mut check = |name: &str, value: &str, rule: Rule| {
        if !value.is_empty() {
            rules::text(errors, value, &path.child(name), rule);
        }
    };
    check("serviceAccountName", &spec.service_account_name, subdomain);
    check("nodeName", &spec.node_name, subdomain);
    check("hostname", &spec.hostname, label);
    check("subdomain", &spec.subdomain, label);
    if let Some(seconds) = spec.active_deadline_seconds {
        let path = path.child("activeDeadlineSeconds");
        let problems = validate_name::in_range(seconds, 1, SECONDS_MAX);
        let wrong = |it| FieldError::invalid(&path, seconds, it);
        errors.extend(problems.into_iter().map(wrong));
    }
}

fn check_classes(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let subdomain = validate_name::dns1123_subdomain;
    if !spec.priority_class_name.is_empty() {
        let path = path.child("priorityClassName");
        rules::text(errors, &spec.priority_class_name, &path, subdomain);
    }
    if let Some(class) = &spec.runtime_class_name {
        rules::text(errors, class, &path.child("runtimeClassName"), subdomain);
    }
    if let Some(policy) = &spec.preemption_policy {
        let supported = ["PreemptLowerPriority", "Never"];
        rules::word(errors, policy, &supported, &path.child("preemptionPolicy"));
    }
}

/// Checks the overhead, which follows the rules for resource limits.
fn check_overhead(errors: &mut Errors, pod: PodContext<'_>, path: &FieldPath) {
    let limits = ResourceRequirements {
        limits: pod.spec.overhead.clone(),
        ..ResourceRequirements::default()
    };
    container_resources::check(errors, &limits, Level::Container, pod, path);
}

fn check_os(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let Some(os) = &spec.os else {
        return;
    };
    let at = path.child("os");
    match os.name.as_str() {
        "" => errors.push(FieldError::required(&at.child("name"), "")),
        "linux" => pod_spec::windows::check_linux(errors, spec, path),
        "windows" => pod_spec::windows::check_windows(errors, spec, path),
        other => {
            let supported = ["linux", "windows"];
            errors.push(FieldError::not_supported(&at, other, &supported));
        }
    }
}

/// Checks the scheduling group, which must name a pod group.
fn check_group(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let Some(group) = &spec.scheduling_group else {
        return;
    };
    let path = path.child("podGroupName");
    if let Some(name) = &group.pod_group_name {
        rules::text(errors, name, &path, validate_name::dns1123_subdomain);
    } else {
        let detail = "must specify one of: `podGroupName`";
        let null = kubist_apimachinery::BadValue::null();
        errors.push(FieldError::invalid(&path, null, detail));
    }
}
