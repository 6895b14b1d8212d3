//! Admission: reviews with typed objects, and the answers to them.

mod answer;
mod request;

pub use answer::{Admitted, Denied, Mutated};
pub use request::{AdmissionRequest, Operation};

use crate::webhooks::{Answer, BadReview, Handler};
use futures_util::future::BoxFuture;
use kubist_api::admission::v1::{self, AdmissionReview};
use kubist_apimachinery::ByteString;
use kubist_apimachinery::wire::{DecodeContext, Encode, Encoding, Ingest, Wire as _};
use kubist_codec::patch::edited;
use serde::Deserialize;
use serde_json::Value;

/// The kind and version of reviews that are answered.
const KIND: &str = "AdmissionReview";
const VERSION: &str = "admission.k8s.io/v1";
/// The only type of patches.
const JSON_PATCH: &str = "JSONPatch";

/// What a handler made of a request.
pub(crate) struct Reviewed {
    admitted: Admitted,
    /// The operations of a JSON patch; empty if nothing changed.
    patch: Vec<Value>,
}

type Review =
    dyn Fn(v1::AdmissionRequest) -> BoxFuture<'static, Result<Reviewed, Denied>> + Send + Sync;

/// The handler of an admission webhook, with its kind erased.
pub(crate) struct Reviewer {
    review: Box<Review>,
}

impl Reviewer {
    pub(crate) fn new(review: Box<Review>) -> Self {
        Self { review }
    }
}

/// Erases the kind of a validating handler.
pub(crate) fn validating<K, F>(
    handler: impl Fn(AdmissionRequest<K>) -> F + Send + Sync + 'static,
) -> Box<Review>
where
    K: Ingest,
    F: Future<Output = Result<Admitted, Denied>> + Send + 'static,
{
    Box::new(move |request| {
        let run = AdmissionRequest::read(request).map(&handler);
        Box::pin(async move {
            let admitted = run?.await?;
            Ok(Reviewed {
                admitted,
                patch: Vec::new(),
            })
        })
    })
}

/// Erases the kind of a mutating handler.
pub(crate) fn mutating<K, F>(
    handler: impl Fn(AdmissionRequest<K>) -> F + Send + Sync + 'static,
) -> Box<Review>
where
    K: Ingest + Encode,
    F: Future<Output = Result<Mutated<K>, Denied>> + Send + 'static,
{
    Box::new(move |request| {
        let raw = request.object.raw.clone();
        let run = AdmissionRequest::read(request).and_then(|request: AdmissionRequest<K>| {
            let before = request.object.as_ref().map(encode).transpose()?;
            Ok((before, handler(request)))
        });
        Box::pin(async move {
            let (before, run) = run?;
            let Mutated { object, admitted } = run.await?;
            let after = encode(&object)?;
            let patch = match before {
                Some(before) if before == after => Vec::new(),
                Some(before) => edited(&raw, &before, &after).map_err(|error| {
                    Denied::internal(format!("the object is not JSON: {error}"))
                })?,
                None => return Err(Denied::internal("there is no object to change")),
            };
            Ok(Reviewed { admitted, patch })
        })
    })
}

fn encode<K: Encode>(object: &K) -> Result<Vec<u8>, Denied> {
    let text = object.encode(Encoding::Json);
    text.map_err(|error| Denied::internal(format!("the object cannot be encoded: {error}")))
}

/// What a body is.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TypeMeta<'a> {
    #[serde(borrow, rename = "apiVersion")]
    api_version: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
}

/// Checks the kind of a review.
pub(crate) fn check_kind(body: &[u8], kind: &str, version: &str) -> Result<(), BadReview> {
    let found: TypeMeta<'_> =
        serde_json::from_slice(body).map_err(|error| BadReview::new(format_args!("{error}")))?;
    if (&*found.kind, &*found.api_version) == (kind, version) {
        return Ok(());
    }
    Err(BadReview::new(format_args!(
        "a {kind} of {version} is expected, and this is a {:?} of {:?}",
        found.kind, found.api_version
    )))
}

fn read(body: &[u8]) -> Result<v1::AdmissionRequest, BadReview> {
    check_kind(body, KIND, VERSION)?;
    let review = AdmissionReview::from_json(body, &mut DecodeContext::new());
    let review = review.map_err(BadReview::new)?;
    let request = review.request.map(|it| *it);
    request.ok_or_else(|| BadReview::new("the review has no request"))
}

impl Handler for Reviewer {
    fn answer<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let request = read(body)?;
            let uid = request.uid.clone();
            let reviewed = (self.review)(request).await;
            Ok(write(answer::response(uid, reviewed)))
        })
    }

    fn refusal(&self, body: &[u8], denied: Denied) -> Answer {
        let request = read(body)?;
        Ok(write(answer::response(request.uid, Err(denied))))
    }
}

fn write(response: v1::AdmissionResponse) -> Vec<u8> {
    let review = AdmissionReview {
        request: None,
        response: Some(Box::new(response)),
    };
    review.to_json()
}

/// Puts a patch into a response.
fn set_patch(response: &mut v1::AdmissionResponse, operations: Vec<Value>) {
    if operations.is_empty() {
        return;
    }
    response.patch = ByteString(Value::from(operations).to_string().into_bytes());
    response.patch_type = Some(JSON_PATCH.into());
}
