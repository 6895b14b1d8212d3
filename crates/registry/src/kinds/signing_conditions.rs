//! The conditions of CertificateSigningRequests: what was decided, by whom, and the certificate.
//!
//! The verdict (`Approved`, `Denied`) is given through `approval` and the certificate through
//! `status`; neither takes back what was said.

use kubist_api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kubist_apimachinery::{FieldError, FieldPath, Time};
use std::collections::BTreeMap;

use super::rules::{self, Errors};

/// The conditions that `approval` alone may set.
const VERDICTS: [&str; 2] = ["Approved", "Denied"];
/// The conditions that stay.
const LASTING: [&str; 3] = ["Approved", "Denied", "Failed"];
/// How each certificate begins.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

fn is_verdict(condition: &CertificateSigningRequestCondition) -> bool {
    VERDICTS.contains(&condition.type_.as_str())
}

/// Keeps the verdict as it was.
pub(super) fn keep_verdict(new: &mut CertificateSigningRequest, old: &CertificateSigningRequest) {
    let verdicts = |request: &CertificateSigningRequest| {
        let all = request.status.conditions.iter();
        all.filter(|it| is_verdict(it)).cloned().collect::<Vec<_>>()
    };
    let before = verdicts(old);
    if verdicts(new) != before {
        new.status.conditions.retain(|it| !is_verdict(it));
        new.status.conditions.splice(0..0, before);
    }
}

/// Fills in when conditions were written, and when they came to be.
pub(super) fn fill_times(
    new: &mut CertificateSigningRequest,
    old: &CertificateSigningRequest,
    now: Time,
) {
    let mut since = BTreeMap::new();
    for condition in &old.status.conditions {
        if let Some(time) = condition.last_transition_time {
            let of = (&condition.type_, &condition.status);
            since.entry(of).or_insert(time);
        }
    }
    for condition in &mut new.status.conditions {
        condition.last_update_time.get_or_insert(now);
        if condition.last_transition_time.is_none() {
            let since = since.get(&(&condition.type_, &condition.status));
            condition.last_transition_time = Some(since.copied().unwrap_or(now));
        }
    }
}

/// Checks a change of the status, or of the verdict alone.
pub(super) fn check(
    new: &CertificateSigningRequest,
    old: &CertificateSigningRequest,
    certificate_may_change: bool,
) -> Errors {
    let mut errors = Vec::new();
    let path = FieldPath::new("status");
    check_conditions(&mut errors, new, old, &path.child("conditions"));
    let (now, before) = (&new.status.certificate, &old.status.certificate);
    let path = path.child("certificate");
    if now != before {
        if !certificate_may_change {
            let detail = "updates may not set certificate content";
            errors.push(FieldError::forbidden(&path, detail));
        } else if !before.is_empty() {
            let detail = "updates may not modify existing certificate content";
            errors.push(FieldError::forbidden(&path, detail));
        } else if !now
            .windows(BEGIN.len())
            .any(|part| part == BEGIN.as_bytes())
        {
            let detail = "must contain at least one CERTIFICATE PEM block";
            errors.push(FieldError::invalid(&path, "<certificate data>", detail));
        }
    }
    errors
}

fn check_conditions(
    errors: &mut Errors,
    new: &CertificateSigningRequest,
    old: &CertificateSigningRequest,
    path: &FieldPath,
) {
    let conditions = &new.status.conditions;
    let repeated = rules::repeats(conditions.iter().map(|it| &it.type_));
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = condition.type_.as_str();
        rules::required(errors, kind, &path.child("type"));
        let status = condition.status.as_str();
        let status_path = path.child("status");
        match kind {
            _ if !rules::required(errors, status, &status_path) => {}
            "Approved" | "Denied" | "Failed" => {
                rules::one_of(errors, status, &["True"], &status_path);
            }
            _ => rules::one_of(errors, status, &["False", "True", "Unknown"], &status_path),
        }
        if repeated[index] {
            errors.push(FieldError::duplicate(&path.child("type"), kind));
        }
    }
    let has = |request: &CertificateSigningRequest, kind: &str| {
        request.status.conditions.iter().any(|it| it.type_ == *kind)
    };
    if VERDICTS.iter().all(|kind| has(new, kind)) {
        let later = conditions.iter().rposition(is_verdict).unwrap_or_default();
        let [first, second] = match conditions[later].type_.as_str() {
            "Approved" => ["Denied", "Approved"],
            _ => ["Approved", "Denied"],
        };
        let detail = format!("{first} and {second} conditions are mutually exclusive");
        let path = path.index(later).child("type");
        errors.push(FieldError::invalid(&path, second, detail));
    }
    for kind in LASTING {
        if has(old, kind) && !has(new, kind) {
            let detail = format!("updates may not remove a condition of type {kind:?}");
            errors.push(FieldError::forbidden(path, detail));
        }
    }
}
