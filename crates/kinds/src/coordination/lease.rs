//! Leases.

use crate::shared::rules;
use kubist_api::coordination::v1::Lease;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{KindStrategy, MetadataRules, RequestContext, StrategyFacts};

#[derive(Debug)]
pub(crate) struct Leases;

impl KindStrategy for Leases {
    type Kind = Lease;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Lenient,
        allow_create_on_update: true,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    // Upstream's feature gate for both fields (CoordinatedLeaderElection) is off by default.
    fn prepare_for_create(&self, _: &RequestContext, new: &mut Lease) {
        new.spec.strategy = None;
        new.spec.preferred_holder = None;
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Lease, old: &Lease) {
        if old.spec.strategy.is_none() {
            new.spec.strategy = None;
        }
        if old.spec.preferred_holder.is_none() {
            new.spec.preferred_holder = None;
        }
    }
    fn validate(&self, new: &Lease) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        if let Some(seconds) = new.spec.lease_duration_seconds.filter(|&it| it <= 0) {
            let path = path.child("leaseDurationSeconds");
            errors.push(FieldError::invalid(
                &path,
                seconds,
                "must be greater than 0",
            ));
        }
        let path = path.child("leaseTransitions");
        rules::optional_non_negative(&mut errors, new.spec.lease_transitions, &path);
        errors
    }
}
