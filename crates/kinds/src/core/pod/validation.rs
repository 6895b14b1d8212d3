//! What Pods must satisfy, new ones and those that change: more than templates.
//!
//! Upstream refuses a volume with a token where a Pod names no account. Its admission has given
//! every Pod one by then; nothing does so here, and such Pods are common, so they are let in.

use crate::core::pod;
use crate::pod_spec;
use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::Errors;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::FieldPath;

/// Checks a Pod, with what is stored of it on update.
pub(crate) fn check(errors: &mut Errors, pod: &Pod, old: Option<&Pod>) {
    let subject = PodSubject::of_pod(pod, old);
    let path = FieldPath::new("metadata").child("annotations");
    pod::annotations::check(errors, &pod.spec, &subject, &path);
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
