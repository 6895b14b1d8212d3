//! Services outside of the cluster that a server asks: webhooks that know tokens or decide about
//! requests, as their kubeconfig describes them, and issuers of tokens.
//!
//! Requests go over HTTP/1.1 and use what webhooks use. Proxies of the environment are not used.

mod fetch;

pub(crate) use fetch::{FetchClient, Fetched};

use crate::webhook::client::Client;
use crate::webhook::remote_service::RemoteService;
use bytes::Bytes;
use kubist_registry::WebhookError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// Why a service gave no usable answer.
pub(crate) type RemoteError = WebhookError;

/// How often a call is made, at most, as upstream.
const STEPS: u32 = 5;
/// The pause before the second call; each further one is half as long again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A client of a service that takes reviews.
#[derive(Debug)]
pub(crate) struct RemoteClient {
    client: Client,
    url: String,
}

impl RemoteClient {
    /// # Errors
    /// The service cannot be called at all.
    pub(crate) fn new(service: &RemoteService) -> Result<Self, RemoteError> {
        Ok(Self {
            client: Client::remote(service)?,
            url: service.url.clone(),
        })
    }

    /// Posts JSON, and repeats it while the service fails for the moment, as upstream: up to five
    /// times, with growing pauses.
    ///
    /// # Errors
    /// The last call failed.
    pub(crate) async fn post_with_backoff(
        &self,
        body: &Bytes,
        timeout: Duration,
        answer_bytes_max: usize,
    ) -> Result<Bytes, RemoteError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..STEPS {
            let posted = self
                .client
                .post(body.clone(), answer_bytes_max, None, timeout)
                .await;
            match posted {
                Err(error) if passes(&error) => {}
                other => return other,
            }
            tokio::time::sleep(pause).await;
            pause += pause / 2;
        }
        self.client
            .post(body.clone(), answer_bytes_max, None, timeout)
            .await
    }

    /// Decodes the JSON of an answer.
    ///
    /// # Errors
    /// It is something else.
    pub(crate) fn decode<T: DeserializeOwned>(&self, answer: &[u8]) -> Result<T, RemoteError> {
        serde_json::from_slice(answer).map_err(|error| self.malformed(&error.to_string()))
    }

    /// The error of an answer that is something else.
    pub(crate) fn malformed(&self, why: &str) -> RemoteError {
        RemoteError::Transport {
            url: self.url.clone(),
            reason: format!("the answer cannot be used: {why}"),
        }
    }
}

/// Reports whether a failure may be over a moment later, as upstream decides it.
fn passes(error: &RemoteError) -> bool {
    match error {
        WebhookError::Refused { code, .. } => matches!(code, 429 | 500 | 504),
        WebhookError::Transport { reason, .. } => reason.contains("connection reset by peer"),
        _ => false,
    }
}

/// Decodes `null` as the default, as Go does.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
