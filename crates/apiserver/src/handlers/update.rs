//! PUT: replaces an object, or creates it where the resource allows that.

use crate::handlers::call::Call;
use crate::handlers::permitted_create;
use crate::handlers::target::Target;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use http::StatusCode;
use kubist_apimachinery::{Status, WriteVerb};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Replacement, Updated, remove_duplicate_owners};

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let (formats, kind) = (target.formats(), target.rest.body_kind());
    let received = call
        .object(
            body,
            formats,
            (kind, Some(&*target.rest)),
            WriteVerb::Update,
        )
        .await?;
    let (mut object, options) = (received.object, received.options);
    target.set_namespace(&mut *object)?;
    target.check_name(&*object)?;
    remove_duplicate_owners(call.cx, &mut *object);
    let replacement = Replacement(object);
    let updater = target.rest.updater().ok_or_else(|| call.no_such_verb())?;
    let updated = permitted_create::update(&call, &target, updater, &replacement, &options).await;
    let updated = updated.map_err(|status| received.lists.shown_in(status))?;
    encode(&encoder, &updated)
}

/// Encodes the result of an update: 201 if it created the object.
pub(super) fn encode(encoder: &ResponseEncoder, updated: &Updated) -> Result<ApiResponse, Status> {
    let code = if updated.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    encoder.object(code, &updated.object)
}
