//! `PersistentVolumeClaimResize`: which claims may grow.

use super::CLASS;
use crate::objects::typed;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_api::storage::v1::StorageClass;
use kubist_apimachinery::{Quantity, Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Refuses to let claims grow that are not bound, or whose class does not allow it.
#[derive(Debug)]
pub(crate) struct PersistentVolumeClaimResize;

impl AdmissionPlugin for PersistentVolumeClaimResize {
    fn name(&self) -> &'static str {
        "PersistentVolumeClaimResize"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "persistentvolumeclaims")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && target.subresource.is_empty()
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let new = attributes.typed::<PersistentVolumeClaim>();
            let old = attributes.old_typed::<PersistentVolumeClaim>();
            let Some((new, old)) = new.zip(old) else {
                return Ok(());
            };
            if size(new) <= size(old) {
                return Ok(());
            }
            if old.status.phase != "Bound" {
                let why = "Only bound persistent volume claims can be expanded";
                return Err(attributes.forbidden(why));
            }
            if may_grow(attributes, new, old).await {
                return Ok(());
            }
            Err(attributes.forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass that \
                 provisions the pvc must support resize",
            ))
        })
    }
}

fn size(claim: &PersistentVolumeClaim) -> Quantity {
    let requests = &claim.spec.resources.requests;
    requests.get("storage").cloned().unwrap_or_default()
}

fn class(claim: &PersistentVolumeClaim) -> Option<&Str> {
    let annotated = claim.metadata.annotations.get(CLASS);
    annotated.or(claim.spec.storage_class_name.as_ref())
}

async fn may_grow(
    attributes: &Attributes<'_>,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
) -> bool {
    let same = class(new).filter(|it| !it.is_empty() && Some(*it) == class(old));
    let Some(name) = same else {
        return false;
    };
    let objects = attributes.objects();
    let found = objects
        .get("storage.k8s.io", "storageclasses", "", name)
        .await;
    let Ok(Some(found)) = found else {
        return false;
    };
    let class = typed::<StorageClass>(&*found);
    class.is_some_and(|it| it.allow_volume_expansion == Some(true))
}
