//! Who sends a request to a Kubernetes API server: what credentials look like, what they prove, and
//! the files that say whom a server believes.
//!
//! [`AuthenticationConfiguration`] is upstream's file of JWT issuers and anonymous paths; a
//! [`JwtAuthenticator`] of it checks the claims of a [`CompactJwt`] and makes a user of them, and a
//! [`KeySet`] verifies its signature. [`parse_token_file`] reads static tokens,
//! [`BootstrapToken`] is judged by its Secret, and [`RequestHeaders`] are what a proxy says about
//! its user. Errors are in upstream's words.
//!
//! It does no I/O and has no clock: a server fetches keys, looks Secrets up and says what time it
//! is. It knows no HTTP and no order of authenticators.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod aggregate;
mod bootstrap_token;
mod configuration;
mod csv;
mod go_url;
mod jwt;
mod request_headers;
mod token_file;

pub use aggregate::aggregate;
pub use bootstrap_token::BootstrapToken;
pub use configuration::{
    AnonymousAuthCondition, AnonymousAuthConfig, AuthenticationConfiguration,
    AuthenticationConfigurationError, Issuer, JWT_AUTHENTICATORS_MAX, JwtAuthenticator,
    OidcOptions,
};
pub use go_url::go_url_error;
pub use jwt::{
    Algorithm, CompactJwt, JwtError, KEYS_MAX, KeySet, KeySetError, TOKEN_BYTES_MAX,
    UnknownAlgorithm, untrusted_issuer,
};
pub use request_headers::RequestHeaders;
pub use token_file::{FileToken, TokenFile, TokenFileError, TokenFileOddity, parse_token_file};
