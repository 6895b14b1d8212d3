//! Behaviour of `kubist-cel`, and its comparison with Kubernetes' own CEL.

mod composition;
mod depth;
mod encoding;
mod errors;
mod evaluation;
mod fixture;
mod libraries;
mod patches;
mod program;
mod random;
mod rules;
mod type_checks;
mod upstream;
mod upstream_libraries;
mod upstream_policies;
mod upstream_rules;
mod views;
