//! Rows of admission webhooks and admission policies.

use super::age::age;
use super::cells;
use super::listing::selector;
use kubist_api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ParamKind, ParamRef, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
};
use kubist_apimachinery::{ObjectMeta, Time};
use serde_json::Value;

pub(super) fn validating_webhooks(
    object: &ValidatingWebhookConfiguration,
    now: Time,
) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        object.webhooks.len(),
        age(&object.metadata, now)
    ]
}

pub(super) fn mutating_webhooks(object: &MutatingWebhookConfiguration, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        object.webhooks.len(),
        age(&object.metadata, now)
    ]
}

pub(super) fn validating_policy(object: &ValidatingAdmissionPolicy, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    policy(
        &object.metadata,
        spec.validations.len(),
        spec.param_kind.as_deref(),
        now,
    )
}

pub(super) fn mutating_policy(object: &MutatingAdmissionPolicy, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    policy(
        &object.metadata,
        spec.mutations.len(),
        spec.param_kind.as_deref(),
        now,
    )
}

fn policy(meta: &ObjectMeta, steps: usize, kind: Option<&ParamKind>, now: Time) -> Vec<Value> {
    let kind = kind.map(|it| format!("{}/{}", it.api_version, it.kind));
    cells![
        &*meta.name,
        steps,
        kind.unwrap_or_else(|| "<unset>".to_owned()),
        age(meta, now)
    ]
}

pub(super) fn validating_binding(
    object: &ValidatingAdmissionPolicyBinding,
    now: Time,
) -> Vec<Value> {
    let spec = &object.spec;
    binding(
        &object.metadata,
        &spec.policy_name,
        spec.param_ref.as_deref(),
        now,
    )
}

pub(super) fn mutating_binding(object: &MutatingAdmissionPolicyBinding, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    binding(
        &object.metadata,
        &spec.policy_name,
        spec.param_ref.as_deref(),
        now,
    )
}

fn binding(meta: &ObjectMeta, policy: &str, of: Option<&ParamRef>, now: Time) -> Vec<Value> {
    let reference = of.map(
        |it| match (&*it.namespace, &*it.name, it.selector.as_deref()) {
            (_, "", Some(_)) => selector(it.selector.as_deref()),
            (_, "", None) => "<unset>".to_owned(),
            // Whether the parameter kind is namespaced is not known here.
            ("", name, _) => format!("*/{name}"),
            (namespace, name, _) => format!("{namespace}/{name}"),
        },
    );
    let reference = reference.unwrap_or_else(|| "<unset>".to_owned());
    cells![&*meta.name, policy, reference, age(meta, now)]
}
