//! `PodSubject`: what a Pod's spec belongs to, as far as the rules for the spec depend on it.

use kubist_api::core::v1::{Pod, PodSpec, PodTemplateSpec};
use kubist_apimachinery::ObjectMeta;

/// A Pod or a template, and what is stored of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PodSubject<'a> {
    /// Whether it is a Pod; a template otherwise.
    pub(crate) is_pod: bool,
    /// The metadata beside the spec.
    pub(crate) metadata: &'a ObjectMeta,
    /// The metadata and the spec that are stored, on update.
    pub(crate) old: Option<(&'a ObjectMeta, &'a PodSpec)>,
}

impl<'a> PodSubject<'a> {
    /// A Pod, and what is stored of it.
    pub(crate) fn of_pod(pod: &'a Pod, old: Option<&'a Pod>) -> Self {
        Self {
            is_pod: true,
            metadata: &pod.metadata,
            old: old.map(|it| (&it.metadata, &it.spec)),
        }
    }

    /// A template, and what is stored of it.
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

    /// Whether what is stored has something that a younger rule forbids: then it may stay.
    pub(crate) fn already(&self, has: impl FnOnce(&PodSpec) -> bool) -> bool {
        self.old.is_some_and(|(_, spec)| has(spec))
    }
}
