//! How others verify the tokens of service accounts: the description of their issuer (as
//! `OpenID` Connect Discovery has it) and its public keys, with upstream's fields.

use crate::authentication::token_issuer::{ISSUER, TokenIssuer};
use crate::response::ApiResponse;
use http::header::{CACHE_CONTROL, HeaderValue};
use kubist_apimachinery::Status;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Where the description is.
pub(crate) const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Where the keys are.
pub(crate) const KEYS: &str = "/openid/v1/jwks";
/// The form of keys.
pub(crate) const KEYS_FORM: &str = "application/jwk-set+json";
/// For how long either may be kept, as upstream: an hour.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The description. Without an address of its own, the server's keys are where its issuer is.
pub(crate) fn configuration(
    address: Option<SocketAddr>,
    issuer: &TokenIssuer,
) -> Result<ApiResponse, Status> {
    let keys = match address {
        Some(address) => format!("https://{address}{KEYS}"),
        None => format!("{ISSUER}{KEYS}"),
    };
    let document = json!({
        "issuer": ISSUER,
        "jwks_uri": keys,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": issuer.keys().algorithms(),
    });
    answer("application/json", &document)
}

/// The public keys.
pub(crate) fn keys(issuer: &TokenIssuer) -> Result<ApiResponse, Status> {
    answer(KEYS_FORM, &issuer.keys().public_keys())
}

fn answer(content_type: &'static str, document: &Value) -> Result<ApiResponse, Status> {
    let text = serde_json::to_vec(document).map_err(Status::internal_error)?;
    let mut response = ApiResponse::whole(content_type, text);
    response.headers.insert(CACHE_CONTROL, CACHED);
    Ok(response)
}
