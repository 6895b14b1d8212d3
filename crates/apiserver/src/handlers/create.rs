//! POST of objects: creates them, or acts on an existing object (bindings, evictions).

use crate::handlers::call::{Call, Received};
use crate::handlers::target::Target;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::not_found;
use http::StatusCode;
use kubist_apimachinery::{Status, Str, WriteVerb};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Created, remove_duplicate_owners};

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let posted = read(call, &target, body).await?;
    create(call, &target, posted).await
}

/// POST to `bindings`: does what a POST to `binding` of the Pod that the body names does.
pub(super) async fn handle_binding(
    call: Call<'_>,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let mut target = Target {
        rest: call.server.registry.bindings().ok_or_else(not_found)?,
        namespace: path.namespace.clone().unwrap_or_default(),
        name: String::new(),
    };
    let mut posted = read(call, &target, body).await?;
    let meta = posted.received.object.meta_mut();
    target.name = meta.name.to_string();
    // As upstream, only the subresource of a Pod checks the uid of that Pod.
    meta.uid = Str::default();
    create(call, &target, posted).await
}

/// A decoded request to create an object.
struct Posted {
    encoder: ResponseEncoder,
    received: Received,
}

async fn read(call: Call<'_>, target: &Target, body: &mut RequestBody) -> Result<Posted, Status> {
    let encoder = call.encoder(target, &Offer::BUILT_IN)?;
    let (formats, kind) = (target.formats(), target.rest.body_kind());
    let mut received = call
        .object(
            body,
            formats,
            (kind, Some(&*target.rest)),
            WriteVerb::Create,
        )
        .await?;
    target.set_namespace(&mut *received.object)?;
    remove_duplicate_owners(call.cx, &mut *received.object);
    Ok(Posted { encoder, received })
}

async fn create(call: Call<'_>, target: &Target, posted: Posted) -> Result<ApiResponse, Status> {
    let (namespace, name) = (&target.namespace, &target.name);
    let creater = target.rest.creater().ok_or_else(|| call.no_such_verb())?;
    let Received {
        object,
        options,
        lists,
    } = posted.received;
    let created = creater
        .create(call.cx, namespace, name, object, &options)
        .await;
    match created.map_err(|status| lists.shown_in(status))? {
        Created::Object(stored) => posted.encoder.object(StatusCode::CREATED, &stored),
        Created::Status(mut status) => {
            status.code = 201;
            Ok(call.success(&posted.encoder, StatusCode::CREATED, &status))
        }
    }
}
