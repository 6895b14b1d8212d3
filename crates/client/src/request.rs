//! Request building: paths, queries and headers.
//!
//! Names are checked before they become part of a path: a name with a slash would address another
//! resource.

use crate::error::RequestError;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};
use kubist_apimachinery::{ApiResource, QueryPairs, Str};
use kubist_transport::Body;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::fmt::Write as _;

pub(crate) const JSON: &str = "application/json";
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The characters to percent-encode in a path segment. `/` and `%` have been refused already.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'\\');

/// The characters to percent-encode in query values.
const QUERY: &AsciiSet = &SEGMENT
    .add(b'%')
    .add(b'&')
    .add(b'+')
    .add(b'=')
    .add(b';')
    .add(b'\'');

/// What a request addresses; used for its path and in error messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) resource: &'a ApiResource,
    /// `None` for all namespaces, and for cluster-scoped kinds.
    pub(crate) namespace: Option<&'a str>,
    /// `None` for the collection.
    pub(crate) name: Option<&'a str>,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
}

impl Target<'_> {
    pub(crate) fn path(&self) -> Result<String, RequestError> {
        let resource = self.resource;
        let mut path = resource.group_version().path();
        let kind = || resource.kind.clone();
        match self.namespace {
            Some(namespace) if resource.namespaced => {
                if namespace.is_empty() {
                    return Err(RequestError::NoNamespace { kind: kind() });
                }
                path.push_str("/namespaces");
                push_segment(&mut path, namespace)?;
            }
            None if resource.namespaced && self.name.is_some() => {
                return Err(RequestError::NoNamespace { kind: kind() });
            }
            _ => {}
        }
        push_segment(&mut path, &resource.plural)?;
        if let Some(name) = self.name {
            if name.is_empty() {
                return Err(RequestError::NoName { kind: kind() });
            }
            push_segment(&mut path, name)?;
        }
        if !self.subresource.is_empty() {
            for segment in self.subresource.split('/') {
                push_segment(&mut path, segment)?;
            }
        }
        Ok(path)
    }

    pub(crate) fn uri(&self, query: &QueryPairs) -> Result<String, RequestError> {
        let mut uri = self.path()?;
        push_query(&mut uri, query);
        Ok(uri)
    }
}

fn push_segment(path: &mut String, segment: &str) -> Result<(), RequestError> {
    if segment == "." || segment == ".." || segment.contains(['/', '%']) {
        return Err(RequestError::PathSegment {
            value: segment.to_owned(),
        });
    }
    path.push('/');
    path.extend(utf8_percent_encode(segment, SEGMENT));
    Ok(())
}

/// Appends a query to a path.
fn push_query(path: &mut String, query: &QueryPairs) {
    let mut separator = '?';
    for (key, value) in query {
        let value = utf8_percent_encode(value, QUERY);
        write!(path, "{separator}{key}={value}").expect("writing to a String cannot fail");
        separator = '&';
    }
}

/// A body and its content type.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Bytes,
}

/// Builds an HTTP request.
pub(crate) fn build(
    method: Method,
    path: &str,
    accept: &'static str,
    content: Option<Content>,
) -> Result<Request<Body>, RequestError> {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header(ACCEPT, HeaderValue::from_static(accept));
    let body = match content {
        Some(Content { media_type, bytes }) => {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static(media_type));
            Body::from(bytes)
        }
        None => Body::empty(),
    };
    request.body(body).map_err(|error| RequestError::Http {
        reason: error.to_string(),
    })
}

/// Returns the method and path, which identify the request in errors.
pub(crate) fn name_of(request: &Request<Body>) -> Str {
    format!("{} {}", request.method(), request.uri().path()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(namespaced: bool) -> ApiResource {
        ApiResource {
            version: "v1".into(),
            kind: "Pod".into(),
            plural: "pods".into(),
            namespaced,
            ..ApiResource::default()
        }
    }

    fn path(
        namespace: Option<&str>,
        name: Option<&str>,
        sub: &str,
    ) -> Result<String, RequestError> {
        Target {
            resource: &pods(true),
            namespace,
            name,
            subresource: sub,
        }
        .path()
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(path(None, None, "").unwrap(), "/api/v1/pods");
        let log = path(Some("shop"), Some("web"), "log").unwrap();
        assert_eq!(log, "/api/v1/namespaces/shop/pods/web/log");
        let resource = &pods(false);
        let target = Target {
            resource,
            namespace: Some("x"),
            name: Some("a:b c"),
            subresource: "",
        };
        assert_eq!(target.path().unwrap(), "/api/v1/pods/a:b%20c");
    }

    #[test]
    fn names_cannot_leave_their_segment() {
        for bad in [".", "..", "a/b", "%2e"] {
            let expected = Err(RequestError::PathSegment {
                value: bad.to_owned(),
            });
            assert_eq!(path(Some("shop"), Some(bad), ""), expected);
            assert_eq!(path(Some(bad), None, ""), expected);
        }
        let kind: Str = "Pod".into();
        let no_namespace = RequestError::NoNamespace { kind: kind.clone() };
        assert_eq!(path(None, Some("web"), ""), Err(no_namespace.clone()));
        assert_eq!(path(Some(""), Some("web"), ""), Err(no_namespace));
        assert_eq!(
            path(Some("shop"), Some(""), ""),
            Err(RequestError::NoName { kind })
        );
    }

    #[test]
    fn queries_are_encoded() {
        let resource = &pods(false);
        let target = Target {
            resource,
            namespace: None,
            name: None,
            subresource: "",
        };
        let query = vec![
            ("labelSelector", "a in (b,c),d!=é+&".to_owned()),
            ("limit", "5".to_owned()),
        ];
        let uri = "/api/v1/pods?labelSelector=a%20in%20(b,c),d!%3D%C3%A9%2B%26&limit=5";
        assert_eq!(target.uri(&query).unwrap(), uri);
    }
}
