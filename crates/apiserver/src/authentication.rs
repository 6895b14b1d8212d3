//! Authentication: who sent a request, and the certificates, tokens and headers that prove it.

pub(crate) mod anonymous;
pub(crate) mod authenticator;
pub(crate) mod authenticators;
pub(crate) mod bearer;
pub(crate) mod client_certificates;
pub(crate) mod jwt_issuer;
pub(crate) mod jwt_issuers;
mod legacy_token_use;
pub(crate) mod peer;
pub(crate) mod refusal;
pub(crate) mod request_authenticator;
pub(crate) mod request_header;
pub(crate) mod service_accounts;
pub(crate) mod static_tokens;
pub(crate) mod token_issuer;
pub(crate) mod token_keys;
pub(crate) mod token_webhook;
mod version_one;
