//! IPAddresses, which record the allocation of service addresses.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, go_struct, metadata_checks};
use kubist_api::networking::v1::{IPAddress, ParentReference};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};
use kubist_registry::{KindStrategy, MetadataUpdate, NameRule, StrategyFacts};

#[derive(Debug)]
pub(crate) struct IpAddresses;

impl KindStrategy for IpAddresses {
    type Kind = IPAddress;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::Custom(address),
        metadata_on_update: MetadataUpdate::Whole,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &IPAddress) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("parentRef");
        match &new.spec.parent_ref {
            None => errors.push(FieldError::required(&path, "")),
            Some(parent) => check_parent(&mut errors, parent, &path),
        }
        errors
    }
    fn validate_update(&self, new: &IPAddress, old: &IPAddress) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let parents = (&new.spec.parent_ref, &old.spec.parent_ref);
        let path = FieldPath::new("spec").child("parentRef");
        rules::immutable_value(&mut errors, parents.0, parents.1, &path, |parent| {
            parent
                .as_deref()
                .map_or_else(BadValue::null, |it| go_struct::shown(it))
        });
        errors
    }
}

/// Checks that a name is an IP address in canonical form.
fn address(name: &str, _prefix: bool) -> Vec<String> {
    let mut errors = Errors::new();
    shared::addresses::canonical_ip(&mut errors, name, &FieldPath::ROOT);
    errors.iter().map(|it| it.detail.to_string()).collect()
}

fn check_parent(errors: &mut Errors, parent: &ParentReference, path: &FieldPath) {
    if !parent.group.is_empty() {
        let path = path.child("group");
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, &parent.group, &path, rule);
    }
    for (name, value) in [("resource", &parent.resource), ("name", &parent.name)] {
        let path = path.child(name);
        if rules::required(errors, value, &path) {
            rules::text(errors, value, &path, rules::path_segment);
        }
    }
    let path = path.child("namespace");
    rules::text(errors, &parent.namespace, &path, rules::path_segment);
}
