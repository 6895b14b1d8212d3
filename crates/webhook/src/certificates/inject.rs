//! Puts the bundle of authorities into what names a webhook.

use super::CertificateError;
use kubist_api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::{ByteString, Str};
use kubist_client::{Api, ApiError, Client};

/// An object that names a webhook of this server: its `caBundle` is set in every entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the API has these three")]
pub enum InjectInto {
    /// A `ValidatingWebhookConfiguration` of this name.
    Validating(Str),
    /// A `MutatingWebhookConfiguration` of this name.
    Mutating(Str),
    /// A `CustomResourceDefinition` of this name, whose conversion is by webhook.
    Conversion(Str),
}

impl InjectInto {
    /// Sets the bundle, if it is another one; an object that does not exist yet is left for the
    /// next time.
    pub(super) async fn inject(
        &self,
        client: &Client,
        bundle: &str,
    ) -> Result<(), CertificateError> {
        let bundle = ByteString(bundle.as_bytes().to_vec());
        let edited = match self {
            Self::Validating(name) => {
                let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
                let set = |it: &mut ValidatingWebhookConfiguration| {
                    for webhook in &mut it.webhooks {
                        webhook.client_config.ca_bundle = bundle.clone();
                    }
                };
                api.edit(name, set).await.map(drop)
            }
            Self::Mutating(name) => {
                let api: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
                let set = |it: &mut MutatingWebhookConfiguration| {
                    for webhook in &mut it.webhooks {
                        webhook.client_config.ca_bundle = bundle.clone();
                    }
                };
                api.edit(name, set).await.map(drop)
            }
            Self::Conversion(name) => {
                let api: Api<CustomResourceDefinition> = Api::all(client.clone());
                let set = |it: &mut CustomResourceDefinition| {
                    let conversion = it.spec.conversion.as_mut();
                    let webhook = conversion.and_then(|it| it.webhook.as_mut());
                    if let Some(config) = webhook.and_then(|it| it.client_config.as_mut()) {
                        config.ca_bundle = bundle.clone();
                    }
                };
                api.edit(name, set).await.map(drop)
            }
        };
        match edited {
            Err(ApiError::Status(status)) if status.is_not_found() => {
                tracing::debug!(into = ?self, "it does not exist yet");
                Ok(())
            }
            edited => Ok(edited?),
        }
    }
}
