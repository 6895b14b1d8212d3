//! `Schemas`: the schemas of kinds, from the OpenAPI documents of the server.

use super::declare::{KIND_NAMES, declare};
use http::Request;
use kubist_apimachinery::GroupVersionKind;
use kubist_cel::declared::Declared;
use kubist_client::Client;
use kubist_controller::Error;
use kubist_transport::Body;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum bytes of a document; upstream's largest has 2 MB.
const DOCUMENT_BYTES_MAX: usize = 32 << 20;

/// The documents that were read so far, for one policy.
pub(super) struct Schemas<'a> {
    client: &'a Client,
    /// By path; none where there is no such document.
    documents: BTreeMap<String, Option<Value>>,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self {
            client,
            documents: BTreeMap::new(),
        }
    }

    /// Returns the declared type of a kind; none if the server has no schema of it.
    pub(super) async fn declared(
        &mut self,
        kind: &GroupVersionKind,
    ) -> Result<Option<Arc<Declared>>, Error> {
        let path = match &*kind.group {
            "" => format!("/openapi/v3/api/{}", kind.version),
            group => format!("/openapi/v3/apis/{group}/{}", kind.version),
        };
        if !self.documents.contains_key(&path) {
            let read = self.read(&path).await?;
            self.documents.insert(path.clone(), read);
        }
        let document = self.documents.get(&path).and_then(Option::as_ref);
        let schemas = document.and_then(|it| it["components"]["schemas"].as_object());
        Ok(schemas.and_then(|schemas| {
            let is_named = |schema: &&Value| is_of(schema, kind);
            let schema = schemas.values().find(is_named)?;
            declare(schemas, schema, &kind.kind)
        }))
    }

    async fn read(&self, path: &str) -> Result<Option<Value>, Error> {
        let request = Request::get(path).body(Body::empty());
        let request = request.map_err(Error::new)?;
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let body = response.into_body().bytes(DOCUMENT_BYTES_MAX).await;
        let body = body.map_err(Error::new)?;
        Ok(Some(serde_json::from_slice(&body)?))
    }
}

/// Reports whether a schema says that it is that of a kind.
fn is_of(schema: &Value, kind: &GroupVersionKind) -> bool {
    let names = schema[KIND_NAMES].as_array();
    let is_same = |name: &Value| {
        name["group"] == *kind.group
            && name["version"] == *kind.version
            && name["kind"] == *kind.kind
    };
    names.is_some_and(|names| names.iter().any(is_same))
}
