//! ResourceSlices. Validated is what decides whose they are: pool, driver and nodes. Devices and
//! counters are not.

use crate::shared::rules;
use kubist_api::resource::v1::{ResourceSlice, ResourceSliceSpec};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, StatusKeeps, StrategyFacts};

#[derive(Debug)]
pub(crate) struct ResourceSlices;

const ONE_OF: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, \
                      `perDeviceNodeSelection` is required";
const UNSET_OR_TRUE: &str = "must be either unset or set to true";

impl KindStrategy for ResourceSlices {
    type Kind = ResourceSlice;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Most,
        generation: Generation::Spec,
        returns_deleted: true,
        selectable_fields: &["spec.driver", "spec.nodeName"],
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &ResourceSlice) -> Vec<FieldError> {
        problems(&new.spec, None)
    }

    /// A node may write its own slices only, so a slice must stay with its node.
    fn validate_update(&self, new: &ResourceSlice, old: &ResourceSlice) -> Vec<FieldError> {
        problems(&new.spec, Some(&old.spec))
    }
}

fn problems(spec: &ResourceSliceSpec, old: Option<&ResourceSliceSpec>) -> Vec<FieldError> {
    let (mut errors, path) = (Vec::new(), FieldPath::new("spec"));
    if let Some(old) = old {
        let node = |it: &ResourceSliceSpec| it.node_name.clone().unwrap_or_default();
        for (path, new, old) in [
            (
                path.child("pool").child("name"),
                spec.pool.name.clone(),
                old.pool.name.clone(),
            ),
            (
                path.child("driver"),
                spec.driver.clone(),
                old.driver.clone(),
            ),
            (path.child("nodeName"), node(spec), node(old)),
        ] {
            if new != old {
                errors.push(FieldError::invalid(&path, &new, rules::IMMUTABLE));
            }
        }
    }
    if spec.node_name.as_ref().is_some_and(|it| it.is_empty()) {
        let why = "must be either unset or set to a non-empty string";
        errors.push(FieldError::invalid(&path.child("nodeName"), "", why));
    }
    for (field, said) in [
        ("allNodes", spec.all_nodes),
        ("perDeviceNodeSelection", spec.per_device_node_selection),
    ] {
        if said == Some(false) {
            errors.push(FieldError::invalid(
                &path.child(field),
                false,
                UNSET_OR_TRUE,
            ));
        }
    }
    let set = [
        (
            "`nodeName`",
            spec.node_name.as_ref().is_some_and(|it| !it.is_empty()),
        ),
        ("`nodeSelector`", spec.node_selector.is_some()),
        ("`allNodes`", spec.all_nodes == Some(true)),
        (
            "`perDeviceNodeSelection`",
            spec.per_device_node_selection == Some(true),
        ),
    ];
    let set: Vec<&str> = set.iter().filter(|it| it.1).map(|it| it.0).collect();
    match set.len() {
        0 => errors.push(FieldError::required(&path, ONE_OF)),
        1 => {}
        _ => {
            let why = format!("{ONE_OF}, but multiple fields are set");
            let shown = format!("{{{}}}", set.join(", "));
            errors.push(FieldError::invalid(&path, &shown, why));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(node: &str) -> ResourceSlice {
        let mut slice = ResourceSlice::default();
        slice.spec.node_name = Some(node.into());
        slice.spec.driver = "gpu.example.com".into();
        slice.spec.pool.name = "pool".into();
        slice
    }

    fn said(new: &ResourceSlice, old: &ResourceSlice) -> Vec<String> {
        let errors = ResourceSlices.validate_update(new, old);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_slice_stays_with_its_node_driver_and_pool() {
        let old = slice("a");
        assert_eq!(said(&old, &old), [""; 0]);
        assert_eq!(
            said(&slice("b"), &old),
            ["spec.nodeName: Invalid value: \"b\": field is immutable"]
        );
        let mut everywhere = old.clone();
        everywhere.spec.node_name = None;
        everywhere.spec.all_nodes = Some(true);
        assert_eq!(
            said(&everywhere, &old),
            ["spec.nodeName: Invalid value: \"\": field is immutable"]
        );
        let mut both = old.clone();
        both.spec.all_nodes = Some(true);
        both.spec.driver = "other.example.com".into();
        assert_eq!(said(&both, &old).len(), 2);
    }
}
