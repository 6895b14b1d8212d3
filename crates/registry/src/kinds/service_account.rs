//! ServiceAccounts.

use crate::KindStrategy;
use kubist_api::core::v1::ServiceAccount;

#[derive(Debug)]
pub(super) struct ServiceAccounts;

impl KindStrategy for ServiceAccounts {
    type Kind = ServiceAccount;

    fn allow_unconditional_update(&self) -> bool {
        false
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}
