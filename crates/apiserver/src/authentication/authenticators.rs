//! `Authenticators`: whom a server believes, as its configuration says it.

use crate::authentication::request_authenticator::RequestAuthenticator;
use crate::authentication::token_issuer::ISSUER;
use crate::webhook::remote_service::RemoteService;
use kubist_authentication::{JwtAuthenticator, RequestHeaders};
use rustls_pki_types::CertificateDer;
use std::sync::Arc;
use std::time::Duration;

/// Whom a server believes, besides the certificates of its client authorities and static tokens.
/// Default: the service accounts that it issues tokens for.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Authenticators {
    /// Service accounts.
    pub service_accounts: ServiceAccounts,
    /// Whether bootstrap tokens, which are Secrets in `kube-system`, are believed. Default: no.
    pub bootstrap_tokens: bool,
    /// A proxy that names its users in headers. Default: none.
    pub request_header: Option<RequestHeader>,
    /// The issuers of JWTs. Default: none.
    pub jwt: Vec<Arc<JwtAuthenticator>>,
    /// A webhook that is asked about tokens that nobody else knows. Default: none.
    pub token_webhook: Option<TokenWebhookConfig>,
    /// Others, asked in this order before the webhook. Default: none.
    pub others: Vec<Arc<dyn RequestAuthenticator>>,
}

/// The tokens of service accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct ServiceAccounts {
    /// The issuers whose tokens are believed, if this server's keys have signed them; the first
    /// issues new ones. Default: the address of the server within a cluster, as upstream's
    /// installers choose it.
    pub issuers: Vec<String>,
    /// The audiences of the server: tokens must be for one of them. Default: the issuers.
    pub api_audiences: Option<Vec<String>>,
    /// Whether the tokens of Secrets are only believed as long as the Secret and the account exist.
    /// Other tokens always are. Default: yes, as upstream.
    pub lookup: bool,
    /// Where the discovery document says that the keys are. Default: at this server's address.
    pub jwks_uri: Option<String>,
}

impl Default for ServiceAccounts {
    fn default() -> Self {
        Self {
            issuers: vec![ISSUER.to_owned()],
            api_audiences: None,
            lookup: true,
            jwks_uri: None,
        }
    }
}

impl ServiceAccounts {
    /// Returns the audiences of the server.
    pub fn audiences(&self) -> &[String] {
        self.api_audiences.as_ref().unwrap_or(&self.issuers)
    }
}

/// A proxy that authenticates users itself and names them in headers, such as upstream's
/// aggregator. It is recognized by its client certificate.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct RequestHeader {
    /// The authorities of the certificates of proxies.
    pub authorities: Vec<CertificateDer<'static>>,
    /// The same as PEM, as they are published in the `ConfigMap`
    /// `extension-apiserver-authentication`.
    pub authorities_pem: String,
    /// The common names of proxies; empty for all that the authorities have signed.
    pub allowed_names: Vec<String>,
    /// The headers.
    pub headers: RequestHeaders,
}

/// A webhook that is asked who has a token, with upstream's `TokenReview`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct TokenWebhookConfig {
    /// The webhook.
    pub service: RemoteService,
    /// The version of the review. Upstream's default: `v1beta1`.
    pub version: ReviewVersion,
    /// How long an answer counts. Zero: answers are not kept. Upstream's default: 2 min.
    pub cache_ttl: Duration,
}

/// The version of a review that is sent to a webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "upstream has no others")]
pub enum ReviewVersion {
    /// `v1`
    V1,
    /// `v1beta1`
    #[default]
    V1Beta1,
}

impl ReviewVersion {
    /// Returns the version as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }
}
