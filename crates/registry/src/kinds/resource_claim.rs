//! ResourceClaims and the templates of them. What they ask for never changes.

use crate::validate_metadata::validate_metadata;
use crate::{KindStrategy, StatusKeeps};
use kubist_api::resource::v1::{ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate};
use kubist_apimachinery::{FieldError, FieldPath, Str};

use super::{fill, go_struct, rules};

#[derive(Debug)]
pub(super) struct ResourceClaims;

#[derive(Debug)]
pub(super) struct ResourceClaimTemplates;

/// So many devices.
const EXACT_COUNT: &str = "ExactCount";

impl KindStrategy for ResourceClaims {
    type Kind = ResourceClaim;

    fn apply_defaults(&self, object: &mut ResourceClaim) {
        default_spec(&mut object.spec);
    }
    fn validate_update(&self, new: &ResourceClaim, old: &ResourceClaim) -> Vec<FieldError> {
        // Upstream checks the metadata once more.
        let mut errors =
            validate_metadata(&new.metadata, true, self.name_rule(), self.metadata_rules());
        let path = FieldPath::new("spec");
        // What was stored without defaults stays, too.
        let mut before = old.spec.clone();
        default_spec(&mut before);
        rules::immutable_value(&mut errors, &new.spec, &before, &path, |it| {
            go_struct::shown(it)
        });
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Most
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

impl KindStrategy for ResourceClaimTemplates {
    type Kind = ResourceClaimTemplate;

    fn apply_defaults(&self, object: &mut ResourceClaimTemplate) {
        default_spec(&mut object.spec.spec);
    }
    fn validate_update(
        &self,
        new: &ResourceClaimTemplate,
        old: &ResourceClaimTemplate,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        let mut before = old.spec.clone();
        default_spec(&mut before.spec);
        rules::immutable_value(&mut errors, &new.spec, &before, &path, |it| {
            go_struct::shown(it)
        });
        errors
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

fn default_spec(spec: &mut ResourceClaimSpec) {
    for request in &mut spec.devices.requests {
        if let Some(exactly) = &mut request.exactly {
            default_count(&mut exactly.allocation_mode, &mut exactly.count);
        }
        for one in &mut request.first_available {
            default_count(&mut one.allocation_mode, &mut one.count);
        }
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
        old.spec
            .spec
            .devices
            .requests
            .push(DeviceRequest::default());
        let found = ResourceClaimTemplates.validate_update(&ResourceClaimTemplate::default(), &old);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "spec: Invalid value: {\"Spec\":{\"Devices\":{\"Requests\":null,\"Constraints\":null,\
              \"Config\":null}}}: field is immutable"
            ]
        );
        assert_eq!(ResourceClaimTemplates.validate_update(&old, &old), []);
    }
}
