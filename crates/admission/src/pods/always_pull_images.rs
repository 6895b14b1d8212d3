//! `AlwaysPullImages`: images are pulled each time, so that their registry sees who uses them.

use super::PODS;
use crate::aggregate::aggregate;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{FieldError, FieldPath, Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;

/// Sets the pull policy of all images to `Always`.
#[derive(Debug)]
pub(crate) struct AlwaysPullImages;

const ALWAYS: &str = "Always";

impl AdmissionPlugin for AlwaysPullImages {
    fn name(&self) -> &'static str {
        "AlwaysPullImages"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let old = attributes.old_typed::<Pod>();
        if let Some(pod) = attributes.typed_mut::<Pod>()
            && has_new_images(pod, old)
        {
            set(pod);
        }
        Box::pin(ready(Ok(())))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let pod = attributes.typed::<Pod>();
        let pod = pod.filter(|pod| has_new_images(pod, attributes.old_typed()));
        let result = match pod.map(others).unwrap_or_default().as_slice() {
            [] => Ok(()),
            [one] => Err(attributes.forbidden(one)),
            all => {
                let texts = all
                    .iter()
                    .map(|it| attributes.forbidden(it).message.to_string());
                let texts: Vec<String> = texts.collect();
                // Upstream's aggregate has no status of its own.
                Err(Status::unmapped_error(
                    aggregate(&texts).unwrap_or_default(),
                ))
            }
        };
        Box::pin(ready(result))
    }
}

/// Reports whether a Pod has an image that it did not have before.
fn has_new_images(new: &Pod, old: Option<&Pod>) -> bool {
    let Some(old) = old else {
        return true;
    };
    let before: Vec<&Str> = images(old).collect();
    images(new).any(|image| !before.contains(&image))
}

fn images(pod: &Pod) -> impl Iterator<Item = &Str> {
    let spec = &pod.spec;
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let ephemeral = spec.ephemeral_containers.iter().map(|it| &it.image);
    containers.map(|it| &it.image).chain(ephemeral)
}

fn set(pod: &mut Pod) {
    let spec = &mut pod.spec;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        container.image_pull_policy = ALWAYS.into();
    }
    for container in &mut spec.ephemeral_containers {
        container.image_pull_policy = ALWAYS.into();
    }
    for volume in &mut spec.volumes {
        if let Some(image) = &mut volume.image {
            image.pull_policy = ALWAYS.into();
        }
    }
}

/// Returns errors about the images with another policy.
fn others(pod: &Pod) -> Vec<String> {
    let spec = &pod.spec;
    let path = FieldPath::new("spec");
    let of = |name: &str, policies: Vec<&Str>| -> Vec<String> {
        let wrong = policies.into_iter().enumerate();
        let wrong = wrong.filter(|(_, policy)| **policy != *ALWAYS);
        wrong
            .map(|(index, policy)| {
                let path = path.child(name).index(index).child("imagePullPolicy");
                FieldError::not_supported_text(&path, policy, &[ALWAYS]).to_string()
            })
            .collect()
    };
    let mut errors = of(
        "initContainers",
        spec.init_containers
            .iter()
            .map(|it| &it.image_pull_policy)
            .collect(),
    );
    let policies = spec.containers.iter().map(|it| &it.image_pull_policy);
    errors.extend(of("containers", policies.collect()));
    let policies = spec.ephemeral_containers.iter();
    let policies = policies.map(|it| &it.image_pull_policy);
    errors.extend(of("ephemeralContainers", policies.collect()));
    for (index, volume) in spec.volumes.iter().enumerate() {
        let image = volume.image.as_deref();
        if let Some(image) = image.filter(|it| it.pull_policy != ALWAYS) {
            let path = path.child("volumes").index(index).child("image");
            let path = path.child("pullPolicy");
            let error = FieldError::not_supported_text(&path, &image.pull_policy, &[ALWAYS]);
            errors.push(error.to_string());
        }
    }
    errors
}
