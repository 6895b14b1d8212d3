//! IngressClasses.

use crate::{Generation, KindStrategy};
use kubist_api::networking::v1::IngressClass;
use kubist_apimachinery::{FieldError, FieldPath};

use super::{fill, rules};

#[derive(Debug)]
pub(super) struct IngressClasses;

impl KindStrategy for IngressClasses {
    type Kind = IngressClass;

    fn apply_defaults(&self, object: &mut IngressClass) {
        if let Some(parameters) = &mut object.spec.parameters {
            fill::option(&mut parameters.scope, "Cluster");
        }
    }
    fn validate(&self, new: &IngressClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("controller");
        let controller = new.spec.controller.as_str();
        match controller.split_once('/') {
            _ if controller.is_empty() => errors.push(FieldError::required(&path, "")),
            Some((domain, rest)) if !rest.is_empty() => {
                let rule = kubist_apimachinery::validate_name::dns1123_subdomain;
                rules::text(&mut errors, domain, &path, rule);
            }
            _ => {
                let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
                errors.push(FieldError::invalid(&path, controller, detail));
            }
        }
        errors
    }
    fn validate_update(&self, new: &IngressClass, old: &IngressClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("controller");
        let controllers = (&new.spec.controller, &old.spec.controller);
        rules::immutable_value(&mut errors, controllers.0, controllers.1, &path, Into::into);
        errors.extend(self.validate(new));
        errors
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}
