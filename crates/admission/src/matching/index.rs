//! `ResourceIndex`: which resources are matched by any rule, so that all others cost nothing.
//!
//! A resource is found by its plural name alone: equivalent versions have the same one in all of
//! their groups.

use super::rule::{Operations, Rule};
use hashbrown::HashMap;
use kubist_apimachinery::Str;

/// The resources and operations that rules name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResourceIndex {
    /// The operations that are matched for every resource.
    any: Operations,
    by_plural: HashMap<Str, Operations>,
}

impl ResourceIndex {
    /// Adds a rule.
    pub(crate) fn add(&mut self, rule: &Rule) {
        for plural in rule.resources() {
            let of = match plural {
                "*" => &mut self.any,
                plural => self.by_plural.entry(plural.into()).or_default(),
            };
            *of = of.with(rule.operations());
        }
    }

    /// Adds every resource and operation: what has no rules matches everything.
    pub(crate) fn add_everything(&mut self) {
        self.any = Operations::EVERY;
    }

    /// Reports whether a rule may match an operation on a resource or on a subresource of it.
    pub(crate) fn may_match(&self, plural: &str, operation: Operations) -> bool {
        let of = || self.by_plural.get(plural).copied().unwrap_or_default();
        self.any.meets(operation) || of().meets(operation)
    }
}
