//! `LiveModes`: authorizers in their order, which may be replaced while they decide.

use kubist_authorization::{Attributes, Authorizer, BoxFuture, Chain, Decision};
use parking_lot::RwLock;
use std::sync::Arc;

/// What decides now.
#[derive(Debug)]
pub(crate) struct LiveModes(RwLock<Arc<Modes>>);

/// Authorizers in their order.
#[derive(Debug)]
pub(crate) struct Modes {
    pub(crate) chain: Chain,
    /// Those of the chain that decide by what cannot be listed as rules.
    pub(crate) others: Vec<Arc<dyn Authorizer>>,
}

impl LiveModes {
    pub(crate) fn new(modes: Modes) -> Self {
        Self(RwLock::new(Arc::new(modes)))
    }

    pub(crate) fn current(&self) -> Arc<Modes> {
        Arc::clone(&self.0.read())
    }

    /// Replaces them. Decisions that have begun are made by the previous ones.
    pub(crate) fn replace(&self, modes: Modes) {
        *self.0.write() = Arc::new(modes);
    }
}

impl Authorizer for LiveModes {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let current = self.current();
        Box::pin(async move { current.chain.authorize(attributes).await })
    }
}
