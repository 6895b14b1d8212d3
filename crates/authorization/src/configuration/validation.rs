//! What is wrong with a file, in upstream's words.

use super::file::{Authorizer, File, MatchCondition, Webhook};
use super::{
    AuthorizationConfiguration, AuthorizationConfigurationError, AuthorizerConfiguration,
    FailurePolicy, MatchConditions, WebhookConfiguration,
};
use kubist_apimachinery::validate_name::dns1123_subdomain;
use kubist_apimachinery::{Duration, FieldError, FieldPath};
use std::collections::BTreeSet;

const WEBHOOK: &str = "Webhook";
/// The types of upstream, in order, as its messages have them.
const TYPES: [&str; 6] = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", WEBHOOK];
const TIMEOUT_MAX: Duration = Duration::from_secs(30);
/// The most conditions of a webhook, as upstream.
const CONDITIONS_MAX: usize = 64;

pub(super) fn configuration(
    file: File,
) -> Result<AuthorizationConfiguration, AuthorizationConfigurationError> {
    let root = FieldPath::new("authorizers");
    let (mut errors, mut wrong_name) = (Vec::new(), None);
    if file.authorizers.is_empty() {
        let why = "at least one authorization mode must be defined";
        errors.push(FieldError::required(&root, why));
    }
    let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut authorizers = Vec::new();
    for (at, it) in file.authorizers.into_iter().enumerate() {
        let path = root.index(at);
        if !check_type(&it, &mut types, &path.child("type"), &mut errors) {
            continue;
        }
        check_name(&it.name, &mut names, &path.child("name"), &mut errors);
        if it.kind != WEBHOOK && it.name != it.kind.to_lowercase() {
            wrong_name.get_or_insert_with(|| AuthorizationConfigurationError::Name {
                expected: it.kind.to_lowercase(),
                kind: it.kind.clone(),
                found: it.name.clone(),
            });
        }
        authorizers.extend(authorizer(it, &path, &mut errors));
    }
    if !errors.is_empty() {
        return Err(AuthorizationConfigurationError::Invalid { errors });
    }
    match wrong_name {
        Some(wrong) => Err(wrong),
        None => Ok(AuthorizationConfiguration { authorizers }),
    }
}

/// Reports whether the type is one that can be looked at further.
fn check_type(
    it: &Authorizer,
    seen: &mut BTreeSet<String>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> bool {
    let kind = &*it.kind;
    if kind.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported_text(path, kind, &TYPES));
    } else if !seen.insert(kind.to_owned()) && kind != WEBHOOK {
        errors.push(FieldError::duplicate(path, kind));
    } else {
        return true;
    }
    false
}

fn check_name(
    name: &str,
    seen: &mut BTreeSet<String>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let problems = dns1123_subdomain(name);
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if seen.contains(name) {
        errors.push(FieldError::duplicate(path, name));
    } else if !problems.is_empty() {
        let why = format!("authorizer name is invalid: {}", problems.join(", "));
        errors.push(FieldError::invalid(path, name, why));
    }
    seen.insert(name.to_owned());
}

fn authorizer(
    it: Authorizer,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Option<AuthorizerConfiguration> {
    let of_webhook = path.child("webhook");
    if it.kind == WEBHOOK {
        let Some(file) = it.webhook else {
            let why = "required when type=Webhook";
            errors.push(FieldError::required(&of_webhook, why));
            return None;
        };
        let webhook = webhook(it.name, file, path, errors);
        return Some(AuthorizerConfiguration::Webhook(webhook));
    }
    if it.webhook.is_some() {
        let why = "may only be specified when type=Webhook";
        errors.push(FieldError::invalid(&of_webhook, "non-null", why));
    }
    Some(match &*it.kind {
        "AlwaysAllow" => AuthorizerConfiguration::AlwaysAllow,
        "AlwaysDeny" => AuthorizerConfiguration::AlwaysDeny,
        "Node" => AuthorizerConfiguration::Node,
        "RBAC" => AuthorizerConfiguration::Rbac,
        kind => {
            let why = "this server has no such authorizer";
            errors.push(FieldError::invalid(&path.child("type"), kind, why));
            return None;
        }
    })
}

/// As upstream, the path of the fields is that of the authorizer.
fn webhook(
    name: String,
    file: Webhook,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> WebhookConfiguration {
    let timeout = path.child("timeout");
    if file.timeout == Duration::ZERO {
        errors.push(FieldError::required(&timeout, ""));
    } else if file.timeout > TIMEOUT_MAX || file.timeout < Duration::ZERO {
        let (found, why) = (file.timeout.to_string(), "must be > 0s and <= 30s");
        errors.push(FieldError::invalid(&timeout, &found, why));
    }
    let mut ttl = |name: &str, ttl: Duration, is_kept: bool| {
        if ttl < Duration::ZERO {
            let (path, found) = (path.child(name), ttl.to_string());
            errors.push(FieldError::invalid(&path, &found, "must be > 0s"));
        }
        let ttl = ttl.to_std().filter(|_| is_kept);
        ttl.unwrap_or_default()
    };
    let kept = |ttl: Duration, default: i64| match ttl {
        Duration::ZERO => Duration::from_secs(default),
        ttl => ttl,
    };
    let authorized = kept(file.authorized_ttl, 5 * 60);
    let authorized = ttl("authorizedTTL", authorized, file.cache_authorized_requests);
    let unauthorized = kept(file.unauthorized_ttl, 30);
    let unauthorized = ttl(
        "unauthorizedTTL",
        unauthorized,
        file.cache_unauthorized_requests,
    );
    versions(&file, path, errors);
    let failure_policy = failure_policy(&file.failure_policy, path, errors);
    connection(&file, path, errors);
    WebhookConfiguration {
        name,
        authorized_ttl: authorized,
        unauthorized_ttl: unauthorized,
        timeout: file.timeout.to_std().unwrap_or_default(),
        version: file.subject_access_review_version,
        failure_policy,
        kube_config_file: file.connection_info.kube_config_file.unwrap_or_default(),
        match_conditions: conditions(&file.match_conditions, path, errors),
    }
}

fn versions(file: &Webhook, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let of_review = path.child("subjectAccessReviewVersion");
    match &*file.subject_access_review_version {
        "" => errors.push(FieldError::required(&of_review, "")),
        "v1" | "v1beta1" => {}
        other => {
            let known = ["v1", "v1beta1"];
            errors.push(FieldError::not_supported_text(&of_review, other, &known));
        }
    }
    let of_conditions = path.child("matchConditionSubjectAccessReviewVersion");
    match &*file.match_condition_subject_access_review_version {
        "" if file.match_conditions.is_empty() => {}
        "" => {
            let why = "required if match conditions are specified";
            errors.push(FieldError::required(&of_conditions, why));
        }
        "v1" => {}
        other => errors.push(FieldError::not_supported_text(
            &of_conditions,
            other,
            &["v1"],
        )),
    }
}

fn failure_policy(text: &str, path: &FieldPath, errors: &mut Vec<FieldError>) -> FailurePolicy {
    let path = path.child("failurePolicy");
    match text {
        "NoOpinion" => return FailurePolicy::NoOpinion,
        "Deny" => {}
        "" => errors.push(FieldError::required(&path, "")),
        other => {
            let known = ["NoOpinion", "Deny"];
            errors.push(FieldError::not_supported_text(&path, other, &known));
        }
    }
    FailurePolicy::Deny
}

fn connection(file: &Webhook, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let info = &file.connection_info;
    let path = path.child("connectionInfo");
    let (of_type, of_file) = (path.child("type"), path.child("kubeConfigFile"));
    match (&*info.kind, info.kube_config_file.as_deref()) {
        ("", _) => errors.push(FieldError::required(&of_type, "")),
        ("KubeConfigFile", None | Some("")) => errors.push(FieldError::required(&of_file, "")),
        ("KubeConfigFile", Some(file)) => {
            if !file.starts_with('/') {
                let why = "must be an absolute path";
                errors.push(FieldError::invalid(&of_file, file, why));
            }
        }
        ("InClusterConfig", found) => {
            if let Some(file) = found {
                let why = "can only be set when type=KubeConfigFile";
                errors.push(FieldError::invalid(&of_file, file, why));
            }
            let why = "this server runs in no cluster";
            errors.push(FieldError::invalid(&of_type, &info.kind, why));
        }
        (other, _) => {
            let known = ["InClusterConfig", "KubeConfigFile"];
            errors.push(FieldError::not_supported_text(&of_type, other, &known));
        }
    }
}

fn conditions(
    file: &[MatchCondition],
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> MatchConditions {
    let path = path.child("matchConditions");
    let mut conditions = MatchConditions::default();
    if file.len() > CONDITIONS_MAX {
        errors.push(FieldError::too_many(
            &path,
            Some(file.len()),
            CONDITIONS_MAX,
        ));
        return conditions;
    }
    let mut seen = BTreeSet::new();
    for (at, condition) in file.iter().enumerate() {
        let path = path.index(at).child("expression");
        let text = &*condition.expression;
        if text.trim().is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if !seen.insert(text) {
            errors.push(FieldError::duplicate(&path, text));
        } else if let Err(why) = conditions.add(text) {
            errors.push(FieldError::invalid(&path, text, why));
        }
    }
    conditions
}
