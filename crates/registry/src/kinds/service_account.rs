//! ServiceAccounts.

use crate::{KindStrategy, RequestContext};
use kubist_api::core::v1::{ObjectReference, ServiceAccount};

#[derive(Debug)]
pub(super) struct ServiceAccounts;

impl KindStrategy for ServiceAccounts {
    type Kind = ServiceAccount;

    fn prepare_for_create(&self, _: &RequestContext, new: &mut ServiceAccount) {
        name_secrets(new);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut ServiceAccount, _: &ServiceAccount) {
        name_secrets(new);
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

/// Of references to secrets only the name counts.
fn name_secrets(account: &mut ServiceAccount) {
    for secret in &mut account.secrets {
        *secret = ObjectReference {
            name: std::mem::take(&mut secret.name),
            ..ObjectReference::default()
        };
    }
}
