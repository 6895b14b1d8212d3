//! Kinds of `admissionregistration.k8s.io`.

pub(crate) mod admission_policy;
mod expressions;
mod matching;
pub(crate) mod webhook;
pub(crate) mod webhook_configuration;

use kubist_registry::{Generation, MetadataRules, MetadataUpdate, StrategyFacts};

/// Facts that all kinds of the group share.
pub(crate) const FACTS: &StrategyFacts = &StrategyFacts {
    metadata_rules: MetadataRules::Lenient,
    metadata_on_update: MetadataUpdate::Whole,
    generation: Generation::Spec,
    allow_unconditional_update: false,
    ..StrategyFacts::PLAIN
};
