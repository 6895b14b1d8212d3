//! IngressClasses.

use crate::shared::rules::{self, Errors};
use crate::shared::{fill, metadata_checks};
use kubist_api::networking::v1::{IngressClass, IngressClassParametersReference};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_registry::{Generation, KindStrategy, StrategyFacts};

/// The maximum length of a controller name in characters.
const CONTROLLER_MAX: usize = 250;

#[derive(Debug)]
pub(crate) struct IngressClasses;

impl KindStrategy for IngressClasses {
    type Kind = IngressClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::Spec,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut IngressClass) {
        if let Some(parameters) = &mut object.spec.parameters {
            fill::option(&mut parameters.scope, "Cluster");
        }
    }
    fn validate(&self, new: &IngressClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("controller");
        let controller = new.spec.controller.as_str();
        if controller.len() > CONTROLLER_MAX {
            errors.push(FieldError::too_long(&path, CONTROLLER_MAX));
        }
        rules::domain_prefixed_path(&mut errors, controller, &path);
        if let Some(parameters) = &new.spec.parameters {
            let path = FieldPath::new("spec").child("parameters");
            check_parameters(&mut errors, parameters, &path);
        }
        errors
    }
    fn validate_update(&self, new: &IngressClass, old: &IngressClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("controller");
        let controllers = (&new.spec.controller, &old.spec.controller);
        rules::immutable_value(&mut errors, controllers.0, controllers.1, &path, Into::into);
        errors.extend(metadata_checks::whole(self, new));
        errors.extend(self.validate(new));
        errors
    }
}

fn check_parameters(
    errors: &mut Errors,
    parameters: &IngressClassParametersReference,
    path: &FieldPath,
) {
    if let Some(group) = &parameters.api_group {
        let path = path.child("apiGroup");
        rules::text(errors, group, &path, validate_name::dns1123_subdomain);
    }
    for (name, value) in [("kind", &parameters.kind), ("name", &parameters.name)] {
        let path = path.child(name);
        if rules::required(errors, value, &path) {
            rules::text(errors, value, &path, rules::path_segment);
        }
    }
    let Some(scope) = &parameters.scope else {
        errors.push(FieldError::required(&path.child("scope"), ""));
        return;
    };
    let at = path.child("namespace");
    match (scope.as_str(), &parameters.namespace) {
        ("Namespace", None) => {
            let detail = "`parameters.scope` is set to 'Namespace'";
            errors.push(FieldError::required(&at, detail));
        }
        ("Namespace", Some(namespace)) => {
            rules::text(errors, namespace, &at, validate_name::dns1123_label);
        }
        ("Cluster", None) => {}
        ("Cluster", Some(_)) => {
            let detail = "`parameters.scope` is set to 'Cluster'";
            errors.push(FieldError::forbidden(&at, detail));
        }
        _ => rules::one_of_texts(
            errors,
            scope,
            &["Cluster", "Namespace"],
            &path.child("scope"),
        ),
    }
}
