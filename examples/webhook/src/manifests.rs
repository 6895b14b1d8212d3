//! What makes an API server ask: the definition with its conversion, and the configurations.

use crate::{v1, v2};
use kubist::api::admissionregistration::v1 as admission;
use kubist::api::admissionregistration::v1::{
    MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhook,
    ValidatingWebhookConfiguration,
};
use kubist::api::apiextensions::v1 as extensions;
use kubist::api::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookConversion,
};
use kubist::apimachinery::Resource as _;
use kubist::custom_resource::{CustomResource as _, MergeError, merge_definitions};

/// The name of the Service, of the configurations, and of the Secret with the certificate.
pub(crate) const NAME: &str = "website-webhook";
/// The namespace of the Service and the Secret.
pub(crate) const NAMESPACE: &str = "website-system";

/// The definition of both versions; objects are stored as `v2`.
pub(crate) fn definition() -> Result<CustomResourceDefinition, MergeError> {
    let versions = [v1::Website::definition(), v2::Website::definition()];
    let mut definition = merge_definitions(versions, "v2")?;
    let service = extensions::ServiceReference {
        namespace: NAMESPACE.into(),
        name: NAME.into(),
        path: Some("/convert".into()),
        ..extensions::ServiceReference::default()
    };
    definition.spec.conversion = Some(Box::new(CustomResourceConversion {
        strategy: "Webhook".into(),
        webhook: Some(Box::new(WebhookConversion {
            client_config: Some(Box::new(extensions::WebhookClientConfig {
                service: Some(Box::new(service)),
                ..extensions::WebhookClientConfig::default() // the bundle is put in later
            })),
            conversion_review_versions: vec!["v1".into()],
        })),
    }));
    Ok(definition)
}

/// The configuration of the validating webhook.
pub(crate) fn validating() -> ValidatingWebhookConfiguration {
    let mut configuration = ValidatingWebhookConfiguration::default();
    configuration.metadata.name = NAME.into();
    configuration.webhooks = vec![ValidatingWebhook {
        name: "validate.example.com".into(),
        client_config: client_config("/validate"),
        rules: vec![rule(&["CREATE", "UPDATE"])],
        side_effects: Some("None".into()),
        admission_review_versions: vec!["v1".into()],
        ..ValidatingWebhook::default()
    }];
    configuration
}

/// The configuration of the mutating webhook.
pub(crate) fn mutating() -> MutatingWebhookConfiguration {
    let mut configuration = MutatingWebhookConfiguration::default();
    configuration.metadata.name = NAME.into();
    configuration.webhooks = vec![MutatingWebhook {
        name: "mutate.example.com".into(),
        client_config: client_config("/mutate"),
        rules: vec![rule(&["CREATE"])],
        side_effects: Some("None".into()),
        admission_review_versions: vec!["v1".into()],
        ..MutatingWebhook::default()
    }];
    configuration
}

fn client_config(path: &str) -> admission::WebhookClientConfig {
    admission::WebhookClientConfig {
        service: Some(Box::new(admission::ServiceReference {
            namespace: NAMESPACE.into(),
            name: NAME.into(),
            path: Some(path.into()),
            ..admission::ServiceReference::default()
        })),
        ..admission::WebhookClientConfig::default()
    }
}

/// Objects of older versions are converted to this one before the webhook is asked.
fn rule(operations: &[&str]) -> RuleWithOperations {
    RuleWithOperations {
        operations: operations.iter().map(|it| (*it).into()).collect(),
        api_groups: vec![v2::Website::GROUP.into()],
        api_versions: vec![v2::Website::VERSION.into()],
        resources: vec![v2::Website::PLURAL.into()],
        ..RuleWithOperations::default()
    }
}
