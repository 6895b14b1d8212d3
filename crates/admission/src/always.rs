//! `AlwaysAdmit` and `AlwaysDeny`.

use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::future::ready;

/// Accepts everything.
#[derive(Debug)]
pub(crate) struct AlwaysAdmit;

/// Refuses everything.
#[derive(Debug)]
pub(crate) struct AlwaysDeny;

impl AdmissionPlugin for AlwaysAdmit {
    fn name(&self) -> &'static str {
        "AlwaysAdmit"
    }

    fn admits(&self) -> bool {
        false
    }

    fn validates(&self) -> bool {
        false
    }

    fn handles(&self, _target: &Target<'_>) -> bool {
        false
    }
}

impl AdmissionPlugin for AlwaysDeny {
    fn name(&self) -> &'static str {
        "AlwaysDeny"
    }

    fn handles(&self, _target: &Target<'_>) -> bool {
        true
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(ready(Err(denied(attributes))))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(ready(Err(denied(attributes))))
    }
}

fn denied(attributes: &Attributes<'_>) -> Status {
    attributes.forbidden("admission control is denying all modifications")
}
