//! `PodContext`: the Pod or template that contains a container.

use crate::pod_spec::subject::PodSubject;
use crate::volume::validation::Volumes;
use kubist_api::core::v1::PodSpec;

/// The Pod or template that contains a container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PodContext<'a> {
    pub(crate) spec: &'a PodSpec,
    pub(crate) subject: &'a PodSubject<'a>,
    pub(crate) volumes: &'a Volumes,
}
