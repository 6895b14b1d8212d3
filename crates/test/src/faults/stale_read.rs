//! Reads of an older state, as of an API server whose cache is behind.
//!
//! Lists are requested at exactly that revision. A streaming list has no such form, so it is
//! refused as by a server without them, and the client lists. An object of the past is read as a
//! list of one.

use super::answers::{self, AnswerBody};
use super::call::{Call, Verb, has_query};
use super::treatment::View;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, Uri};
use kubist::apimachinery::{GroupResource, Status};
use kubist::transport::{Body, Transport, TransportError};
use serde_json::Value;

/// The most bytes of a list of one object.
const LIST_BYTES_MAX: usize = 16 << 20;

/// Reports whether a watch begins with the objects that exist.
pub(super) fn is_streaming_list<B>(call: &Call, request: &Request<B>) -> bool {
    let query = request.uri().query();
    call.verb == Verb::Watch && has_query(query, "sendInitialEvents", |it| it == "true")
}

/// Changes a list so that it reads this state. Watches and further pages are left as they are.
pub(super) fn list_at(call: &Call, mut request: Request<Body>, view: View) -> Request<Body> {
    let query = request.uri().query().unwrap_or_default();
    if call.verb != Verb::List || has_query(Some(query), "continue", |it| !it.is_empty()) {
        return request;
    }
    let others = query.split('&').filter(|pair| {
        let key = pair.split_once('=').map_or(*pair, |(key, _)| key);
        !key.is_empty() && !matches!(key, "resourceVersion" | "resourceVersionMatch")
    });
    let mut query: Vec<String> = others.map(str::to_owned).collect();
    query.push(format!("resourceVersion={}", view.revision));
    query.push("resourceVersionMatch=Exact".to_owned());
    let uri = format!("{}?{}", request.uri().path(), query.join("&"));
    if let Ok(uri) = uri.parse::<Uri>() {
        *request.uri_mut() = uri;
    }
    request
}

/// Reads an object of the past. The answer is JSON.
pub(super) async fn get(
    inner: &Transport,
    call: &Call,
    view: View,
) -> Result<Response<AnswerBody>, TransportError> {
    let mut path = if call.group.is_empty() {
        format!("/api/{}", call.version)
    } else {
        format!("/apis/{}/{}", call.group, call.version)
    };
    if !call.namespace.is_empty() {
        path = format!("{path}/namespaces/{}", call.namespace);
    }
    let uri = format!(
        "{path}/{}?fieldSelector=metadata.name%3D{}&resourceVersion={}&resourceVersionMatch=Exact",
        call.resource, call.name, view.revision
    );
    let mut request = Request::new(Body::empty());
    if let Ok(uri) = uri.parse::<Uri>() {
        *request.uri_mut() = uri;
    }
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(ACCEPT, json.clone());
    let response = inner.send(request).await?;
    if !response.status().is_success() {
        let (parts, body) = response.into_parts();
        let bytes = body.bytes(LIST_BYTES_MAX).await?;
        return Ok(Response::from_parts(parts, answers::whole(bytes)));
    }
    let bytes = response.into_body().bytes(LIST_BYTES_MAX).await?;
    let Some(object) = only_item(&bytes) else {
        let resource = GroupResource::new(call.group.as_str(), call.resource.as_str());
        let status = Status::not_found(&resource, &call.name);
        return Ok(answers::response(&status));
    };
    let mut response = Response::new(answers::whole(object.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

/// The item of a list of one, with the kind that items of built-in lists lack.
fn only_item(bytes: &[u8]) -> Option<Value> {
    let list: Value = serde_json::from_slice(bytes).ok()?;
    let mut item = list.pointer("/items/0")?.clone();
    let kind = list.get("kind")?.as_str()?.strip_suffix("List")?;
    let members = item.as_object_mut()?;
    members.entry("kind").or_insert_with(|| kind.into());
    let version = list.get("apiVersion")?.clone();
    members.entry("apiVersion").or_insert(version);
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::call::Sender;

    fn at(uri: &'static str) -> String {
        let request = Request::builder().uri(uri).body(Body::empty()).unwrap();
        let call = Call::of(&Sender::default(), &request);
        let view = View {
            revision: 7,
            gets: false,
        };
        list_at(&call, request, view).uri().to_string()
    }

    #[test]
    fn a_list_is_read_at_the_revision_of_the_view() {
        let wanted = "/api/v1/pods?limit=500&resourceVersion=7&resourceVersionMatch=Exact";
        assert_eq!(at("/api/v1/pods?resourceVersion=0&limit=500"), wanted);
        let next_page = "/api/v1/pods?continue=abc";
        assert_eq!(at(next_page), next_page);
        let watch = "/api/v1/pods?watch=true&resourceVersion=7";
        assert_eq!(at(watch), watch);
    }

    #[test]
    fn the_only_item_gets_the_kind_of_its_list() {
        let list = br#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}"#;
        let item = only_item(list).unwrap();
        assert_eq!(item["kind"], "Pod");
        assert_eq!(item["apiVersion"], "v1");
        assert!(only_item(br#"{"kind":"PodList","apiVersion":"v1","items":[]}"#).is_none());
    }
}
