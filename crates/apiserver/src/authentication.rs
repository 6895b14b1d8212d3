//! Authentication: who sent a request, and the certificates and tokens that prove it.

pub(crate) mod authenticator;
pub(crate) mod certificates;
pub(crate) mod client_certificates;
pub(crate) mod service_accounts;
pub(crate) mod token_issuer;
pub(crate) mod token_keys;
