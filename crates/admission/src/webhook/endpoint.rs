//! `Endpoint`: where a webhook is, and the client that calls it.

use bytes::Bytes;
use kubist_api::admissionregistration::v1::WebhookClientConfig;
use kubist_registry::{
    WebhookCaller, WebhookClient, WebhookConfig, WebhookError, WebhookService, WebhookTarget,
};
use std::sync::{Arc, OnceLock};

/// The port of a service without one, as upstream.
const DEFAULT_PORT: i32 = 443;

/// Where a webhook is.
#[derive(Debug)]
pub(super) struct Endpoint {
    config: Result<WebhookConfig, WebhookError>,
    /// Created at the first call.
    client: OnceLock<Result<Arc<dyn WebhookClient>, WebhookError>>,
}

impl Endpoint {
    pub(super) fn of(client: &WebhookClientConfig) -> Self {
        Self {
            config: config_of(client),
            client: OnceLock::new(),
        }
    }

    /// Returns the client.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub(super) fn client(
        &self,
        caller: &dyn WebhookCaller,
    ) -> Result<&Arc<dyn WebhookClient>, WebhookError> {
        let config = self.config.as_ref().map_err(Clone::clone)?;
        let client = self.client.get_or_init(|| caller.client(config));
        client.as_ref().map_err(Clone::clone)
    }
}

fn config_of(client: &WebhookClientConfig) -> Result<WebhookConfig, WebhookError> {
    let invalid = |reason: &str| WebhookError::InvalidConfig {
        reason: reason.to_owned(),
    };
    let target = match (&client.service, &client.url) {
        (Some(service), _) => WebhookTarget::Service(WebhookService {
            namespace: service.namespace.to_string(),
            name: service.name.to_string(),
            path: service.path.as_deref().unwrap_or_default().to_owned(),
            port: u16::try_from(service.port.unwrap_or(DEFAULT_PORT))
                .map_err(|_| invalid("the port of the service is invalid"))?,
        }),
        (None, Some(url)) => WebhookTarget::Url(url.to_string()),
        (None, None) => {
            return Err(invalid(
                "webhook configuration must have either service or URL",
            ));
        }
    };
    let bundle = &client.ca_bundle;
    // As upstream, white space counts as no bundle.
    let is_blank = bundle.iter().all(u8::is_ascii_whitespace);
    Ok(WebhookConfig {
        target,
        ca_bundle: if is_blank {
            Bytes::new()
        } else {
            Bytes::copy_from_slice(bundle)
        },
    })
}
