//! `WebhookCaller`: calls webhooks on behalf of the registry.
//!
//! The registry decides when to call which webhook, and checks the answers. It does no network I/O
//! itself: the server above it supplies the caller in
//! [`RegistryConfig::webhooks`](crate::RegistryConfig::webhooks). The interface is independent of
//! the review that is sent, so that conversion, admission and token reviews can share it.

mod ca_bundle;
mod pem_blocks;

pub use self::ca_bundle::validate_ca_bundle;
pub use self::pem_blocks::{PemBlock, PemBlocks};

use crate::strategy::BoxFuture;
use crate::strategy::admission::Lookup;
use bytes::Bytes;
use kubist_apimachinery::go_text::quote;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Creates clients of webhooks.
pub trait WebhookCaller: fmt::Debug + Send + Sync {
    /// Returns a client for a webhook. Clients of equal configurations may share connections.
    /// Connections and other resources are released when the last such client is dropped.
    ///
    /// # Errors
    /// The configuration is invalid.
    fn client(&self, config: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError>;
}

/// A client of one webhook.
pub trait WebhookClient: fmt::Debug + Send + Sync {
    /// Sends a JSON body to the webhook, and returns the body of a successful response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the call. The webhook may have received it.
    fn call<'a>(&'a self, call: WebhookCall<'a>) -> BoxFuture<'a, Result<Bytes, WebhookError>>;
}

/// The configuration of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the registry fills it in")]
pub struct WebhookConfig {
    /// Where the webhook is.
    pub target: WebhookTarget,
    /// The certificate authorities, in PEM, that the certificate of the webhook is verified
    /// against. If it is empty, those of the operating system are used.
    pub ca_bundle: Bytes,
}

/// The location of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "upstream has no other forms")]
pub enum WebhookTarget {
    /// An `https` URL.
    Url(String),
    /// A service of the cluster.
    Service(WebhookService),
}

/// A service of the cluster that serves a webhook.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the registry fills it in")]
pub struct WebhookService {
    /// The namespace of the service.
    pub namespace: String,
    /// The name of the service.
    pub name: String,
    /// The URL path; may be empty.
    pub path: String,
    /// The port of the service.
    pub port: u16,
}

impl WebhookTarget {
    /// Returns the URL of a call. As with upstream's client, it names the timeout, and its path has
    /// no empty segments, `.` and `..`.
    pub fn url(&self, timeout: Duration) -> String {
        let seconds = timeout.as_secs();
        match self {
            Self::Url(url) => {
                let begin = url.find("://").map_or(0, |it| it + 3);
                let path = url[begin..].find('/').map_or(url.len(), |it| begin + it);
                let (base, path) = url.split_at(path);
                let path = if path.is_empty() {
                    String::new()
                } else {
                    clean(path)
                };
                format!("{base}{path}?timeout={seconds}s")
            }
            Self::Service(service) => {
                let WebhookService {
                    namespace,
                    name,
                    path,
                    port,
                } = service;
                let path = clean(path);
                format!("https://{name}.{namespace}.svc:{port}{path}?timeout={seconds}s")
            }
        }
    }
}

/// Returns a path without empty segments, `.` and `..`.
fn clean(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// One call of a webhook.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the registry fills it in")]
pub struct WebhookCall<'a> {
    /// The request body, in JSON.
    pub body: Bytes,
    /// The maximum length of the response body.
    pub response_bytes_max: usize,
    /// The time after which the call fails.
    pub timeout: Duration,
    /// Looks up the service of the webhook.
    pub lookup: &'a dyn Lookup,
}

/// The failure of a webhook call. The texts are those of upstream's client.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The response was not complete at the deadline.
    #[error(
        "Post {url:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    )]
    Deadline {
        /// The URL of the call.
        url: String,
    },
    /// The configuration is invalid.
    #[error("{reason}")]
    InvalidConfig {
        /// What is wrong with it.
        reason: String,
    },
    /// The registry has no webhook caller.
    #[error("this server does not call webhooks: no webhook caller is configured")]
    NoCaller,
    /// The response has another status than success.
    #[error("{}", refused(*code, body))]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The beginning of the response body.
        body: String,
    },
    /// The response is longer than the limit.
    #[error("Post {url:?}: the response is longer than {limit} bytes")]
    ResponseTooLarge {
        /// The URL of the call.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// No connection was made, or it failed before the response was complete.
    #[error("Post {url:?}: {reason}")]
    Transport {
        /// The URL of the call.
        url: String,
        /// What failed.
        reason: String,
    },
}

/// Returns upstream's message for a response that is not a success.
fn refused(code: u16, body: &str) -> String {
    let body = if body.is_empty() { "unknown" } else { body };
    let message = match code {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        406 if body == "unknown" => {
            "the server was unable to respond with a content type that the client supports"
        }
        403 | 406 | 415 => body,
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request"
        }
        500.. => {
            let shown = quote(body);
            return format!(
                "an error on the server ({shown}) has prevented the request from succeeding"
            );
        }
        _ => {
            return format!(
                "the server responded with the status code {code} but did not return more \
                 information"
            );
        }
    };
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_called_by_its_clean_path() {
        let url = |url: &str| WebhookTarget::Url(url.to_owned()).url(Duration::from_secs(1));
        for (given, called) in [
            ("https://a:9//failing", "https://a:9/failing?timeout=1s"),
            ("https://a/b/./../c/", "https://a/c?timeout=1s"),
            ("https://a/", "https://a/?timeout=1s"),
            ("https://a", "https://a?timeout=1s"),
        ] {
            assert_eq!(url(given), called);
        }
    }
}
