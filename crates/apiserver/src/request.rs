//! `Request`: the head of an HTTP request.

pub(crate) mod cbor;
pub(crate) mod query;
pub(crate) mod request_body;
pub(crate) mod route;

use crate::request::cbor::Cbor;
use crate::request::query::Query;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, IF_NONE_MATCH, USER_AGENT};
use http::request::Parts;
use http::{Uri, Version};
use kubist_apimachinery::{FieldValidation, ParsedSelectors, PostOptions};
use kubist_codec::negotiate::Offer;
use std::sync::OnceLock;

/// The texts that Go parses as true.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];

/// The head of a request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Upper case.
    pub(crate) method: String,
    pub(crate) version: Version,
    pub(crate) path: String,
    pub(crate) query: Query,
    /// With JSON as the type of a body in CBOR, where that is offered.
    pub(crate) headers: HeaderMap,
    pub(crate) cbor: Cbor,
    uri: Uri,
    /// Once they were asked for.
    selectors: OnceLock<ParsedSelectors>,
}

impl Request {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            method: parts.method.as_str().to_owned(),
            version: parts.version,
            path: parts.uri.path().to_owned(),
            query: Query::parse(parts.uri.query()),
            headers: parts.headers,
            cbor: Cbor::default(),
            uri: parts.uri,
            selectors: OnceLock::new(),
        }
    }

    /// Returns the selectors of the query, which are parsed once: who decides about the request and
    /// who handles it both want them.
    pub(crate) fn selectors(&self) -> &ParsedSelectors {
        let text = |name| self.query.first(name).unwrap_or_default();
        self.selectors.get_or_init(|| ParsedSelectors {
            labels: text("labelSelector").parse(),
            fields: text("fieldSelector").parse(),
        })
    }

    /// Path and query as sent.
    pub(crate) fn target(&self) -> &str {
        let target = self.uri.path_and_query();
        target.map_or("/", |target| target.as_str())
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the host that was asked: that of the URL over HTTP/2, else the header.
    pub(crate) fn host(&self) -> Option<&str> {
        let of_url = self.uri.authority().map(http::uri::Authority::as_str);
        of_url.or_else(|| self.header(HOST))
    }

    /// Returns the first `Accept` header.
    pub(crate) fn accept(&self) -> Option<&str> {
        self.header(ACCEPT)
    }

    /// Returns what an endpoint offers this request: CBOR too, where the server does.
    pub(crate) fn offer(&self, offer: &Offer) -> Offer {
        Offer {
            cbor: self.cbor.is_offered(),
            ..*offer
        }
    }

    /// Reports whether it is read-only.
    pub(crate) fn reads(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// Returns `Content-Type`.
    pub(crate) fn content_type(&self) -> Option<&str> {
        self.header(CONTENT_TYPE)
    }

    /// Returns `If-None-Match`.
    pub(crate) fn if_none_match(&self) -> Option<&str> {
        self.header(IF_NONE_MATCH)
    }

    /// Returns the program that makes the request.
    pub(crate) fn user_agent(&self) -> &str {
        self.header(USER_AGENT).unwrap_or_default()
    }

    /// Reports whether JSON should be indented: by the query, or for user agents that people use.
    pub(crate) fn wants_pretty(&self) -> bool {
        if let Some(said) = self.query.first("pretty").filter(|it| !it.is_empty()) {
            return TRUE.contains(&said);
        }
        let agent = self.user_agent();
        ["curl", "Wget", "Mozilla/5.0"]
            .iter()
            .any(|reader| agent.starts_with(reader))
    }
}

/// Returns how to treat unknown fields; the default is upstream's: to warn.
pub(crate) fn validation_of(options: &PostOptions) -> FieldValidation {
    options.field_validation.unwrap_or(FieldValidation::Warn)
}
