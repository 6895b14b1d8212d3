//! APIServices.

use crate::{KindStrategy, MetadataRules, RequestContext, StatusKeeps};
use kubist_api::apiregistration::v1::{APIService, APIServiceCondition};
use kubist_apimachinery::{FieldError, FieldPath};

use super::{metadata_checks, rules};

#[derive(Debug)]
pub(super) struct ApiServices;

impl KindStrategy for ApiServices {
    type Kind = APIService;

    fn apply_defaults(&self, object: &mut APIService) {
        if let Some(service) = &mut object.spec.service {
            service.port.get_or_insert(443);
        }
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut APIService) {
        if new.spec.service.is_none() {
            new.status.conditions.push(APIServiceCondition {
                type_: "Available".into(),
                status: "True".into(),
                last_transition_time: Some(cx.now()),
                reason: "Local".into(),
                message: "Local APIServices are always available".into(),
            });
        }
    }
    fn validate(&self, new: &APIService) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let spec = &new.spec;
        let name = format!("{}.{}", spec.version, spec.group);
        if new.metadata.name != name.as_str() {
            let detail = format!("must be `spec.version+\".\"+spec.group`: \"{name}\"");
            let path = FieldPath::new("metadata").child("name");
            errors.push(FieldError::invalid(&path, &new.metadata.name, detail));
        }
        let path = FieldPath::new("spec");
        if spec.version.is_empty() {
            rules::required(&mut errors, &spec.version, &path.child("version"));
        }
        let priority = spec.group_priority_minimum;
        if !(1..=20_000).contains(&priority) {
            let detail = "must be positive and less than 20000";
            errors.push(FieldError::invalid(
                &path.child("groupPriorityMinimum"),
                priority,
                detail,
            ));
        }
        let priority = spec.version_priority;
        if !(1..=1000).contains(&priority) {
            let detail = "must be positive and less than 1000";
            errors.push(FieldError::invalid(
                &path.child("versionPriority"),
                priority,
                detail,
            ));
        }
        if let Some(service) = &spec.service {
            let path = path.child("service");
            rules::required(&mut errors, &service.namespace, &path.child("namespace"));
            rules::required(&mut errors, &service.name, &path.child("name"));
        }
        if spec.insecure_skip_tls_verify && !spec.ca_bundle.is_empty() {
            let detail = "may not be true if caBundle is present";
            errors.push(FieldError::invalid(
                &path.child("insecureSkipTLSVerify"),
                true,
                detail,
            ));
        }
        errors
    }
    fn validate_update(&self, new: &APIService, _: &APIService) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(self.validate(new));
        errors
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}
