//! Upstream's stored form of built-in resources: protobuf in the storage version, except that
//! CustomResourceDefinitions and APIServices are JSON.

use crate::stored::codec::StorageEncoding;
use kubist_api::Kind;
use kubist_apimachinery::GroupResource;

struct InJson {
    group: &'static str,
    plural: &'static str,
    /// The version in which it is written, if it differs from the storage version.
    version: Option<&'static str>,
}

const IN_JSON: [InJson; 2] = [
    InJson {
        group: "apiextensions.k8s.io",
        plural: "customresourcedefinitions",
        version: Some("v1beta1"),
    },
    InJson {
        group: "apiregistration.k8s.io",
        plural: "apiservices",
        version: None,
    },
];

fn in_json(resource: &GroupResource) -> Option<&'static InJson> {
    let is = |it: &&InJson| (it.group, it.plural) == (&*resource.group, &*resource.resource);
    IN_JSON.iter().find(is)
}

/// Returns the encoding of objects.
pub(super) fn encoding(resource: &GroupResource) -> StorageEncoding {
    match in_json(resource) {
        Some(_) => StorageEncoding::Json,
        None => StorageEncoding::Protobuf,
    }
}

/// Returns the version in which objects are written, if it differs from the storage version.
pub(super) fn version(resource: &GroupResource) -> Option<&'static str> {
    in_json(resource)?.version
}

/// Reports whether upstream has no watch cache for a resource by default. Some responses of its
/// storage differ from those of its cache, and clients see the difference whatever this server
/// uses.
pub(crate) fn lacks_watch_cache_upstream(resource: &GroupResource) -> bool {
    resource.resource == "events" && matches!(&*resource.group, "" | "events.k8s.io")
}

/// As `lacks_watch_cache_upstream`, for the objects of a kind.
pub(crate) fn kind_lacks_watch_cache_upstream(kind: &Kind) -> bool {
    let facts = kind.facts();
    facts.kind == "Event" && matches!(facts.group, "" | "events.k8s.io")
}
