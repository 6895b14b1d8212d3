//! What Pods must satisfy, new ones and those that change: more than templates.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::{FieldError, FieldPath};

use super::pod_subject::PodSubject;
use super::rules::Errors;
use super::{container_rules, pod_annotation_rules, pod_spec_rules};

/// Checks a Pod, with what is stored of it on update.
pub(super) fn check(errors: &mut Errors, pod: &Pod, old: Option<&Pod>) {
    let subject = PodSubject::of_pod(pod, old);
    let path = FieldPath::new("metadata").child("annotations");
    pod_annotation_rules::check(errors, &pod.spec, &subject, &path);
    let path = FieldPath::new("spec");
    pod_spec_rules::check(errors, &pod.spec, &subject, &path);
    has_account_for_tokens(errors, pod, &path.child("volumes"));
    for (name, containers) in [
        ("containers", &pod.spec.containers),
        ("initContainers", &pod.spec.init_containers),
    ] {
        let path = path.child(name);
        for (index, container) in containers.iter().enumerate() {
            container_rules::has_plain_image(errors, container, &path.index(index));
        }
    }
}

/// Without an account of its own a Pod cannot have tokens of it.
fn has_account_for_tokens(errors: &mut Errors, pod: &Pod, path: &FieldPath) {
    if !pod.spec.service_account_name.is_empty() {
        return;
    }
    for (index, volume) in pod.spec.volumes.iter().enumerate() {
        let sources = volume.projected.iter().flat_map(|it| &it.sources);
        for (number, source) in sources.enumerate() {
            if source.service_account_token.is_some() {
                let path = path.index(index).child("projected").child("sources");
                let path = path.index(number).child("serviceAccountToken");
                let detail = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(&path, detail));
            }
        }
    }
}
