//! The metadata of a changed object, checked once more: upstream does so for many kinds, before
//! or after it looks at the change.

use crate::shared::rules::Errors;
use kubist_apimachinery::{KubeObject, Resource, Scope};
use kubist_registry::{KindStrategy, validate_metadata_change, validate_named};

/// What is wrong with the metadata as if the object were new.
pub(crate) fn whole<S: KindStrategy>(strategy: &S, new: &S::Kind) -> Errors {
    let namespaced = <<S::Kind as Resource>::Scope as Scope>::NAMESPACED;
    let names = |name: &str, prefix: bool| strategy.name_problems(new, name, prefix);
    validate_named(new.metadata(), namespaced, &names, S::FACTS.metadata_rules)
}

/// What is wrong with the change of the metadata. The store finds that, and tells it first, for
/// all kinds that do not [check it](KindStrategy::checks_metadata) on their own.
pub(crate) fn change<S: KindStrategy>(_: &S, new: &S::Kind, old: &S::Kind) -> Errors {
    validate_metadata_change(new.metadata(), old.metadata(), S::FACTS.metadata_rules)
}
