//! `OpenID` Connect discovery of the service account issuer and its public keys, with which others
//! verify service account tokens. The fields are upstream's.

use crate::authentication::token_issuer::TokenIssuer;
use crate::authentication::token_keys::TokenKeys;
use crate::response::ApiResponse;
use http::header::{CACHE_CONTROL, HeaderValue};
use kubist_apimachinery::Status;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Path of the discovery document.
pub(crate) const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Path of the public keys.
pub(crate) const KEYS: &str = "/openid/v1/jwks";
/// Media type of the public keys.
pub(crate) const KEYS_FORM: &str = "application/jwk-set+json";
/// Cache lifetime, as upstream: an hour.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// Returns the discovery document. Without a listen address, the keys are at the issuer's URL.
pub(crate) fn configuration(
    address: Option<SocketAddr>,
    issuer: &TokenIssuer,
) -> Result<ApiResponse, Status> {
    let name = issuer.name();
    let keys = match (issuer.jwks_uri(), address) {
        (Some(uri), _) => uri.to_owned(),
        (None, Some(address)) => format!("https://{address}{KEYS}"),
        (None, None) => format!("{name}{KEYS}"),
    };
    let document = json!({
        "issuer": name,
        "jwks_uri": keys,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": keys_of(issuer)?.algorithms(),
    });
    answer("application/json", &document)
}

/// Returns the public keys.
pub(crate) fn keys(issuer: &TokenIssuer) -> Result<ApiResponse, Status> {
    answer(KEYS_FORM, &keys_of(issuer)?.public_keys())
}

fn keys_of(issuer: &TokenIssuer) -> Result<&TokenKeys, Status> {
    issuer.keys().map_err(Status::internal_error)
}

fn answer(content_type: &'static str, document: &Value) -> Result<ApiResponse, Status> {
    let text = serde_json::to_vec(document).map_err(Status::internal_error)?;
    let mut response = ApiResponse::whole(content_type, text);
    response.headers.insert(CACHE_CONTROL, CACHED);
    Ok(response)
}
