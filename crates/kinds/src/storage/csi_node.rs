//! CSINodes: the CSI drivers on a node.

use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::storage::v1::{CSINode, CSINodeDriver};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use kubist_registry::{KindStrategy, MetadataUpdate, StrategyFacts};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct CsiNodes;

/// The maximum size of a driver's node ID in bytes.
const NODE_ID_MAX: usize = 256;

impl KindStrategy for CsiNodes {
    type Kind = CSINode;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        allow_unconditional_update: false,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &CSINode) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("drivers");
        let mut names = BTreeSet::new();
        for (index, driver) in new.spec.drivers.iter().enumerate() {
            let path = path.index(index);
            check_driver(&mut errors, driver, &path);
            if !names.insert(&driver.name) {
                errors.push(FieldError::duplicate(&path.child("name"), &driver.name));
            }
        }
        errors
    }
    fn validate_update(&self, new: &CSINode, old: &CSINode) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec").child("drivers");
        // The allocatable volume count may change.
        let rest = |driver: &CSINodeDriver| CSINodeDriver {
            allocatable: None,
            ..driver.clone()
        };
        let mut named: BTreeMap<&Str, Vec<&CSINodeDriver>> = BTreeMap::new();
        for driver in &new.spec.drivers {
            named.entry(&driver.name).or_default().push(driver);
        }
        for before in &old.spec.drivers {
            for &now in named.get(&before.name).into_iter().flatten() {
                if rest(now) != rest(before) {
                    let shown = go_struct::shown(&rest(now));
                    errors.push(FieldError::invalid(&path, shown, "field is immutable"));
                }
            }
        }
        errors
    }
}

fn check_driver(errors: &mut Errors, driver: &CSINodeDriver, path: &FieldPath) {
    rules::csi_driver_name(errors, &driver.name, &path.child("name"));
    let id = path.child("nodeID");
    rules::required(errors, &driver.node_id, &id);
    if driver.node_id.len() > NODE_ID_MAX {
        let detail = format!("must be {NODE_ID_MAX} characters or less");
        errors.push(FieldError::invalid(&id, &driver.node_id, detail));
    }
    if let Some(allocatable) = &driver.allocatable {
        let path = path.child("allocatable").child("count");
        rules::optional_non_negative(errors, allocatable.count, &path);
    }
    let mut keys = BTreeSet::new();
    for key in &driver.topology_keys {
        rules::required(errors, key, path);
        if !keys.insert(key) {
            errors.push(FieldError::duplicate(path, key));
        }
        rules::text(errors, key, path, validate_name::qualified_name);
    }
}
