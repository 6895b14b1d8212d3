//! `Call`: a request as data, so that it can be sent many times.

use crate::Outcome;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Version};

/// JSON.
pub(crate) const JSON: &str = "application/json";
/// YAML.
pub(crate) const YAML: &str = "application/yaml";
/// Protobuf in upstream's envelope.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// What `kubectl get` requests.
pub(crate) const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
/// Media types of patches.
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
/// RFC 7386.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
/// Strategic merge patch.
pub(crate) const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

/// A request. Copies share its body.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its name in reports.
    pub(crate) label: &'static str,
    method: Method,
    path: String,
    accept: &'static str,
    content_type: &'static str,
    body: Bytes,
}

impl Call {
    /// Returns a read.
    pub(crate) fn get(label: &'static str, path: impl Into<String>) -> Self {
        Self {
            label,
            method: Method::GET,
            path: path.into(),
            accept: JSON,
            content_type: JSON,
            body: Bytes::new(),
        }
    }

    /// Returns a create, with a JSON body by default.
    pub(crate) fn post(
        label: &'static str,
        path: impl Into<String>,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            method: Method::POST,
            body: body.into(),
            ..Self::get(label, path)
        }
    }

    /// Returns a patch.
    pub(crate) fn patch(
        label: &'static str,
        path: impl Into<String>,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            method: Method::PATCH,
            content_type,
            ..Self::post(label, path, body)
        }
    }

    /// Returns a deletion.
    pub(crate) fn delete(label: &'static str, path: impl Into<String>) -> Self {
        Self {
            method: Method::DELETE,
            ..Self::get(label, path)
        }
    }

    /// Requests the response in this format.
    pub(crate) fn accept(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    /// Sets the format of the body.
    pub(crate) fn content_type(self, content_type: &'static str) -> Self {
        Self {
            content_type,
            ..self
        }
    }

    /// Returns its body.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns its headers, for HTTP/2.
    pub(crate) fn head(&self, authority: &str, token: Option<&str>) -> Outcome<Request<()>> {
        let mut head = Request::builder()
            .method(self.method.clone())
            .version(Version::HTTP_2)
            .uri(format!("https://{authority}{}", self.path))
            .header(ACCEPT, self.accept);
        if !self.body.is_empty() {
            head = head.header(CONTENT_TYPE, self.content_type);
        }
        if let Some(token) = token {
            head = head.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        Ok(head.body(())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_what_was_said() {
        let call = Call::post("x", "/api/v1/namespaces", "{}").accept(TABLE);
        let head = call.head("127.0.0.1:1", Some("t")).unwrap();
        assert_eq!(head.uri(), "https://127.0.0.1:1/api/v1/namespaces");
        assert_eq!(head.headers()[ACCEPT], TABLE);
        assert_eq!(head.headers()[CONTENT_TYPE], JSON);
        assert_eq!(head.headers()[AUTHORIZATION], "Bearer t");
        let head = Call::get("x", "/livez").head("127.0.0.1:1", None).unwrap();
        assert!(!head.headers().contains_key(CONTENT_TYPE));
    }
}
