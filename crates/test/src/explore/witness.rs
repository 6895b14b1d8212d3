//! `Witness`: notes what a client without faults of the plan writes: the user of the steps.

use crate::explore::hub::Hub;
use crate::faults::{Answered, Arrival, Call, Delivery, Tap, Treatment};
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::ready;
use kubist::apimachinery::Str;
use std::sync::Arc;

/// Notes writes under a name.
pub(crate) struct Witness {
    pub(crate) label: Str,
    pub(crate) hub: Arc<Hub>,
}

impl Tap for Witness {
    fn treat<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, Treatment> {
        ready(Treatment::default()).boxed()
    }

    fn answered<'a>(&'a self, call: &'a Call, answered: &'a Answered) -> BoxFuture<'a, ()> {
        if call.is_write() {
            let mut ledger = self.hub.ledger.lock();
            // The user holds no lease, so there is no problem to report.
            drop(ledger.answered(&self.label, call, answered));
        }
        ready(()).boxed()
    }

    fn deliver<'a>(&'a self, _watch: &'a Call, _arrival: &'a Arrival) -> BoxFuture<'a, Delivery> {
        ready(Delivery::Deliver).boxed()
    }
}
