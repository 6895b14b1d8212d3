//! Nodes.

use crate::{KindStrategy, RequestContext, StatusKeeps};
use kubist_api::core::v1::Node;
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;

use super::rules;
use super::{address_rules, resource_rules};

#[derive(Debug)]
pub(super) struct Nodes;

impl KindStrategy for Nodes {
    type Kind = Node;

    fn apply_defaults(&self, object: &mut Node) {
        // The older field is the first of the newer.
        let spec = &mut object.spec;
        if spec.pod_cidrs.is_empty() && !spec.pod_cidr.is_empty() {
            spec.pod_cidrs.push(spec.pod_cidr.clone());
        }
        if let Some(first) = spec.pod_cidrs.first() {
            spec.pod_cidr = first.clone();
        }
        if object.status.allocatable.is_empty() {
            object
                .status
                .allocatable
                .clone_from(&object.status.capacity);
        }
    }
    /// Kubelets create their nodes with the status.
    fn keeps_status_on_create(&self) -> bool {
        true
    }
    fn validate(&self, new: &Node) -> Vec<FieldError> {
        let mut errors = Vec::new();
        // Upstream's path is wrong, and clients know it so.
        let path = FieldPath::new("metadata").child("taints");
        let mut seen = BTreeSet::new();
        for (index, taint) in new.spec.taints.iter().enumerate() {
            let path = path.index(index);
            let at = path.child("key");
            rules::text(&mut errors, &taint.key, &at, validate_name::qualified_name);
            let at = path.child("value");
            rules::text(&mut errors, &taint.value, &at, validate_name::label_value);
            match taint.effect.as_str() {
                "" => errors.push(FieldError::required(&path.child("effect"), "")),
                effect => {
                    let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
                    rules::one_of(&mut errors, effect, &supported, &path.child("effect"));
                }
            }
            if !seen.insert((&taint.key, &taint.effect)) {
                let shown = super::go_struct::shown(taint);
                errors.push(FieldError::duplicate(&path, shown));
            }
        }
        let status = FieldPath::new("status");
        resource_rules::check_list(&mut errors, &new.status.capacity, &status.child("capacity"));
        let path = FieldPath::new("spec").child("podCIDRs");
        for (index, range) in new.spec.pod_cidrs.iter().enumerate() {
            address_rules::cidr(&mut errors, range, &path.index(index));
        }
        errors
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Node, old: &Node) {
        new.status = old.status.clone();
    }
    fn validate_update(&self, new: &Node, old: &Node) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec");
        let ids = (&new.spec.provider_id, &old.spec.provider_id);
        if *ids.1 != Str::default() && ids.0 != ids.1 {
            let detail = "node updates may not change providerID except from \"\" to valid";
            errors.push(FieldError::forbidden(&path.child("providerID"), detail));
        }
        if !old.spec.pod_cidrs.is_empty() && new.spec.pod_cidrs != old.spec.pod_cidrs {
            let detail = "node updates may not change podCIDR except from \"\" to valid";
            errors.push(FieldError::forbidden(&path.child("podCIDRs"), detail));
        }
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn selectable_fields(&self) -> &'static [&'static str] {
        &["spec.unschedulable"]
    }
}
