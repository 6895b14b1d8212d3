//! Validation of a definition's version conversion.

use crate::admissionregistration::webhook::{Service, check_service, check_url};
use crate::shared::rules::{self, Errors};
use kubist_api::apiextensions::v1::{CustomResourceConversion, WebhookClientConfig};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;

const STRATEGIES: [&str; 2] = ["None", "Webhook"];
/// The review versions that upstream supports.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
/// The error for webhook fields that are set without a webhook.
const WITHOUT: &str = "should not be set when strategy is not set to Webhook";

/// Checks a conversion. `may_convert` allows strategies other than `None`.
pub(crate) fn check(
    errors: &mut Errors,
    conversion: &CustomResourceConversion,
    may_convert: bool,
    path: &FieldPath,
) {
    let (strategy, at) = (conversion.strategy.as_str(), path.child("strategy"));
    if strategy != "None" && !may_convert {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(&at, strategy, detail));
    }
    if rules::required(errors, strategy, &at) {
        rules::one_of_texts(errors, strategy, &STRATEGIES, &at);
    }
    let webhook = conversion.webhook.as_deref();
    let client = webhook.and_then(|it| it.client_config.as_deref());
    let reviews = webhook.map_or(&[][..], |it| &it.conversion_review_versions);
    let client_path = path.child("webhookClientConfig");
    let reviews_path = path.child("conversionReviewVersions");
    if strategy == "Webhook" {
        check_client(errors, client, &client_path);
        check_reviews(errors, reviews, &reviews_path);
        return;
    }
    if client.is_some() {
        errors.push(FieldError::forbidden(&client_path, WITHOUT));
    }
    if !reviews.is_empty() {
        errors.push(FieldError::forbidden(&reviews_path, WITHOUT));
    }
}

fn check_client(errors: &mut Errors, client: Option<&WebhookClientConfig>, path: &FieldPath) {
    let Some(client) = client else {
        let detail = "required when strategy is set to Webhook";
        errors.push(FieldError::required(path, detail));
        return;
    };
    match (&client.url, &client.service) {
        (Some(url), None) => check_url(errors, url, &path.child("url")),
        (None, Some(service)) => {
            let service = Service {
                name: &service.name,
                namespace: &service.namespace,
                path: service.path.as_deref(),
                port: service.port,
            };
            check_service(errors, &service, &path.child("service"));
        }
        _ => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(path, detail));
        }
    }
}

fn check_reviews(errors: &mut Errors, versions: &[Str], path: &FieldPath) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        if !seen.insert(version.as_str()) {
            errors.push(FieldError::invalid(&path, version, "duplicate version"));
            continue;
        }
        rules::text(errors, version, &path, validate_name::dns1035_label);
    }
    if !REVIEWS.iter().any(|it| seen.contains(it)) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(FieldError::invalid(path, rules::list(versions), detail));
    }
}
