//! Validation of a definition's version conversion.

use crate::admissionregistration::webhook::{Service, check_service, check_url};
use crate::shared::rules::{self, Errors};
use kubist_api::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig,
};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use kubist_registry::validate_ca_bundle;
use std::collections::BTreeSet;

const STRATEGIES: [&str; 2] = ["None", "Webhook"];
/// The review versions that upstream supports.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
/// The error for webhook fields that are set without a webhook.
const WITHOUT: &str = "should not be set when strategy is not set to Webhook";

/// What the rest of the definition, and its state before an update, allow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Strategies other than `None`.
    pub(crate) conversion: bool,
    /// An invalid CA bundle.
    pub(crate) invalid_ca_bundle: bool,
    /// Only review versions that upstream does not support.
    pub(crate) unknown_reviews: bool,
}

impl Allowed {
    /// Returns what a definition allows; `old` is its state before an update.
    pub(crate) fn of(
        definition: &CustomResourceDefinition,
        old: Option<&CustomResourceDefinition>,
    ) -> Self {
        Self {
            conversion: !definition.spec.preserve_unknown_fields,
            // As upstream, an invalid bundle keeps a definition from being established.
            invalid_ca_bundle: old.is_none_or(|old| {
                let mut conditions = old.status.conditions.iter();
                let is_established =
                    conditions.any(|it| it.type_ == "Established" && it.status == "True");
                !is_established || {
                    let bundle = client_of(old).map(|it| &it.ca_bundle);
                    bundle.is_some_and(|it| validate_ca_bundle(it).is_some())
                }
            }),
            unknown_reviews: old.is_some_and(|old| {
                let webhook = old.spec.conversion.as_deref();
                let webhook = webhook.and_then(|it| it.webhook.as_deref());
                let reviews = webhook.map_or(&[][..], |it| &it.conversion_review_versions);
                !reviews.is_empty() && !reviews.iter().any(|it| REVIEWS.contains(&&**it))
            }),
        }
    }
}

fn client_of(definition: &CustomResourceDefinition) -> Option<&WebhookClientConfig> {
    let conversion = definition.spec.conversion.as_deref()?;
    conversion.webhook.as_deref()?.client_config.as_deref()
}

/// Checks a conversion.
pub(crate) fn check(
    errors: &mut Errors,
    conversion: &CustomResourceConversion,
    allowed: Allowed,
    path: &FieldPath,
) {
    let (strategy, at) = (conversion.strategy.as_str(), path.child("strategy"));
    if strategy != "None" && !allowed.conversion {
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
        check_client(errors, client, allowed, &client_path);
        check_reviews(errors, reviews, allowed, &reviews_path);
        return;
    }
    if client.is_some() {
        errors.push(FieldError::forbidden(&client_path, WITHOUT));
    }
    if !reviews.is_empty() {
        errors.push(FieldError::forbidden(&reviews_path, WITHOUT));
    }
}

fn check_client(
    errors: &mut Errors,
    client: Option<&WebhookClientConfig>,
    allowed: Allowed,
    path: &FieldPath,
) {
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
    if !allowed.invalid_ca_bundle
        && let Some(why) = validate_ca_bundle(&client.ca_bundle)
    {
        let shown = to_json_value(client)["caBundle"].take();
        let shown = shown.as_str().unwrap_or_default();
        errors.push(FieldError::invalid(&path.child("caBundle"), shown, why));
    }
}

fn check_reviews(errors: &mut Errors, versions: &[Str], allowed: Allowed, path: &FieldPath) {
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
    if !allowed.unknown_reviews && !REVIEWS.iter().any(|it| seen.contains(it)) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(FieldError::invalid(path, rules::list(versions), detail));
    }
}
