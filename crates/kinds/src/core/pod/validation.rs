//! Validation of Pods on create and update, in addition to the rules for templates.
//!
//! Upstream rejects a Pod with a projected token volume but no service account. Upstream's
//! admission has set an account on every Pod by then; this server has no such admission, so these
//! Pods are accepted.

use crate::pod_spec;
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::Errors;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::FieldPath;

/// Checks a Pod; `old` is the stored Pod on update.
pub(crate) fn check(errors: &mut Errors, pod: &Pod, old: Option<&Pod>) {
    let subject = PodSubject::of_pod(pod, old);
    let path = FieldPath::new("metadata").child("annotations");
    pod_spec::annotations::check(errors, &pod.spec, &subject, &path);
    let path = FieldPath::new("spec");
    pod_spec::validation::check(errors, &pod.spec, &subject, &path);
    for (name, containers) in [
        ("containers", &pod.spec.containers),
        ("initContainers", &pod.spec.init_containers),
    ] {
        let path = path.child(name);
        for (index, container) in containers.iter().enumerate() {
            pod_spec::container::has_plain_image(errors, container, &path.index(index));
        }
    }
}
