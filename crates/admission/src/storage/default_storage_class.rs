//! `DefaultStorageClass`: the class of claims without one.

use super::CLASS;
use crate::default_class::newest_default;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};

/// Sets the class of new claims without one.
#[derive(Debug)]
pub(crate) struct DefaultStorageClass;

/// Marks the default class.
const DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

impl AdmissionPlugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "persistentvolumeclaims")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let has_class = |claim: &PersistentVolumeClaim| {
                claim.spec.storage_class_name.is_some()
                    || claim.metadata.annotations.contains_key(CLASS)
            };
            if attributes
                .typed::<PersistentVolumeClaim>()
                .is_none_or(has_class)
            {
                return Ok(());
            }
            let objects = attributes.objects();
            let classes = objects.list("storage.k8s.io", "storageclasses", "").await;
            let classes = classes.map_err(|it| attributes.forbidden(it.message))?;
            if let Some(class) = newest_default(&classes, &DEFAULT)
                && let Some(claim) = attributes.typed_mut::<PersistentVolumeClaim>()
            {
                claim.spec.storage_class_name = Some(class);
            }
            Ok(())
        })
    }
}
