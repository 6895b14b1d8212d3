//! Cells about the containers of a Pod in wide tables.

use super::listing::joined;
use kubist_api::core::v1::PodSpec;

/// Returns the names of the containers.
pub(super) fn names(spec: &PodSpec) -> String {
    joined(spec.containers.iter().map(|it| &*it.name), ",")
}

/// Returns the images of the containers.
pub(super) fn images(spec: &PodSpec) -> String {
    joined(spec.containers.iter().map(|it| &*it.image), ",")
}
