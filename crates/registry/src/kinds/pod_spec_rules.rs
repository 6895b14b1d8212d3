//! What the spec of a Pod or of a Pod template must satisfy.

use kubist_api::core::v1::{PodSpec, Toleration};
use kubist_apimachinery::{FieldError, FieldPath, validate_labels, validate_name};
use std::collections::BTreeSet;

use super::container_rules;
use super::rules::{self, Errors};
use super::{affinity_rules, go_struct, pod_security_rules, volume_rules};

/// Seconds that fit into 31 bits.
const SECONDS_MAX: i64 = 0x7fff_ffff;

/// Checks a spec at `path`.
pub(super) fn check(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let volumes = volume_rules::check(errors, &spec.volumes, &path.child("volumes"));
    container_rules::check_all(errors, spec, &volumes, path);
    check_restart_policy(errors, spec, &path.child("restartPolicy"));
    check_dns(errors, spec, path);
    errors.extend(validate_labels(
        &spec.node_selector,
        &path.child("nodeSelector"),
    ));
    pod_security_rules::check_pod(errors, spec, path);
    for (index, secret) in spec.image_pull_secrets.iter().enumerate() {
        if secret.name.is_empty() {
            let path = path.child("imagePullSecrets").index(index).child("name");
            errors.push(FieldError::required(&path, ""));
        }
    }
    if let Some(affinity) = &spec.affinity {
        affinity_rules::check(errors, affinity, &path.child("affinity"));
    }
    affinity_rules::check_spread(
        errors,
        &spec.topology_spread_constraints,
        &path.child("topologySpreadConstraints"),
    );
    check_names(errors, spec, path);
    check_claims(errors, spec, &path.child("resourceClaims"));
    check_os(errors, spec, &path.child("os"));
    if let Some(seconds) = spec.active_deadline_seconds {
        let path = path.child("activeDeadlineSeconds");
        let problems = validate_name::in_range(seconds, 1, SECONDS_MAX);
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(&path, seconds, it)),
        );
    }
    check_tolerations(errors, &spec.tolerations, &path.child("tolerations"));
    check_host_aliases(errors, spec, &path.child("hostAliases"));
    if let Some(policy) = &spec.preemption_policy {
        let path = path.child("preemptionPolicy");
        rules::one_of(errors, policy, &["Never", "PreemptLowerPriority"], &path);
    }
}

/// Each claim has a name of its own, and is one that exists or one to be made.
fn check_claims(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let mut names = BTreeSet::new();
    for (index, claim) in spec.resource_claims.iter().enumerate() {
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

fn check_os(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    if let Some(os) = &spec.os
        && rules::required(errors, &os.name, &path.child("name"))
    {
        rules::one_of(errors, &os.name, &["linux", "windows"], path);
    }
}

fn check_restart_policy(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    match spec.restart_policy.as_str() {
        "" => errors.push(FieldError::required(path, "")),
        policy => rules::one_of(errors, policy, &["Always", "OnFailure", "Never"], path),
    }
}

fn check_dns(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    const POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    match spec.dns_policy.as_str() {
        "" => errors.push(FieldError::required(&path.child("dnsPolicy"), "")),
        policy => rules::one_of(errors, policy, &POLICIES, &path.child("dnsPolicy")),
    }
    let path = path.child("dnsConfig");
    let config = spec.dns_config.as_deref();
    if spec.dns_policy == "None" {
        if config.is_none() {
            let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
            errors.push(FieldError::required(&path, detail));
        } else if config.is_some_and(|config| config.nameservers.is_empty()) {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(FieldError::required(&path.child("nameservers"), detail));
        }
    }
    let Some(config) = config else {
        return;
    };
    if config.nameservers.len() > 3 {
        let detail = "must not have more than 3 nameservers";
        let shown = kubist_apimachinery::BadValue::json(&config.nameservers);
        errors.push(FieldError::invalid(
            &path.child("nameservers"),
            shown,
            detail,
        ));
    }
    for (index, server) in config.nameservers.iter().enumerate() {
        super::address_rules::ip(errors, server, &path.child("nameservers").index(index));
    }
    for (index, search) in config.searches.iter().enumerate() {
        let search = if search == "." {
            ""
        } else {
            search.trim_end_matches('.')
        };
        if !search.is_empty() {
            let path = path.child("searches").index(index);
            rules::text(
                errors,
                &search.replace('_', "-"),
                &path,
                validate_name::dns1123_subdomain,
            );
        }
    }
    for (index, option) in config.options.iter().enumerate() {
        if option.name.is_empty() {
            let path = path.child("options").index(index);
            errors.push(FieldError::required(&path, "must not be empty"));
        }
    }
}

fn check_names(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    type Rule = fn(&str) -> Vec<String>;
    let subdomain: Rule = validate_name::dns1123_subdomain;
    let label: Rule = validate_name::dns1123_label;
    for (index, gate) in spec.readiness_gates.iter().enumerate() {
        let path = path
            .child("readinessGates")
            .index(index)
            .child("conditionType");
        rules::text(
            errors,
            &gate.condition_type,
            &path,
            validate_name::qualified_name,
        );
    }
    let mut gates = BTreeSet::new();
    for (index, gate) in spec.scheduling_gates.iter().enumerate() {
        let path = path.child("schedulingGates").index(index);
        rules::text(errors, &gate.name, &path, validate_name::qualified_name);
        if !gates.insert(&gate.name) {
            errors.push(FieldError::duplicate(&path, &gate.name));
        }
    }
    for (name, value, rule) in [
        ("serviceAccountName", &spec.service_account_name, subdomain),
        ("nodeName", &spec.node_name, subdomain),
        ("hostname", &spec.hostname, label),
        ("subdomain", &spec.subdomain, label),
        ("priorityClassName", &spec.priority_class_name, subdomain),
    ] {
        if !value.is_empty() {
            rules::text(errors, value, &path.child(name), rule);
        }
    }
    if let Some(name) = &spec.hostname_override {
        let path = path.child("hostnameOverride");
        rules::text(errors, name, &path, subdomain);
    }
    if let Some(class) = &spec.runtime_class_name {
        rules::text(errors, class, &path.child("runtimeClassName"), subdomain);
    }
}

/// Checks tolerations of Pods and runtime classes.
pub(super) fn check_tolerations(errors: &mut Errors, all: &[Toleration], path: &FieldPath) {
    for (index, toleration) in all.iter().enumerate() {
        let path = path.index(index);
        if !toleration.key.is_empty() {
            let path = path.child("key");
            rules::text(
                errors,
                &toleration.key,
                &path,
                validate_name::qualified_name,
            );
        }
        let operator = &toleration.operator;
        if toleration.key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all \
                          values and all keys\"";
            errors.push(FieldError::invalid(
                &path.child("operator"),
                operator,
                detail,
            ));
        }
        if toleration.toleration_seconds.is_some() && toleration.effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(
                &path.child("effect"),
                &toleration.effect,
                detail,
            ));
        }
        let at = path.child("operator");
        match operator.as_str() {
            "" | "Equal" => {
                rules::text(errors, &toleration.value, &at, validate_name::label_value);
            }
            "Exists" => {
                if !toleration.value.is_empty() {
                    let detail = "value must be empty when `operator` is 'Exists'";
                    errors.push(FieldError::invalid(&at, &toleration.value, detail));
                }
            }
            other => rules::one_of(errors, other, &["Equal", "Exists"], &at),
        }
        if !toleration.effect.is_empty() {
            let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            rules::one_of(
                errors,
                &toleration.effect,
                &supported,
                &path.child("effect"),
            );
        }
    }
}

fn check_host_aliases(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    for (index, alias) in spec.host_aliases.iter().enumerate() {
        let path = path.index(index);
        super::address_rules::ip(errors, &alias.ip, &path.child("ip"));
        for name in &alias.hostnames {
            let path = path.child("hostnames");
            rules::text(errors, name, &path, validate_name::dns1123_subdomain);
        }
    }
}
