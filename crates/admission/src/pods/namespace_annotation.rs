//! What annotations of a namespace say about its Pods.

use kubist_apimachinery::{AnyObject, GroupResource, Status, Str};
use kubist_registry::admission::Attributes;

/// Returns an annotation of the namespace of a request; 404 if there is no such namespace.
pub(super) async fn of_namespace(
    attributes: &Attributes<'_>,
    key: &str,
) -> Result<Option<Str>, Status> {
    let name = attributes.target().namespace;
    let found = attributes.objects().get("", "namespaces", "", name).await?;
    match found.as_deref() {
        Some(namespace) => Ok(AnyObject::meta(namespace).annotations.get(key).cloned()),
        None => {
            let resource = GroupResource::new("", "namespaces");
            Err(Status::not_found(&resource, name))
        }
    }
}
