//! In what form upstream keeps built-in resources: protobuf in the version that storage hands out,
//! but for what its servers of definitions and of APIServices keep, which is JSON.

use crate::stored::codec::StorageEncoding;
use kubist_api::Kind;
use kubist_apimachinery::GroupResource;

struct InJson {
    group: &'static str,
    plural: &'static str,
    /// The version in which it is written, where that is another.
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

/// How objects are encoded.
pub(super) fn encoding(resource: &GroupResource) -> StorageEncoding {
    match in_json(resource) {
        Some(_) => StorageEncoding::Json,
        None => StorageEncoding::Protobuf,
    }
}

/// The version in which objects are written, where it is not the one that storage hands out.
pub(super) fn version(resource: &GroupResource) -> Option<&'static str> {
    in_json(resource)?.version
}

/// Whether upstream keeps no cache of a resource by default. Its storage says some things otherwise
/// than its cache, and clients see which of them answers, whatever we have.
pub(crate) fn has_none_upstream(resource: &GroupResource) -> bool {
    resource.resource == "events" && matches!(&*resource.group, "" | "events.k8s.io")
}

/// The same of the objects of a kind.
pub(crate) fn kind_has_none_upstream(kind: &Kind) -> bool {
    let facts = kind.facts();
    facts.kind == "Event" && matches!(facts.group, "" | "events.k8s.io")
}
