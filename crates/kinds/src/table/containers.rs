//! The containers of a Pod as cells of a wide table.

use super::listing::joined;
use kubist_api::core::v1::PodSpec;

/// Their names.
pub(super) fn names(spec: &PodSpec) -> String {
    joined(spec.containers.iter().map(|it| &*it.name), ",")
}

/// Their images.
pub(super) fn images(spec: &PodSpec) -> String {
    joined(spec.containers.iter().map(|it| &*it.image), ",")
}
