//! Strategies of kinds that need no code: their generation rules, name rules and selectable fields.

use kubist_registry::{Generation, PlainStrategy, Strategy, StrategyFacts};
use std::sync::Arc;

/// Resources whose generation counts spec changes, and whose DELETE returns the object: group and
/// plural.
const WITH_GENERATION: [(&str, &str); 2] = [
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceslices"),
];

/// The selectable fields of ResourceSlices.
const FIELDS_OF_SLICES: &[&str] = &["spec.driver", "spec.nodeName"];

/// Returns the strategy of a resource without its own.
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
