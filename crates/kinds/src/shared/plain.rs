//! Strategies of kinds that need no code: their reset fields.

use kubist_registry::{PlainStrategy, ResetFields, StatusKeeps, Strategy, StrategyFacts};
use std::sync::Arc;

/// The facts of a resource without its own strategy.
const PLAIN: StrategyFacts = StrategyFacts {
    status_keeps: StatusKeeps::Most,
    ..StrategyFacts::PLAIN
};

/// Returns the strategy of a resource without its own.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    if (group, plural) == ("certificates.k8s.io", "podcertificaterequests") {
        return Arc::new(PodCertificateRequests);
    }
    let mut facts = PLAIN;
    if (group, plural) == ("scheduling.k8s.io", "podgroups") {
        // Upstream resets the status without declaring it.
        facts.reset_fields = ResetFields::Paths(&[]);
    }
    Arc::new(PlainStrategy(facts))
}

/// PodCertificateRequests. Upstream declares fewer reset fields than it resets.
#[derive(Debug)]
struct PodCertificateRequests;

impl Strategy for PodCertificateRequests {
    fn facts(&self) -> &StrategyFacts {
        &StrategyFacts {
            reset_fields: ResetFields::Paths(&[]),
            ..PLAIN
        }
    }

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        const STATUS: &PlainStrategy = &PlainStrategy(StrategyFacts {
            reset_fields: ResetFields::Paths(&[&["spec"]]),
            ..PLAIN
        });
        (name == "status").then_some(STATUS)
    }
}
