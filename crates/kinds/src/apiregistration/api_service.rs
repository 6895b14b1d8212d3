//! APIServices.

use crate::shared::{metadata_checks, rules};
use kubist_api::apiregistration::v1::{APIService, APIServiceCondition, APIServiceSpec};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use kubist_registry::{
    ForKind, KindStrategy, MetadataRules, NameRule, RequestContext, StatusKeeps, Strategy,
    StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct ApiServices;

impl KindStrategy for ApiServices {
    type Kind = APIService;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Lenient,
        status_keeps: StatusKeeps::Everything,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ApiServicesStatus))
    }
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
        check_spec(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &APIService, _: &APIService) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(self.validate(new));
        errors
    }
    fn name_problems(&self, object: &APIService, name: &str, _: bool) -> Vec<String> {
        // Prefixes are checked like complete names, as upstream.
        let problems = NameRule::PathSegment.check(name, false);
        let wanted = format!("{}.{}", object.spec.version, object.spec.group);
        if problems.is_empty() && name != wanted {
            let problem = format!("must be `spec.version+\".\"+spec.group`: \"{wanted}\"");
            return vec![problem];
        }
        problems
    }
}

/// The `status` subresource of [`ApiServices`].
#[derive(Debug)]
struct ApiServicesStatus;

impl KindStrategy for ApiServicesStatus {
    type Kind = APIService;

    fn validate_update(&self, new: &APIService, _: &APIService) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("status").child("conditions");
        for (index, condition) in new.status.conditions.iter().enumerate() {
            let path = path.index(index).child("status");
            let supported = ["True", "False", "Unknown"];
            rules::one_of(&mut errors, &condition.status, &supported, &path);
        }
        errors
    }
}

fn check_spec(errors: &mut Vec<FieldError>, spec: &APIServiceSpec, path: &FieldPath) {
    let group = path.child("group");
    if spec.group.is_empty() && spec.version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        errors.push(FieldError::required(&group, detail));
    }
    if !spec.group.is_empty() {
        for problem in validate_name::dns1123_subdomain(&spec.group) {
            errors.push(FieldError::invalid(&group, &spec.group, problem));
        }
    }
    for problem in validate_name::dns1035_label(&spec.version) {
        let path = path.child("version");
        errors.push(FieldError::invalid(&path, &spec.version, problem));
    }
    for (name, priority, max) in [
        ("groupPriorityMinimum", spec.group_priority_minimum, 20_000),
        ("versionPriority", spec.version_priority, 1000),
    ] {
        if !(1..=max).contains(&priority) {
            let detail = format!("must be positive and less than {max}");
            errors.push(FieldError::invalid(&path.child(name), priority, detail));
        }
    }
    check_connection(errors, spec, path);
}

/// Checks the service reference and the TLS settings.
fn check_connection(errors: &mut Vec<FieldError>, spec: &APIServiceSpec, path: &FieldPath) {
    let (bundle, skips) = (path.child("caBundle"), path.child("insecureSkipTLSVerify"));
    let Some(service) = &spec.service else {
        if !spec.ca_bundle.is_empty() {
            let shown = format!("{} bytes", spec.ca_bundle.len());
            let detail = "local APIServices may not have a caBundle";
            errors.push(FieldError::invalid(&bundle, &*shown, detail));
        }
        if spec.insecure_skip_tls_verify {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(FieldError::invalid(&skips, true, detail));
        }
        return;
    };
    let at = path.child("service");
    rules::required(errors, &service.namespace, &at.child("namespace"));
    rules::required(errors, &service.name, &at.child("name"));
    rules::port_of_service(errors, service.port, &at.child("port"));
    if spec.insecure_skip_tls_verify && !spec.ca_bundle.is_empty() {
        let detail = "may not be true if caBundle is present";
        errors.push(FieldError::invalid(&skips, true, detail));
    }
}
