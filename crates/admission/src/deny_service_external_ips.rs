//! `DenyServiceExternalIPs`: Services get no further external IPs.

use kubist_api::core::v1::Service;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;

/// Refuses external IPs that a Service does not have yet.
#[derive(Debug)]
pub(crate) struct DenyServiceExternalIps;

impl AdmissionPlugin for DenyServiceExternalIps {
    fn name(&self) -> &'static str {
        "DenyServiceExternalIPs"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "services")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let old = attributes.old_typed::<Service>();
        let had = |ip| old.is_some_and(|old| old.spec.external_ips.contains(ip));
        let new = attributes.typed::<Service>();
        let result = if new.is_none_or(|it| it.spec.external_ips.iter().all(had)) {
            Ok(())
        } else {
            Err(attributes.forbidden("Use of external IPs is denied by admission control"))
        };
        Box::pin(ready(result))
    }
}
