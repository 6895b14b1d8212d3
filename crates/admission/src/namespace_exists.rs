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

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation != Operation::Connect
            && !target.namespace.is_empty()
            && !target.is("", "namespaces")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let name = attributes.target().namespace;
            let found = attributes.objects().get("", "namespaces", "", name);
            match found.await.map_err(Status::internal_error)? {
                Some(_) => Ok(()),
                None => {
                    let resource = GroupResource::new("", "namespaces");
                    Err(Status::not_found(&resource, name))
                }
            }
        })
    }
}
