//! `PodSubject`: the object that contains a Pod spec, as far as validation depends on it.

use kubist_api::core::v1::{Pod, PodSpec, PodTemplateSpec};
use kubist_apimachinery::ObjectMeta;

/// A Pod or a template, and its stored version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PodSubject<'a> {
    /// True for a Pod, false for a template.
    pub(crate) is_pod: bool,
    /// The metadata that accompanies the spec.
    pub(crate) metadata: &'a ObjectMeta,
    /// The stored metadata and spec, on update.
    pub(crate) old: Option<(&'a ObjectMeta, &'a PodSpec)>,
}

impl<'a> PodSubject<'a> {
    /// Returns the subject for a Pod and its stored version.
    pub(crate) fn of_pod(pod: &'a Pod, old: Option<&'a Pod>) -> Self {
        Self {
            is_pod: true,
            metadata: &pod.metadata,
            old: old.map(|it| (&it.metadata, &it.spec)),
        }
    }

    /// Returns the subject for a template and its stored version.
    pub(crate) fn of_template(
        template: &'a PodTemplateSpec,
        old: Option<&'a PodTemplateSpec>,
    ) -> Self {
        Self {
            is_pod: false,
            metadata: &template.metadata,
            old: old.map(|it| (&it.metadata, &it.spec)),
        }
    }

    /// Reports whether the stored spec already violates a newer rule, so that the violation may
    /// stay.
    pub(crate) fn already(&self, has: impl FnOnce(&PodSpec) -> bool) -> bool {
        self.old.is_some_and(|(_, spec)| has(spec))
    }
}
