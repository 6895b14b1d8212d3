//! Requests whose group version another server serves are forwarded to it.

use super::connect::passing::{self, Route};
use crate::aggregation::Remote;
use crate::handlers::call::Call;
use crate::proxy::identity;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use http::StatusCode;
use http::header::LOCATION;
use kubist_apimachinery::Status;

const UNAVAILABLE: &str = "service unavailable";
/// Upstream's refusal of a redirect.
const REDIRECTED: &str = "the backend attempted to redirect this request, which is not permitted";
/// The refusal of a user whose identity cannot be passed on.
const NO_IDENTITY: &str = "the user's identity does not fit into headers";
const TOO_MANY: i32 = 429;

/// Forwards a request, and passes the answer on.
///
/// # Errors
/// 429 while too many connections to other servers are open. All others are answers in plain text,
/// as upstream.
pub(crate) async fn handle(
    call: Call<'_>,
    remote: &Remote,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let aggregation = &call.server.aggregation;
    if !remote.is_available() {
        return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE));
    }
    if let Some(why) = remote.tls_problem() {
        return Ok(plain(StatusCode::INTERNAL_SERVER_ERROR, why));
    }
    let Some(identity) = identity::headers(&call.cx.user) else {
        return Ok(plain(StatusCode::INTERNAL_SERVER_ERROR, NO_IDENTITY));
    };
    let lookup = call.server.registry.lookup();
    let Ok(backend) = aggregation.backend(remote, lookup).await else {
        return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE));
    };
    let route = Route {
        backend,
        target: call.request.target().to_owned(),
        prefix: Some(String::new()),
        identity: Some(identity),
    };
    let response = match passing::pass(call, route, body).await {
        Ok(response) => response,
        Err(status) if status.code == TOO_MANY => return Err(status),
        Err(status) => {
            aggregation.suspect(remote);
            return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, &status.message));
        }
    };
    let redirects = response.code.is_redirection() && response.headers.contains_key(LOCATION);
    if redirects && aggregation.rejects_redirects() {
        return Ok(plain(StatusCode::BAD_GATEWAY, REDIRECTED));
    }
    Ok(response)
}

fn plain(code: StatusCode, message: &str) -> ApiResponse {
    ApiResponse::text(code, format!("{message}\n"))
}
