//! CSIDrivers.

use crate::shared::fill;
use crate::shared::rules::{self, Errors};
use kubist_api::storage::v1::{CSIDriver, CSIDriverSpec, TokenRequest};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, RequestContext, StrategyFacts};
use std::collections::BTreeSet;

/// The minimum lifetime of a token in seconds.
const TOKEN_SECONDS_MIN: i64 = 600;
/// The maximum lifetime of a token in seconds.
const TOKEN_SECONDS_MAX: i64 = 1 << 32;
/// The minimum period between two updates of a node's capacity in seconds.
const UPDATE_SECONDS_MIN: i64 = 10;

#[derive(Debug)]
pub(crate) struct CsiDrivers;

impl KindStrategy for CsiDrivers {
    type Kind = CSIDriver;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        generation: Generation::None,
        allow_unconditional_update: false,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut CSIDriver) {
        let spec = &mut object.spec;
        spec.attach_required.get_or_insert(true);
        spec.pod_info_on_mount.get_or_insert(false);
        spec.storage_capacity.get_or_insert(false);
        fill::option(&mut spec.fs_group_policy, "ReadWriteOnceWithFSType");
        if spec.volume_lifecycle_modes.is_empty() {
            spec.volume_lifecycle_modes.push("Persistent".into());
        }
        spec.requires_republish.get_or_insert(false);
        spec.se_linux_mount.get_or_insert(false);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut CSIDriver) {
        // Upstream's feature gate (VolumeLimitScaling) is off by default.
        new.spec.prevent_pod_scheduling_if_missing = None;
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut CSIDriver, old: &CSIDriver) {
        if old.spec.prevent_pod_scheduling_if_missing.is_none() {
            new.spec.prevent_pod_scheduling_if_missing = None;
        }
        // Unlike other generations that follow the spec, it begins at 0.
        if new.spec != old.spec {
            new.metadata.generation = old.metadata.generation + 1;
        }
    }
    fn warnings(&self, new: &CSIDriver, old: Option<&CSIDriver>) -> Vec<String> {
        let spec = &new.spec;
        let is_unset = spec.service_account_token_in_secrets.is_none();
        let is_old = old.is_some_and(|old| old.spec.token_requests == spec.token_requests);
        if is_old || spec.token_requests.is_empty() || !is_unset {
            return Vec::new();
        }
        vec![
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to \
             true to prevent possible logging of tokens in volume attributes"
                .to_owned(),
        ]
    }
    fn validate(&self, new: &CSIDriver) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
    fn validate_update(&self, new: &CSIDriver, old: &CSIDriver) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec");
        // This is upstream's field name.
        let attach = (new.spec.attach_required, old.spec.attach_required);
        let at = path.child("attachedRequired");
        rules::immutable_value(&mut errors, attach.0, attach.1, &at, |it| {
            BadValue::json(&it)
        });
        let modes = (
            &new.spec.volume_lifecycle_modes,
            &old.spec.volume_lifecycle_modes,
        );
        let at = path.child("volumeLifecycleModes");
        rules::immutable_value(&mut errors, modes.0, modes.1, &at, BadValue::json);
        errors
    }
}

fn check(errors: &mut Errors, spec: &CSIDriverSpec, path: &FieldPath) {
    for (name, is_set) in [
        ("attachedRequired", spec.attach_required.is_some()),
        ("podInfoOnMount", spec.pod_info_on_mount.is_some()),
        ("storageCapacity", spec.storage_capacity.is_some()),
        ("seLinuxMount", spec.se_linux_mount.is_some()),
    ] {
        if !is_set {
            errors.push(FieldError::required(&path.child(name), ""));
        }
    }
    if let Some(policy) = &spec.fs_group_policy {
        let supported = ["File", "None", "ReadWriteOnceWithFSType"];
        rules::one_of(errors, policy, &supported, &path.child("fsGroupPolicy"));
    }
    check_tokens(errors, &spec.token_requests, &path.child("tokenRequests"));
    for mode in &spec.volume_lifecycle_modes {
        let path = path.child("volumeLifecycleModes");
        rules::one_of(errors, mode, &["Persistent", "Ephemeral"], &path);
    }
    let period = spec.node_allocatable_update_period_seconds;
    if let Some(seconds) = period.filter(|&it| it < UPDATE_SECONDS_MIN) {
        let path = path.child("nodeAllocatableUpdatePeriodSeconds");
        let detail = "must be greater than or equal to 10 seconds";
        errors.push(FieldError::invalid(&path, seconds, detail));
    }
    let in_secrets = spec.service_account_token_in_secrets;
    if let Some(value) = in_secrets.filter(|_| spec.token_requests.is_empty()) {
        let path = path.child("serviceAccountTokenInSecrets");
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.push(FieldError::invalid(&path, value, detail));
    }
}

fn check_tokens(errors: &mut Errors, requests: &[TokenRequest], path: &FieldPath) {
    let mut audiences = BTreeSet::new();
    for (index, request) in requests.iter().enumerate() {
        let path = path.index(index);
        if !audiences.insert(&request.audience) {
            let path = path.child("audience");
            errors.push(FieldError::duplicate(&path, &request.audience));
            continue;
        }
        let Some(seconds) = request.expiration_seconds else {
            continue;
        };
        let path = path.child("expirationSeconds");
        if seconds < TOKEN_SECONDS_MIN {
            let detail = "may not specify a duration less than 10 minutes";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
        if seconds > TOKEN_SECONDS_MAX {
            let detail = "may not specify a duration larger than 2^32 seconds";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_warned_of_when_others_are_asked_for() {
        let requesting = |audience: &str| {
            let mut driver = CSIDriver::default();
            driver.spec.token_requests.push(TokenRequest {
                audience: audience.into(),
                ..TokenRequest::default()
            });
            driver
        };
        let warned = |new: &CSIDriver, old: &CSIDriver| CsiDrivers.warnings(new, Some(old)).len();
        assert_eq!(warned(&requesting("a"), &requesting("b")), 1);
        assert_eq!(warned(&requesting("a"), &CSIDriver::default()), 1);
        assert_eq!(warned(&requesting("a"), &requesting("a")), 0);
        assert_eq!(warned(&CSIDriver::default(), &requesting("a")), 0);
        let mut kept = requesting("a");
        kept.spec.service_account_token_in_secrets = Some(false);
        assert_eq!(warned(&kept, &requesting("b")), 0);
    }
}
