//! Kinds that need no code: what moves their generation, what their names look like, what they can
//! be selected by.

use kubist_registry::{Generation, PlainStrategy, Strategy, StrategyFacts};
use std::sync::Arc;

/// Resources whose generation counts changes of the spec, and whose DELETE answers with the object:
/// group and plural.
const WITH_GENERATION: [(&str, &str); 2] = [
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceslices"),
];

/// What ResourceSlices can be selected by.
const FIELDS_OF_SLICES: &[&str] = &["spec.driver", "spec.nodeName"];

/// The strategy of a resource that has none of its own.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    let mut facts = StrategyFacts::PLAIN;
    if WITH_GENERATION.contains(&(group, plural)) {
        facts.generation = Generation::Spec;
        facts.returns_deleted = true;
    }
    if (group, plural) == ("resource.k8s.io", "resourceslices") {
        facts.selectable_fields = FIELDS_OF_SLICES;
    }
    Arc::new(PlainStrategy(facts))
}
