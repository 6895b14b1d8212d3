//! CSIStorageCapacities: the available capacity of a storage class in a topology segment.

use crate::shared::{self, metadata_checks, node_label_warnings, rules};
use kubist_api::storage::v1::CSIStorageCapacity;
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, validate_label_selector, validate_name,
};
use kubist_registry::{KindStrategy, MetadataUpdate, StrategyFacts};

#[derive(Debug)]
pub(crate) struct CsiStorageCapacities;

impl KindStrategy for CsiStorageCapacities {
    type Kind = CSIStorageCapacity;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn warnings(&self, new: &CSIStorageCapacity, _: Option<&CSIStorageCapacity>) -> Vec<String> {
        let Some(topology) = new.node_topology.as_deref() else {
            return Vec::new();
        };
        let path = FieldPath::new("nodeTopology");
        let mut found = Vec::new();
        for (index, it) in topology.match_expressions.iter().enumerate() {
            if let Some(message) = node_label_warnings::deprecated(&it.key) {
                let path = path.child("matchExpressions").index(index).child("key");
                found.push(format!("{path}: {} is {message}", it.key));
            }
        }
        for key in topology.match_labels.keys() {
            if let Some(message) = node_label_warnings::deprecated(key) {
                found.push(format!(
                    "{}: {message}",
                    path.child("matchLabels").child(key)
                ));
            }
        }
        found
    }
    fn validate(&self, new: &CSIStorageCapacity) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let Some(selector) = &new.node_topology {
            let path = FieldPath::new("nodeTopology");
            errors.extend(validate_label_selector(selector, &path, false));
        }
        let path = FieldPath::new("storageClassName");
        let rule = validate_name::dns1123_subdomain;
        rules::text(&mut errors, &new.storage_class_name, &path, rule);
        if let Some(capacity) = &new.capacity {
            let path = FieldPath::new("capacity");
            shared::resources::non_negative(&mut errors, capacity, &path);
        }
        errors
    }
    fn validate_update(
        &self,
        new: &CSIStorageCapacity,
        old: &CSIStorageCapacity,
    ) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let topologies = (&new.node_topology, &old.node_topology);
        let path = FieldPath::new("nodeTopology");
        rules::immutable_value(&mut errors, topologies.0, topologies.1, &path, |it| {
            it.as_deref()
                .map_or_else(BadValue::null, |it| rules::shown(it))
        });
        let classes = (&new.storage_class_name, &old.storage_class_name);
        let path = FieldPath::new("storageClassName");
        rules::immutable_value(&mut errors, classes.0, classes.1, &path, Into::into);
        errors
    }
}
