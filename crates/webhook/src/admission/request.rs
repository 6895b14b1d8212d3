//! `AdmissionRequest`: what is to be done, by whom, with typed objects.

use super::Denied;
use kubist_api::admission::v1;
use kubist_api::authentication::v1::UserInfo;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest};
use kubist_apimachinery::{GroupVersionKind, GroupVersionResource, RawExtension, Str};
use serde_json::Value;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the API has these four")]
pub enum Operation {
    /// An object is created.
    Create,
    /// An object or a subresource is changed.
    Update,
    /// An object is deleted.
    Delete,
    /// A connection is opened, such as exec.
    Connect,
}

/// A request to an API server, as an admission webhook is asked about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdmissionRequest<K> {
    /// The identity of this question, for logs.
    pub uid: Str,
    /// What is done.
    pub operation: Operation,
    /// The object as it would be stored; `None` when it is deleted.
    pub object: Option<K>,
    /// The object as it is stored; `None` when it is created.
    pub old_object: Option<K>,
    /// Its name; may be empty when it is created with a generated one.
    pub name: Str,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: Str,
    /// Who does it.
    pub user: UserInfo,
    /// Whether nothing will be stored: the handler must not do anything elsewhere, either.
    pub dry_run: bool,
    /// The kind in which the objects are sent.
    pub kind: GroupVersionKind,
    /// The resource in which they are sent.
    pub resource: GroupVersionResource,
    /// The subresource, such as `status`; empty for the object itself.
    pub subresource: Str,
    /// The resource that the client named, if it is another one, such as another version.
    pub request_resource: Option<GroupVersionResource>,
    /// The options of the request, such as `DeleteOptions`; null if there are none.
    pub options: Value,
}

impl<K> AdmissionRequest<K> {
    /// Returns the object.
    ///
    /// # Errors
    /// There is none, because it is deleted: the webhook's rules have an operation that the handler
    /// does not expect.
    pub fn object(&self) -> Result<&K, Denied> {
        self.object
            .as_ref()
            .ok_or_else(|| no_object(self.operation))
    }

    /// Returns the object, for changes.
    ///
    /// # Errors
    /// As of [`Self::object`].
    pub fn into_object(self) -> Result<K, Denied> {
        let operation = self.operation;
        self.object.ok_or_else(|| no_object(operation))
    }

    /// Returns the stored object.
    ///
    /// # Errors
    /// There is none, because it is created.
    pub fn old_object(&self) -> Result<&K, Denied> {
        let operation = self.operation;
        self.old_object.as_ref().ok_or_else(|| {
            Denied::internal(format!(
                "there is no old object in a request to {operation:?}"
            ))
        })
    }
}

fn no_object(operation: Operation) -> Denied {
    Denied::internal(format!("there is no object in a request to {operation:?}"))
}

impl<K: Ingest> AdmissionRequest<K> {
    /// Decodes the objects of a request.
    pub(super) fn read(request: v1::AdmissionRequest) -> Result<Self, Denied> {
        let operation = match &*request.operation {
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            "DELETE" => Operation::Delete,
            "CONNECT" => Operation::Connect,
            other => {
                return Err(Denied::bad_request(format!(
                    "the operation {other:?} is unknown"
                )));
            }
        };
        let resource = |it: kubist_api::meta::v1::GroupVersionResource| GroupVersionResource {
            group: it.group,
            version: it.version,
            resource: it.resource,
        };
        Ok(Self {
            operation,
            object: decode("object", request.object)?,
            old_object: decode("oldObject", request.old_object)?,
            uid: request.uid,
            name: request.name,
            namespace: request.namespace,
            user: request.user_info,
            dry_run: request.dry_run == Some(true),
            kind: GroupVersionKind {
                group: request.kind.group,
                version: request.kind.version,
                kind: request.kind.kind,
            },
            resource: resource(request.resource),
            subresource: request.sub_resource,
            request_resource: request.request_resource.map(|it| resource(*it)),
            options: serde_json::from_slice(&request.options.raw).unwrap_or_default(),
        })
    }
}

fn decode<K: Ingest>(field: &str, raw: RawExtension) -> Result<Option<K>, Denied> {
    if raw.raw.is_empty() || *raw.raw == *b"null" {
        return Ok(None);
    }
    let object = K::ingest(raw.raw.0.into(), Encoding::Json, &mut DecodeContext::new());
    let object = object.map_err(|error| Denied::bad_request(format!("request.{field}: {error}")));
    object.map(Some)
}
