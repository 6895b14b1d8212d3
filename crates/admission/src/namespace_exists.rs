//! `NamespaceExists`: nothing is changed in a namespace that does not exist.

use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Refuses requests about namespaces that do not exist.
#[derive(Debug)]
pub(crate) struct NamespaceExists;

impl AdmissionPlugin for NamespaceExists {
    fn name(&self) -> &'static str {
        "NamespaceExists"
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation != Operation::Connect
            && !target.namespace.is_empty()
            && !target.is("", "namespaces")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let name = attributes.target().namespace;
            let found = attributes.objects().get("", "namespaces", "", name);
            let found = found.await.map_err(Status::internal_error)?;
            let missing = || Status::not_found(&GroupResource::new("", "namespaces"), name);
            found.map(drop).ok_or_else(missing)
        })
    }
}
