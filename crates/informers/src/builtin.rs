//! The built-in resources by name, if the API types are compiled in.

use kubist_apimachinery::{ApiResource, GroupVersionResource};

/// Returns the built-in resource of this name.
#[cfg(feature = "builtin")]
pub(crate) fn resource(name: &GroupVersionResource) -> Option<ApiResource> {
    let group = kubist_api::GROUPS
        .iter()
        .find(|it| *it.name == *name.group)?;
    let version = group
        .versions
        .iter()
        .find(|it| *it.version == *name.version)?;
    let found = version
        .resources
        .iter()
        .find(|it| *it.plural == *name.resource)?;
    Some(ApiResource {
        group: name.group.clone(),
        version: name.version.clone(),
        kind: found.kind.into(),
        plural: name.resource.clone(),
        singular: found.singular.into(),
        namespaced: found.namespaced,
    })
}

/// Without the API types there are no built-in resources.
#[cfg(not(feature = "builtin"))]
pub(crate) fn resource(_: &GroupVersionResource) -> Option<ApiResource> {
    None
}
