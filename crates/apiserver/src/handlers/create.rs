//! POST: new objects, and actions on objects that are posted (bindings, evictions).

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::negotiation::decode;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::route::ResourcePath;
use crate::request::validation_of;
use crate::response::ApiResponse;
use crate::response::errors::not_found;
use http::StatusCode;
use hyper::body::Incoming;
use kubist_apimachinery::{PostOptions, Status, Str, WriteVerb};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Created, remove_duplicate_owners};

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut Incoming,
) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let (format, bytes) = call.body(target.formats(), body).await?;
    let options = options(call)?;
    let kind = target.rest.body_kind();
    let decoded = decode::object(&bytes, format, kind, validation_of(&options))?;
    let mut object = call.report_warnings(decoded);
    target.place(&mut *object)?;
    remove_duplicate_owners(call.cx, &mut *object);
    let creater = target.rest.creater().ok_or_else(|| call.no_such_verb())?;
    let created = creater
        .create(call.cx, &target.namespace, &target.name, object, &options)
        .await?;
    encode(&encoder, created)
}

/// POST to `bindings`, which is POST to the `binding` of the pod that the body names.
pub(super) async fn binding(
    call: Call<'_>,
    path: &ResourcePath,
    body: &mut Incoming,
) -> Result<ApiResponse, Status> {
    let pods = call.server.registry.storage("", "v1", "pods");
    let rest = pods.and_then(|pods| pods.subresource("binding"));
    let mut target = Target {
        rest: rest.ok_or_else(not_found)?,
        namespace: path.namespace.clone().unwrap_or_default(),
        name: String::new(),
    };
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let (format, bytes) = call.body(target.formats(), body).await?;
    let options = options(call)?;
    let kind = target.rest.body_kind();
    let decoded = decode::object(&bytes, format, kind, validation_of(&options))?;
    let mut object = call.report_warnings(decoded);
    target.place(&mut *object)?;
    target.name = object.meta().name.to_string();
    remove_duplicate_owners(call.cx, &mut *object);
    // Which of its name the pod is says only the binding of a pod, as upstream.
    object.meta_mut().uid = Str::default();
    let creater = target.rest.creater().ok_or_else(|| call.no_such_verb())?;
    let created = creater
        .create(call.cx, &target.namespace, &target.name, object, &options)
        .await?;
    encode(&encoder, created)
}

fn options(call: Call<'_>) -> Result<PostOptions, Status> {
    let pairs = call.request.query.pairs();
    PostOptions::from_query(WriteVerb::Create, pairs).map_err(|error| error.to_status())
}

fn encode(encoder: &ResponseEncoder, created: Created) -> Result<ApiResponse, Status> {
    match created {
        Created::Object(stored) => encoder.object(StatusCode::CREATED, &stored),
        Created::Status(mut status) => {
            status.code = 201;
            Ok(encoder.message(StatusCode::CREATED, &*status))
        }
    }
}
