//! Repeated validation of metadata on update. Upstream does this for many kinds, before or after it
//! validates the change.

use crate::shared::rules::Errors;
use kubist_apimachinery::{KubeObject, Resource, Scope};
use kubist_registry::{KindStrategy, validate_metadata_change, validate_named};

/// Checks the metadata as if the object were new.
pub(crate) fn whole<S: KindStrategy>(strategy: &S, new: &S::Kind) -> Errors {
    let namespaced = <<S::Kind as Resource>::Scope as Scope>::NAMESPACED;
    let names = |name: &str, prefix: bool| strategy.name_problems(new, name, prefix);
    validate_named(new.metadata(), namespaced, &names, S::FACTS.metadata_rules)
}

/// Checks the change of the metadata. The store reports these errors first for all kinds that do
/// not [check it](KindStrategy::checks_metadata) themselves.
pub(crate) fn change<S: KindStrategy>(_: &S, new: &S::Kind, old: &S::Kind) -> Errors {
    validate_metadata_change(new.metadata(), old.metadata(), S::FACTS.metadata_rules)
}
