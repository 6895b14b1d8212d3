//! `ApiResponse`: the result of a handler, before it becomes an HTTP response.

pub(crate) mod body;
pub(crate) mod cbor;
pub(crate) mod errors;
pub(crate) mod etag;
pub(crate) mod gzip;
pub(crate) mod pretty;

use crate::response::body::Body;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use kubist_apimachinery::Status;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::wire::Wire;
use kubist_codec::{Format, envelope, yaml};
use serde_json::Value;

/// Plain text, as for `/healthz`.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// A response.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) code: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) body: Body,
    pub(crate) headers: HeaderMap,
    /// Whether it is a stream of events, which must not wait for the compressor.
    pub(crate) streaming: bool,
    /// Whether it precedes authentication; it then has no cache headers.
    pub(crate) unauthenticated: bool,
}

impl ApiResponse {
    pub(crate) fn new(code: StatusCode, content_type: &'static str, body: Body) -> Self {
        Self {
            code,
            content_type,
            body,
            headers: HeaderMap::new(),
            streaming: false,
            unauthenticated: false,
        }
    }

    /// 200 with a complete body.
    pub(crate) fn whole(content_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        Self::new(StatusCode::OK, content_type, Body::Whole(bytes.into()))
    }

    /// Plain text.
    pub(crate) fn text(code: StatusCode, text: impl Into<Bytes>) -> Self {
        let mut response = Self::new(code, TEXT, Body::Whole(text.into()));
        let nosniff = HeaderValue::from_static("nosniff");
        response
            .headers
            .insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        response
    }

    /// `ok`, the result of a single check.
    pub(crate) fn ok() -> Self {
        Self::whole(TEXT, "ok")
    }

    /// 429 in upstream's words.
    pub(crate) fn too_many_requests() -> Self {
        let text = "Too many requests, please try again later.\n";
        Self::text(StatusCode::TOO_MANY_REQUESTS, text).with_header(header::RETRY_AFTER, "1")
    }

    /// Upstream's response for unknown paths.
    pub(crate) fn page_not_found() -> Self {
        Self::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    /// Upstream's response for paths from which no request info can be derived.
    pub(crate) fn malformed_path(path: &str) -> Self {
        let text = format!(
            "Internal Server Error: {path:?}: failed to create RequestInfo: unable to determine \
             kind and namespace from url, {path}\n"
        );
        let mut response = Self::text(StatusCode::INTERNAL_SERVER_ERROR, text);
        response.unauthenticated = true;
        response
    }

    /// Upstream's response to requests that must be recorded, and cannot be.
    pub(crate) fn audit_failed(path: &str) -> Self {
        let path = quote(path).replace('&', "&amp;");
        let path = path.replace('<', "&lt;").replace('>', "&gt;");
        let text = format!("Internal Server Error: {path}: failed to store audit event\n");
        Self::text(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// Upstream's response for requests that nobody could decide about.
    pub(crate) fn internal_error(target: &str, why: &str) -> Self {
        let text = format!("Internal Server Error: {target:?}: {why}\n");
        Self::text(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// A status code without a body.
    pub(crate) fn bare(code: StatusCode) -> Self {
        Self::new(code, "", Body::empty())
    }

    /// 304.
    pub(crate) fn not_modified() -> Self {
        Self::new(StatusCode::NOT_MODIFIED, TEXT, Body::empty())
    }

    /// A Status as the body, with its code; JSON may be indented.
    pub(crate) fn status(status: &Status, format: Format, pretty: bool) -> Self {
        if pretty && format == Format::Json {
            return Self::raw_status(status);
        }
        let bytes = encode_status(status, format);
        Self::of_status(status, code_of(status), format.media_type(), bytes)
    }

    /// A Status as indented JSON, which upstream also sends to clients that accept none of its
    /// formats.
    pub(crate) fn raw_status(status: &Status) -> Self {
        let bytes = pretty::indent(&status.to_json());
        Self::of_status(status, code_of(status), Format::Json.media_type(), bytes)
    }

    fn of_status(
        status: &Status,
        code: StatusCode,
        content_type: &'static str,
        bytes: Vec<u8>,
    ) -> Self {
        let mut response = Self::new(code, content_type, Body::Whole(bytes.into()));
        if let Some(after) = status.retry_after().filter(|after| !after.is_zero()) {
            let seconds = HeaderValue::from(after.as_secs());
            response.headers.insert(header::RETRY_AFTER, seconds);
        }
        response
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.code;
        *response.headers_mut() = self.headers;
        let content_type = HeaderValue::from_static(self.content_type);
        // The content type of a 304 would replace that of the client's cached copy.
        if !self.content_type.is_empty() && response.status() != StatusCode::NOT_MODIFIED {
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, content_type);
        }
        response
    }
}

fn code_of(status: &Status) -> StatusCode {
    let code = u16::try_from(status.code).ok();
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Encodes a Status, for bodies and watch events.
pub(crate) fn encode_status(status: &Status, format: Format) -> Vec<u8> {
    match format {
        Format::Protobuf => envelope::encode(status),
        Format::Yaml => {
            let value = serde_json::from_slice(&status.to_json()).unwrap_or(Value::Null);
            yaml::to_yaml(&value).into_bytes()
        }
        Format::Json => {
            let mut bytes = status.to_json();
            bytes.push(b'\n');
            bytes
        }
    }
}
