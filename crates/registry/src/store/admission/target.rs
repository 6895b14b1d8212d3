//! `Target`: the names in a request, from which a plugin tells whether it takes part.

use super::operation::Operation;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::GroupResource;

/// The names in a request, in the version of the request. Cheap to make and to look at.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Target<'a> {
    /// What the request does.
    pub operation: Operation,
    /// The requested resource, not its subresource.
    pub resource: &'static ResourceFacts,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The kind of the object in the request: that of the subresource, if it has its own.
    pub kind: &'static Kind,
    /// The namespace; empty for cluster-scoped objects, except that a Namespace is in itself, as
    /// upstream.
    pub namespace: &'a str,
    /// The name. Empty for the deletion of a collection, and before a name is generated.
    pub name: &'a str,
    /// Whether nothing will be written.
    pub dry_run: bool,
}

impl Target<'_> {
    /// Reports whether it is about this resource, or a subresource of it.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.resource.plural == plural && self.resource.group == group
    }

    /// Reports whether it is about objects of this resource themselves.
    pub fn is_object(&self, group: &str, plural: &str) -> bool {
        self.subresource.is_empty() && self.is(group, plural)
    }

    /// Reports whether it creates an object, and is not about a subresource.
    pub fn creates_object(&self) -> bool {
        self.operation == Operation::Create && self.subresource.is_empty()
    }

    /// Returns group and plural, as in messages.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.resource.group, self.resource.plural)
    }
}
