//! Kinds that need no code: what moves their generation, what their names look like.

use crate::{Generation, NameRule, PlainStrategy, Strategy};
use std::sync::Arc;

/// Resources whose generation counts changes of the spec: group and plural.
const WITH_GENERATION: [(&str, &str); 2] = [
    ("resource.k8s.io", "devicetaintrules"),
    ("resource.k8s.io", "resourceslices"),
];

/// The strategy of a resource that has none of its own.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    let generation = if WITH_GENERATION.contains(&(group, plural)) {
        Generation::Spec
    } else {
        Generation::None
    };
    Arc::new(PlainStrategy {
        generation,
        name_rule: NameRule::DnsSubdomain,
        fields: &[],
    })
}
