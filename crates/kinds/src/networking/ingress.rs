//! Ingresses.

pub(crate) mod validation;

use crate::shared::{self, metadata_checks};
use kubist_api::networking::v1::Ingress;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{ForKind, Generation, KindStrategy, StatusKeeps, Strategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct Ingresses;

/// The older annotation for the class.
const CLASS: &str = "kubernetes.io/ingress.class";

impl KindStrategy for Ingresses {
    type Kind = Ingress;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(IngressesStatus))
    }
    fn warnings(&self, new: &Ingress, old: Option<&Ingress>) -> Vec<String> {
        if old.is_some() || !new.metadata.annotations.contains_key(CLASS) {
            return Vec::new();
        }
        vec![format!(
            "annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        )]
    }
    fn validate(&self, new: &Ingress) -> Vec<FieldError> {
        let mut errors = validation::check(new, None);
        let annotation = new.metadata.annotations.get(CLASS);
        if let (Some(old), Some(class)) = (annotation, &new.spec.ingress_class_name)
            && old != class
        {
            // This is upstream's path.
            let path = FieldPath::new("annotations").child(CLASS);
            let detail = "must match `ingressClassName` when both are specified";
            errors.push(FieldError::invalid(&path, old, detail));
        }
        errors
    }
    fn validate_update(&self, new: &Ingress, old: &Ingress) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(validation::check(new, Some(old)));
        errors
    }
}

/// The `status` subresource of [`Ingresses`].
#[derive(Debug)]
struct IngressesStatus;

impl KindStrategy for IngressesStatus {
    type Kind = Ingress;

    fn validate_update(&self, new: &Ingress, old: &Ingress) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("status").child("loadBalancer");
        let kept = old.status.load_balancer.ingress.iter();
        let kept = shared::addresses::kept(kept.map(|it| &it.ip));
        for (index, it) in new.status.load_balancer.ingress.iter().enumerate() {
            let path = path.child("ingress").index(index);
            if !it.ip.is_empty() {
                shared::addresses::ip_unless_kept(&mut errors, &it.ip, &kept, &path.child("ip"));
            }
            if !it.hostname.is_empty() {
                shared::addresses::host(&mut errors, &it.hostname, &path.child("hostname"));
            }
        }
        errors
    }
}
