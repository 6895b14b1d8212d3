//! The metadata of objects in upstream's internal form.
//!
//! Some annotations stand for fields that a version does not have. Upstream's internal form has the
//! fields, and no such annotations; the metadata alone is made of that form.

use crate::Stored;
use crate::convert::HPA_ANNOTATIONS;
use kubist_api::Kind;
use kubist_apimachinery::{ObjectMeta, Status};

/// Counts changes of the template of a DaemonSet; older than `metadata.generation`.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
/// What a Deployment was to be rolled back to.
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// The annotations of a kind that stand for fields.
pub(crate) fn fields_in_annotations(kind: &Kind) -> &'static [&'static str] {
    let facts = kind.facts();
    match (facts.group, facts.kind) {
        ("apps", "DaemonSet") => &[TEMPLATE_GENERATION],
        ("apps", "Deployment") => &[ROLLBACK_TO],
        ("autoscaling", "HorizontalPodAutoscaler") => &HPA_ANNOTATIONS,
        _ => &[],
    }
}

impl Stored {
    /// The metadata, for whoever asks for that alone: without annotations that stand for fields.
    pub fn metadata_alone(&self) -> Result<ObjectMeta, Status> {
        let mut metadata = self.object()?.meta().clone();
        for annotation in fields_in_annotations(self.kind()) {
            metadata.annotations.remove(*annotation);
        }
        Ok(metadata)
    }
}
