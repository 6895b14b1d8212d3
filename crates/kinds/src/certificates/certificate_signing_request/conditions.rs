//! The conditions and the certificate of CertificateSigningRequests.
//!
//! `Approved` and `Denied` are set through `approval`, and the certificate through `status`.
//! Once set, neither can be removed.

use super::issued;
use crate::shared::rules::{self, Errors};
use kubist_api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kubist_apimachinery::{FieldError, FieldPath, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The conditions that only `approval` may set.
const VERDICTS: [&str; 2] = ["Approved", "Denied"];
/// The conditions that cannot be removed.
const LASTING: [&str; 3] = ["Approved", "Denied", "Failed"];
/// The error if both conditions are set.
const EXCLUSIVE: &str = "Approved and Denied conditions are mutually exclusive";

fn is_verdict(condition: &CertificateSigningRequestCondition) -> bool {
    VERDICTS.contains(&condition.type_.as_str())
}

/// Restores the stored approval conditions, unless their number changes.
pub(crate) fn keep_verdict(new: &mut CertificateSigningRequest, old: &CertificateSigningRequest) {
    for kind in VERDICTS {
        if count(new, kind) != count(old, kind) {
            continue;
        }
        let is_it = |it: &&CertificateSigningRequestCondition| it.type_ == *kind;
        let before = old.status.conditions.iter().filter(is_it);
        let conditions = new.status.conditions.iter_mut();
        for (condition, before) in conditions.filter(|it| it.type_ == *kind).zip(before) {
            condition.clone_from(before);
        }
    }
}

fn count(request: &CertificateSigningRequest, kind: &str) -> usize {
    let conditions = request.status.conditions.iter();
    conditions.filter(|it| it.type_ == *kind).count()
}

/// Fills in the update times and the transition times of conditions.
pub(crate) fn fill_times(
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

/// Checks an update of `status` or of `approval`.
pub(crate) fn check(
    new: &CertificateSigningRequest,
    old: &CertificateSigningRequest,
    is_status: bool,
) -> Errors {
    let mut errors = Vec::new();
    let path = FieldPath::new("status");
    let conditions = path.child("conditions");
    check_conditions(&mut errors, new, &conditions);
    let (now, before) = (&new.status.certificate, &old.status.certificate);
    let path = path.child("certificate");
    if now != before
        && !now.is_empty()
        && let Err(why) = issued::check(now)
    {
        errors.push(FieldError::invalid(&path, "<certificate data>", why));
    }
    for kind in LASTING {
        if count(new, kind) < count(old, kind) {
            let detail = format!("updates may not remove a condition of type {kind:?}");
            errors.push(FieldError::forbidden(&conditions, detail));
        }
    }
    for kind in VERDICTS {
        if is_status && count(new, kind) > count(old, kind) {
            let detail = format!("updates may not add a condition of type {kind:?}");
            errors.push(FieldError::forbidden(&conditions, detail));
        }
    }
    if now != before {
        if !is_status {
            let detail = "updates may not set certificate content";
            errors.push(FieldError::forbidden(&path, detail));
        } else if !before.is_empty() {
            let detail = "updates may not modify existing certificate content";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    errors
}

fn check_conditions(errors: &mut Errors, new: &CertificateSigningRequest, list: &FieldPath) {
    let conditions = &new.status.conditions;
    let mut verdicts = BTreeSet::new();
    let repeated = rules::repeats(conditions.iter().map(|it| &it.type_));
    for (index, condition) in conditions.iter().enumerate() {
        let path = list.index(index);
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
        if is_verdict(condition) {
            verdicts.insert(kind);
            if verdicts.len() > 1 {
                errors.push(FieldError::invalid(list, kind, EXCLUSIVE));
            }
        }
        if repeated[index] {
            errors.push(FieldError::duplicate(&path.child("type"), kind));
        }
    }
}
