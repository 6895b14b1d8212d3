//! `StorageObjectInUseProtection`: finalizers that keep claims, volumes and classes while they are
//! in use.

use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::future::ready;

/// Adds finalizers to new objects.
#[derive(Debug)]
pub(crate) struct StorageObjectInUseProtection;

const CLAIMS: (&str, &str) = ("", "persistentvolumeclaims");
const VOLUMES: (&str, &str) = ("", "persistentvolumes");
const CLASSES: (&str, &str) = ("storage.k8s.io", "volumeattributesclasses");

impl AdmissionPlugin for StorageObjectInUseProtection {
    fn name(&self) -> &'static str {
        "StorageObjectInUseProtection"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[CLAIMS, VOLUMES, CLASSES])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let finalizer = match attributes.target().resource.plural {
            "persistentvolumeclaims" => "kubernetes.io/pvc-protection",
            "persistentvolumes" => "kubernetes.io/pv-protection",
            _ => "kubernetes.io/vac-protection",
        };
        if let Some(object) = attributes.object_mut() {
            let finalizers = &mut object.meta_mut().finalizers;
            if !finalizers.iter().any(|it| *it == finalizer) {
                finalizers.push(finalizer.into());
            }
        }
        Box::pin(ready(Ok(())))
    }
}
