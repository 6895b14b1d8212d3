//! ServiceAccounts.

use kubist_api::core::v1::{ObjectReference, ServiceAccount};
use kubist_apimachinery::FieldError;
use kubist_registry::{KindStrategy, RequestContext, StrategyFacts, validate_metadata};

#[derive(Debug)]
pub(crate) struct ServiceAccounts;

impl KindStrategy for ServiceAccounts {
    type Kind = ServiceAccount;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn prepare_for_create(&self, _: &RequestContext, new: &mut ServiceAccount) {
        keep_secret_names(new);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut ServiceAccount, _: &ServiceAccount) {
        keep_secret_names(new);
    }
    fn warnings(&self, new: &ServiceAccount, old: Option<&ServiceAccount>) -> Vec<String> {
        const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";
        let has = |account: &ServiceAccount| account.metadata.annotations.contains_key(ENFORCE);
        if !has(new) || old.is_some_and(has) {
            return Vec::new();
        }
        vec![format!(
            "metadata.annotations[{ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to \
             isolate access to mounted secrets"
        )]
    }
    fn validate_update(&self, new: &ServiceAccount, _: &ServiceAccount) -> Vec<FieldError> {
        // Upstream validates the metadata a second time.
        validate_metadata(
            &new.metadata,
            true,
            Self::FACTS.name_rule,
            Self::FACTS.metadata_rules,
        )
    }
}

/// Keeps only the name of secret references.
fn keep_secret_names(account: &mut ServiceAccount) {
    for secret in &mut account.secrets {
        *secret = ObjectReference {
            name: std::mem::take(&mut secret.name),
            ..ObjectReference::default()
        };
    }
}
