//! `DefaultIngressClass`: the class of Ingresses without one.

use crate::default_class::newest_default;
use kubist_api::networking::v1::Ingress;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};

/// Sets the class of new Ingresses without one.
#[derive(Debug)]
pub(crate) struct DefaultIngressClass;

/// The class of an Ingress, where an annotation says it.
const CLASS: &str = "kubernetes.io/ingress.class";
/// Marks the default class.
const DEFAULT: [&str; 1] = ["ingressclass.kubernetes.io/is-default-class"];

impl AdmissionPlugin for DefaultIngressClass {
    fn name(&self) -> &'static str {
        "DefaultIngressClass"
    }

    fn validates(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("networking.k8s.io", "ingresses")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let has_class = |ingress: &Ingress| {
                ingress.spec.ingress_class_name.is_some()
                    || ingress.metadata.annotations.contains_key(CLASS)
            };
            if attributes.typed::<Ingress>().is_none_or(has_class) {
                return Ok(());
            }
            let objects = attributes.objects();
            let classes = objects.list("networking.k8s.io", "ingressclasses", "");
            let classes = classes.await;
            let classes = classes.map_err(|it| attributes.forbidden(it.message))?;
            if let Some(class) = newest_default(&classes, &DEFAULT)
                && let Some(ingress) = attributes.typed_mut::<Ingress>()
            {
                ingress.spec.ingress_class_name = Some(class);
            }
            Ok(())
        })
    }
}
