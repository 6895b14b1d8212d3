//! StorageClasses.

use crate::shared::rules::{self, Errors};
use crate::shared::{fill, metadata_checks, node_label_warnings};
use kubist_api::core::v1::TopologySelectorTerm;
use kubist_api::storage::v1::StorageClass;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};
use kubist_registry::{KindStrategy, MetadataUpdate, StrategyFacts};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of parameters.
const PARAMETERS_MAX: usize = 512;
/// The maximum total size of parameter keys and values in bytes.
const PARAMETERS_BYTES_MAX: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct StorageClasses;

impl KindStrategy for StorageClasses {
    type Kind = StorageClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut StorageClass) {
        fill::option(&mut object.reclaim_policy, "Delete");
        fill::option(&mut object.volume_binding_mode, "Immediate");
    }
    fn warnings(&self, new: &StorageClass, _: Option<&StorageClass>) -> Vec<String> {
        let path = FieldPath::new("allowedTopologies");
        let mut found = Vec::new();
        for (index, term) in new.allowed_topologies.iter().enumerate() {
            let path = path.index(index).child("matchLabelExpressions");
            for (index, it) in term.match_label_expressions.iter().enumerate() {
                if let Some(message) = node_label_warnings::deprecated(&it.key) {
                    found.push(format!("{}: {message}", path.index(index).child("key")));
                }
            }
        }
        found
    }
    fn validate(&self, new: &StorageClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_provisioner(&mut errors, &new.provisioner, "provisioner");
        check_parameters(&mut errors, &new.parameters, true);
        let policies = ["Delete", "Retain"];
        if let Some(policy) = new.reclaim_policy.as_ref().filter(|it| !it.is_empty()) {
            let path = FieldPath::new("reclaimPolicy");
            rules::one_of(&mut errors, policy, &policies, &path);
        }
        let path = FieldPath::new("volumeBindingMode");
        match &new.volume_binding_mode {
            None => errors.push(FieldError::required(&path, "")),
            Some(mode) => {
                let modes = ["Immediate", "WaitForFirstConsumer"];
                rules::one_of(&mut errors, mode, &modes, &path);
            }
        }
        check_topologies(&mut errors, &new.allowed_topologies);
        errors
    }
    fn validate_update(&self, new: &StorageClass, old: &StorageClass) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let mut frozen = |name: &str, changed: bool, shown: BadValue| {
            if changed {
                let path = FieldPath::new(name);
                errors.push(FieldError::invalid(&path, shown, "field is immutable"));
            }
        };
        let shown = |text: &Option<Str>| text.as_ref().map_or_else(BadValue::null, BadValue::json);
        frozen(
            "parameters",
            new.parameters != old.parameters,
            if new.parameters.is_empty() {
                BadValue::null()
            } else {
                BadValue::json(&new.parameters)
            },
        );
        frozen(
            "provisioner",
            new.provisioner != old.provisioner,
            BadValue::from(&new.provisioner),
        );
        frozen(
            "reclaimPolicy",
            new.reclaim_policy != old.reclaim_policy,
            shown(&new.reclaim_policy),
        );
        frozen(
            "volumeBindingMode",
            new.volume_binding_mode != old.volume_binding_mode,
            shown(&new.volume_binding_mode),
        );
        errors
    }
}

/// Checks the name of a driver, in any letter case.
pub(crate) fn check_provisioner(errors: &mut Errors, name: &str, field: &str) {
    let path = FieldPath::new(field);
    if rules::required(errors, name, &path) {
        let lower = name.to_lowercase();
        rules::text(errors, &lower, &path, validate_name::qualified_name);
    }
}

/// Checks the parameters for a driver.
pub(crate) fn check_parameters(
    errors: &mut Errors,
    parameters: &BTreeMap<Str, Str>,
    may_be_empty: bool,
) {
    let path = FieldPath::new("parameters");
    if parameters.len() > PARAMETERS_MAX {
        errors.push(FieldError::too_long(&path, PARAMETERS_MAX));
        return;
    }
    for key in parameters.keys().filter(|key| key.is_empty()) {
        errors.push(FieldError::invalid(&path, key, "field can not be empty."));
    }
    let bytes: usize = parameters
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    if bytes > PARAMETERS_BYTES_MAX {
        errors.push(FieldError::too_long(&path, PARAMETERS_BYTES_MAX));
    }
    if parameters.is_empty() && !may_be_empty {
        let detail = "must contain at least one key/value pair";
        errors.push(FieldError::required(&path, detail));
    }
}

/// The maximum number of reported duplicates. Upstream reports each pair.
const DUPLICATES_MAX: usize = 10_000;

fn check_topologies(errors: &mut Errors, terms: &[TopologySelectorTerm]) {
    let path = FieldPath::new("allowedTopologies");
    let mut seen: BTreeMap<BTreeMap<&Str, BTreeSet<&Str>>, usize> = BTreeMap::new();
    for (index, term) in terms.iter().enumerate() {
        let path = path.index(index).child("matchLabelExpressions");
        let mut expressions = BTreeMap::new();
        for (index, requirement) in term.match_label_expressions.iter().enumerate() {
            let path = path.index(index);
            let values_path = path.child("values");
            if requirement.values.is_empty() {
                errors.push(FieldError::required(&values_path, ""));
            }
            let mut values = BTreeSet::new();
            for (index, value) in requirement.values.iter().enumerate() {
                if !values.insert(value) {
                    errors.push(FieldError::duplicate(&values_path.index(index), value));
                }
            }
            let key = &requirement.key;
            let at = path.child("key");
            rules::text(errors, key, &at, validate_name::qualified_name);
            if expressions.insert(key, values).is_some() {
                errors.push(FieldError::duplicate(&at, key));
            }
        }
        // Upstream also compares with as many empty terms as there are terms. A term without
        // expressions is a duplicate of each.
        let absent = if expressions.is_empty() {
            terms.len()
        } else {
            0
        };
        let before = seen.entry(expressions).or_default();
        let room = DUPLICATES_MAX.saturating_sub(errors.len());
        let same = (*before + absent).min(room);
        *before += 1;
        errors.extend(std::iter::repeat_n(FieldError::duplicate(&path, ""), same));
    }
}
