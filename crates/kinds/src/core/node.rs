//! Nodes.

pub(crate) mod config;

use crate::shared::rules::{self, Errors};
use crate::shared::{self, address_warnings, fill, go_struct, metadata_checks};
use kubist_api::core::v1::{Node, NodeSpec, NodeStatus};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, RequestContext, StatusKeeps, Strategy, StrategyFacts,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct Nodes;

/// The maximum length of a feature name, in bytes: that of a DNS subdomain.
const FEATURE_BYTES_MAX: usize = 253;
/// The maximum number of Pod CIDRs: one of each IP family.
const RANGES_MAX: usize = 2;

impl KindStrategy for Nodes {
    type Kind = Node;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        // Kubelets create their nodes with the status set.
        keeps_status_on_create: true,
        status_keeps: StatusKeeps::Nothing,
        selectable_fields: &["spec.unschedulable"],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(NodesStatus))
    }
    fn apply_defaults(&self, object: &mut Node) {
        // The older field mirrors the first entry of the newer one, and takes precedence if they
        // differ.
        let spec = &mut object.spec;
        if !spec.pod_cidr.is_empty() && spec.pod_cidrs.first() != Some(&spec.pod_cidr) {
            spec.pod_cidrs = vec![spec.pod_cidr.clone()];
        }
        if let Some(first) = spec.pod_cidrs.first() {
            spec.pod_cidr = first.clone();
        }
        let status = &mut object.status;
        if status.allocatable.is_empty() {
            status.allocatable.clone_from(&status.capacity);
        }
        fill::round(&mut status.capacity);
        fill::round(&mut status.allocatable);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut Node) {
        // Kubelets are no longer configured through their nodes.
        new.spec.config_source = None;
        new.status.config = None;
    }
    fn warnings(&self, new: &Node, _: Option<&Node>) -> Vec<String> {
        let path = FieldPath::new("spec");
        let mut found = Vec::new();
        if !new.spec.external_id.is_empty() {
            let path = path.child("externalID");
            found.push(format!(
                "{path}: this field is deprecated, and is unused by Kubernetes"
            ));
        }
        for (index, range) in new.spec.pod_cidrs.iter().enumerate() {
            address_warnings::cidr(&mut found, range, &path.child("podCIDRs").index(index));
        }
        found
    }
    fn validate(&self, new: &Node) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_taints(&mut errors, &new.spec);
        check_resources(&mut errors, &new.status);
        let swap = new.status.node_info.swap.as_deref();
        if let Some(capacity) = swap.and_then(|it| it.capacity).filter(|&it| it <= 0) {
            // Upstream's path.
            let path = FieldPath::new("metadata")
                .child("nodeSwapStatus")
                .child("capacity");
            errors.push(FieldError::invalid(
                &path,
                capacity,
                "must be greater than 0",
            ));
        }
        check_features(&mut errors, &new.status);
        check_ranges(&mut errors, &new.spec.pod_cidrs);
        errors
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Node, old: &Node) {
        new.status = old.status.clone();
        if old.spec.config_source.is_none() {
            new.spec.config_source = None;
        }
    }
    fn validate_update(&self, new: &Node, old: &Node) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        check_change(&mut errors, new, old);
        errors
    }
}

/// The status strategy of [`Nodes`].
#[derive(Debug)]
struct NodesStatus;

impl KindStrategy for NodesStatus {
    type Kind = Node;

    fn prepare_for_update(&self, _: &RequestContext, new: &mut Node, old: &Node) {
        if old.status.config.is_none() {
            new.status.config = None;
        }
    }
    fn validate_update(&self, new: &Node, old: &Node) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_change(&mut errors, new, old);
        errors
    }
}

/// Checks a change, including changes of the status.
fn check_change(errors: &mut Errors, new: &Node, old: &Node) {
    let (now, before) = (&new.spec, &old.spec);
    let path = FieldPath::new("spec");
    check_resources(errors, &new.status);
    check_features(errors, &new.status);
    let addresses = new.status.addresses.iter();
    let repeated = rules::repeats(addresses.map(|it| (&it.type_, &it.address)));
    for (index, address) in new.status.addresses.iter().enumerate() {
        if repeated[index] {
            let path = FieldPath::new("status").child("addresses").index(index);
            errors.push(FieldError::duplicate(&path, go_struct::shown(address)));
        }
    }
    if !before.pod_cidrs.is_empty() {
        let changes = if before.pod_cidrs.len() == now.pod_cidrs.len() {
            let pairs = now.pod_cidrs.iter().zip(&before.pod_cidrs);
            pairs.filter(|(now, before)| now != before).count()
        } else {
            1
        };
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        for _ in 0..changes {
            errors.push(FieldError::forbidden(&path.child("podCIDRs"), detail));
        }
    }
    if !before.provider_id.is_empty() && now.provider_id != before.provider_id {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.push(FieldError::forbidden(&path.child("providerID"), detail));
    }
    config::check(errors, new);
    check_taints(errors, now);
    if now.external_id != before.external_id {
        let path = path.child("externalID");
        errors.push(FieldError::forbidden(&path, "may not be updated"));
    }
}

fn check_taints(errors: &mut Errors, spec: &NodeSpec) {
    // Upstream's path is wrong, but clients know it in this form.
    let path = FieldPath::new("metadata").child("taints");
    let mut seen = BTreeSet::new();
    for (index, taint) in spec.taints.iter().enumerate() {
        let path = path.index(index);
        let at = path.child("key");
        rules::text(errors, &taint.key, &at, validate_name::qualified_name);
        let problems = validate_name::label_value(&taint.value);
        if !problems.is_empty() {
            let path = path.child("value");
            errors.push(FieldError::invalid(&path, &taint.value, problems.join(";")));
        }
        match taint.effect.as_str() {
            "" => errors.push(FieldError::required(&path.child("effect"), "")),
            effect => {
                let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
                rules::one_of(errors, effect, &supported, &path.child("effect"));
            }
        }
        if !seen.insert((&taint.key, &taint.effect)) {
            let mut error = FieldError::duplicate(&path, go_struct::shown(taint));
            error.detail = "taints must be unique by key and effect pair".into();
            errors.push(error);
        }
    }
}

fn check_resources(errors: &mut Errors, status: &NodeStatus) {
    let path = FieldPath::new("status");
    for (name, amounts) in [
        ("capacity", &status.capacity),
        ("allocatable", &status.allocatable),
    ] {
        for (resource, amount) in amounts {
            // Upstream's paths have the resource as a field.
            let path = path.child(name).child(resource);
            shared::resources::check_amount(errors, resource, amount, &path);
        }
    }
}

/// Checks the features that the node declares: sorted and without duplicates.
fn check_features(errors: &mut Errors, status: &NodeStatus) {
    let path = FieldPath::new("status").child("declaredFeatures");
    let features = &status.declared_features;
    for (index, feature) in features.iter().enumerate() {
        if let Some(problem) = feature_problem(feature) {
            errors.push(FieldError::invalid(&path.index(index), feature, problem));
        }
        let Some(next) = features.get(index + 1) else {
            continue;
        };
        let path = path.index(index + 1);
        match feature.cmp(next) {
            Ordering::Less => {}
            Ordering::Equal => errors.push(FieldError::duplicate(&path, next)),
            Ordering::Greater => {
                let detail = "list must be sorted alphabetically";
                errors.push(FieldError::invalid(&path, next, detail));
            }
        }
    }
}

/// Checks a feature name: camel case, with sub-features separated by slashes.
fn feature_problem(name: &str) -> Option<String> {
    if name.len() > FEATURE_BYTES_MAX {
        let max = FEATURE_BYTES_MAX;
        return Some(format!(
            "invalid feature name {name:?}: must be no more than {max} characters"
        ));
    }
    let begins = |part: &str| part.starts_with(|it: char| it.is_ascii_alphabetic());
    let plain = |part: &str| part.bytes().all(|it| it.is_ascii_alphanumeric());
    let fits = name.split('/').all(|part| begins(part) && plain(part));
    if fits && name.starts_with(|it: char| it.is_ascii_uppercase()) {
        return None;
    }
    Some(format!(
        "invalid feature name {name:?}: must start with an UpperCamelCase segment, with subsequent \
         segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only \
         alphanumeric characters and slashes"
    ))
}

/// Checks the Pod CIDRs: at most one of each IP family.
fn check_ranges(errors: &mut Errors, ranges: &[Str]) {
    let path = FieldPath::new("spec").child("podCIDRs");
    for (index, range) in ranges.iter().enumerate() {
        shared::addresses::cidr(errors, range, &path.index(index));
    }
    if ranges.len() < 2 {
        return;
    }
    let parsed = ranges.iter().map(|it| shared::addresses::parse_cidr(it));
    let parsed: Vec<_> = parsed.collect();
    if let Some(at) = parsed.iter().position(Option::is_none) {
        let detail = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: \
             <nil> (invalid CIDR address: {})",
            ranges[at]
        );
        errors.push(FieldError::internal(&path, detail));
    }
    let of_ipv4: Vec<bool> = parsed
        .iter()
        .flatten()
        .map(|(address, _)| address.is_ipv4())
        .collect();
    let both = of_ipv4.len() == ranges.len() && of_ipv4.contains(&true) && of_ipv4.contains(&false);
    if !both || ranges.len() > RANGES_MAX {
        let detail = "may specify no more than one CIDR for each IP family";
        errors.push(FieldError::invalid(&path, rules::list(ranges), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(change: impl FnOnce(&mut Node)) -> Vec<String> {
        let mut node = Node::default();
        change(&mut node);
        let errors = Nodes.validate(&node);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_older_field_for_the_range_of_pods_wins() {
        let mut node = Node::default();
        node.spec.pod_cidr = "10.1.0.0/24".into();
        node.spec.pod_cidrs = vec!["10.2.0.0/24".into(), "fd00::/64".into()];
        Nodes.apply_defaults(&mut node);
        assert_eq!(node.spec.pod_cidrs, ["10.1.0.0/24"]);
    }

    #[test]
    fn there_is_one_range_of_each_family() {
        let both = ["10.1.0.0/24", "fd00::/64"].map(Str::from);
        assert_eq!(problems(|it| it.spec.pod_cidrs.extend(both)), [""; 0]);
        let same = ["10.1.0.0/24", "10.2.0.0/24"].map(Str::from);
        assert_eq!(
            problems(|it| it.spec.pod_cidrs.extend(same)),
            [
                "spec.podCIDRs: Invalid value: [\"10.1.0.0/24\",\"10.2.0.0/24\"]: may specify no \
              more than one CIDR for each IP family"
            ]
        );
    }

    #[test]
    fn features_are_sorted_and_named_in_camel_case() {
        let features = |names: [&str; 2]| {
            let names = names.map(Str::from);
            problems(|it| it.status.declared_features.extend(names))
        };
        assert_eq!(features(["First", "Second/part"]), [""; 0]);
        assert_eq!(
            features(["Second", "First"]),
            [
                "status.declaredFeatures[1]: Invalid value: \"First\": list must be sorted \
                 alphabetically"
            ]
        );
        assert_eq!(
            features(["First", "First"]),
            ["status.declaredFeatures[1]: Duplicate value: \"First\""]
        );
        assert!(features(["First", "second"])[0].contains("UpperCamelCase"));
    }
}
