//! Rows of role bindings and certificate signing requests.

use super::age::{age, human_duration};
use super::cells;
use super::listing::{joined, text_or};
use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_api::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};
use kubist_apimachinery::{ObjectMeta, Time};
use serde_json::Value;

pub(super) fn role_binding(object: &RoleBinding, now: Time) -> Vec<Value> {
    binding(&object.metadata, &object.role_ref, &object.subjects, now)
}

pub(super) fn cluster_role_binding(object: &ClusterRoleBinding, now: Time) -> Vec<Value> {
    binding(&object.metadata, &object.role_ref, &object.subjects, now)
}

fn binding(meta: &ObjectMeta, role: &RoleRef, subjects: &[Subject], now: Time) -> Vec<Value> {
    let named = |kind: &str| {
        let subjects = subjects.iter().filter(|it| it.kind == kind);
        joined(subjects.map(|it| &*it.name), ", ")
    };
    let accounts = subjects.iter().filter(|it| it.kind == "ServiceAccount");
    let accounts = accounts.map(|it| format!("{}/{}", it.namespace, it.name));
    cells![
        &*meta.name,
        format!("{}/{}", role.kind, role.name),
        age(meta, now),
        named("User"),
        named("Group"),
        joined(accounts, ", "),
    ]
}

pub(super) fn signing_request(object: &CertificateSigningRequest, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let duration = spec.expiration_seconds.map(|it| human_duration(it.into()));
    cells![
        &*object.metadata.name,
        age(&object.metadata, now),
        text_or(&spec.signer_name, "<none>"),
        &*spec.username,
        duration.unwrap_or_else(|| "<none>".to_owned()),
        condition(object),
    ]
}

fn condition(request: &CertificateSigningRequest) -> String {
    let status = &request.status;
    let is = |wanted: &str| status.conditions.iter().any(|it| it.type_ == wanted);
    let decided = if is("Denied") {
        "Denied"
    } else if is("Approved") {
        "Approved"
    } else {
        "Pending"
    };
    let failed = if is("Failed") { ",Failed" } else { "" };
    let issued = if status.certificate.is_empty() {
        ""
    } else {
        ",Issued"
    };
    format!("{decided}{failed}{issued}")
}
