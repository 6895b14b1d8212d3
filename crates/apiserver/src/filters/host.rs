//! The `Host` header, which HTTP/1 requests must have exactly once, as upstream.

use crate::request::Request;
use crate::response::{ApiResponse, TEXT};
use http::header::{CONNECTION, HOST};
use http::{StatusCode, Version};

/// Punctuation that is allowed in a host, as upstream.
const PUNCTUATION: &[u8] = b"!$%&'()*+,-.:;=[]_~";

/// Returns the 400 response for a request without a valid host, in upstream's words; its connection
/// is closed.
pub(crate) fn refusal(request: &Request) -> Option<ApiResponse> {
    if request.version >= Version::HTTP_2 {
        return None;
    }
    let mut hosts = request.headers.get_all(HOST).iter();
    let host = hosts.next();
    let text = match host {
        _ if hosts.next().is_some() => "400 Bad Request",
        None if request.version == Version::HTTP_11 && request.method != "CONNECT" => {
            "400 Bad Request: missing required Host header"
        }
        Some(host) if !host.as_bytes().iter().copied().all(may_be_in_host) => {
            "400 Bad Request: malformed Host header"
        }
        _ => return None,
    };
    let mut response = ApiResponse::whole(TEXT, text).with_header(CONNECTION, "close");
    response.code = StatusCode::BAD_REQUEST;
    response.unauthenticated = true;
    Some(response)
}

fn may_be_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || PUNCTUATION.contains(&byte)
}
