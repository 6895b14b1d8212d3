//! `RbacAuthorizer`: a policy that changes while it is asked.

use crate::rbac::Policy;
use crate::{Attributes, Authorizer, BoxFuture, Decision};
use parking_lot::RwLock;

/// Decides by the roles and bindings that were put into its policy. Until something is put in, it
/// allows nothing.
#[derive(Debug, Default)]
pub struct RbacAuthorizer(RwLock<Policy>);

impl RbacAuthorizer {
    /// Changes the policy. Decisions wait meanwhile, so it should be short.
    pub fn change<R>(&self, change: impl FnOnce(&mut Policy) -> R) -> R {
        change(&mut self.0.write())
    }

    /// Reads the policy. Changes wait meanwhile.
    pub fn read<R>(&self, read: impl FnOnce(&Policy) -> R) -> R {
        read(&self.0.read())
    }
}

impl Authorizer for RbacAuthorizer {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let decision = self.read(|policy| policy.authorize(&attributes));
        Box::pin(std::future::ready(decision))
    }
}
