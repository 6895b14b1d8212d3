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
    let missing = || Status::not_found(&GroupResource::new("", "namespaces"), name);
    let namespace = found.as_deref().ok_or_else(missing)?;
    Ok(AnyObject::meta(namespace).annotations.get(key).cloned())
}
