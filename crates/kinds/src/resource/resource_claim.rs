//! ResourceClaims and ResourceClaimTemplates. Their specs are immutable.

use crate::resource;
use crate::resource::claim_status::ResourceClaimsStatus;
use crate::resource::devices::EXACT_COUNT;
use crate::shared::rules::{self, Errors};
use crate::shared::{fill, go_struct, metadata_checks};
use kubist_api::resource::v1::{
    DeviceToleration, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate,
};
use kubist_apimachinery::{FieldError, FieldPath, ObjectMeta, Str, validate_labels, validate_name};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct ResourceClaims;

#[derive(Debug)]
pub(crate) struct ResourceClaimTemplates;

impl KindStrategy for ResourceClaims {
    type Kind = ResourceClaim;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        status_keeps: StatusKeeps::Most,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ResourceClaimsStatus))
    }
    fn apply_defaults(&self, object: &mut ResourceClaim) {
        default_spec(&mut object.spec);
    }
    fn validate(&self, new: &ResourceClaim) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("devices");
        resource::devices::check_claim(&mut errors, &new.spec.devices, &path);
        errors
    }
    fn validate_update(&self, new: &ResourceClaim, old: &ResourceClaim) -> Vec<FieldError> {
        let mut errors = metadata_checks::change(self, new, old);
        let path = FieldPath::new("spec");
        // Fields that were stored without defaults may stay so.
        let mut before = old.spec.clone();
        default_spec(&mut before);
        rules::immutable_value(&mut errors, &new.spec, &before, &path, |it| {
            go_struct::shown(it)
        });
        errors
    }
}

impl KindStrategy for ResourceClaimTemplates {
    type Kind = ResourceClaimTemplate;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut ResourceClaimTemplate) {
        default_spec(&mut object.spec.spec);
    }
    fn validate(&self, new: &ResourceClaimTemplate) -> Vec<FieldError> {
        let (path, mut errors) = (FieldPath::new("spec"), Vec::new());
        check_template(&mut errors, &new.spec.metadata, &path.child("metadata"));
        let path = path.child("spec").child("devices");
        resource::devices::check_claim(&mut errors, &new.spec.spec.devices, &path);
        errors
    }
    fn validate_update(
        &self,
        new: &ResourceClaimTemplate,
        old: &ResourceClaimTemplate,
    ) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let path = FieldPath::new("spec");
        let mut before = old.spec.clone();
        default_spec(&mut before.spec);
        rules::immutable_value(&mut errors, &new.spec, &before, &path, |it| {
            go_struct::shown(it)
        });
        errors
    }
}

/// Checks a template's metadata: only labels and annotations are allowed.
fn check_template(errors: &mut Errors, meta: &ObjectMeta, path: &FieldPath) {
    let annotations = path.child("annotations");
    for key in meta.annotations.keys() {
        let lower = key.to_lowercase();
        let problems = validate_name::qualified_name(&lower).into_iter();
        errors.extend(problems.map(|it| FieldError::invalid(&annotations, key, it)));
    }
    errors.extend(validate_labels(&meta.labels, &path.child("labels")));
    for (name, is_set) in [
        ("name", !meta.name.is_empty()),
        ("generateName", !meta.generate_name.is_empty()),
        ("uid", !meta.uid.is_empty()),
        ("namespace", !meta.namespace.is_empty()),
        ("ownerReferences", !meta.owner_references.is_empty()),
        ("finalizers", !meta.finalizers.is_empty()),
    ] {
        if is_set {
            let at = path.child(name);
            errors.push(FieldError::forbidden(&at, "cannot be set"));
        }
    }
}

fn default_spec(spec: &mut ResourceClaimSpec) {
    for request in &mut spec.devices.requests {
        if let Some(exactly) = &mut request.exactly {
            default_count(&mut exactly.allocation_mode, &mut exactly.count);
            default_tolerations(&mut exactly.tolerations);
        }
        for one in &mut request.first_available {
            default_count(&mut one.allocation_mode, &mut one.count);
            default_tolerations(&mut one.tolerations);
        }
    }
}

fn default_tolerations(tolerations: &mut [DeviceToleration]) {
    for toleration in tolerations {
        fill::text(&mut toleration.operator, "Equal");
    }
}

fn default_count(mode: &mut Str, count: &mut i64) {
    fill::text(mode, EXACT_COUNT);
    if *mode == EXACT_COUNT && *count == 0 {
        *count = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::resource::v1::{DeviceRequest, DeviceSubRequest, ExactDeviceRequest};

    #[test]
    fn one_device_is_asked_for_unless_more_are() {
        let mut claim = ResourceClaim::default();
        claim.spec.devices.requests.push(DeviceRequest {
            exactly: Some(Box::default()),
            first_available: vec![DeviceSubRequest {
                allocation_mode: "All".into(),
                ..DeviceSubRequest::default()
            }],
            ..DeviceRequest::default()
        });
        ResourceClaims.apply_defaults(&mut claim);
        let request = &claim.spec.devices.requests[0];
        let expected = ExactDeviceRequest {
            allocation_mode: EXACT_COUNT.into(),
            count: 1,
            ..ExactDeviceRequest::default()
        };
        assert_eq!(request.exactly.as_deref(), Some(&expected));
        assert_eq!(request.first_available[0].count, 0);
    }

    #[test]
    fn what_a_template_asks_for_stays() {
        let mut old = ResourceClaimTemplate::default();
        old.metadata.name = "t".into();
        old.metadata.namespace = "default".into();
        let request = DeviceRequest {
            name: "gpu".into(),
            exactly: Some(Box::new(ExactDeviceRequest {
                device_class_name: "gpu.example.com".into(),
                ..ExactDeviceRequest::default()
            })),
            ..DeviceRequest::default()
        };
        old.spec.spec.devices.requests.push(request);
        ResourceClaimTemplates.apply_defaults(&mut old);
        assert_eq!(ResourceClaimTemplates.validate_update(&old, &old), []);
        let mut new = old.clone();
        new.spec.spec.devices.requests.clear();
        new.spec.metadata.name = "it".into();
        let found = ResourceClaimTemplates.validate_update(&new, &old);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "spec.metadata.name: Forbidden: cannot be set",
                "spec: Invalid value: {\"name\":\"it\",\"Spec\":{\"Devices\":{\"Requests\":null,\
                 \"Constraints\":null,\"Config\":null}}}: field is immutable"
            ]
        );
    }
}
