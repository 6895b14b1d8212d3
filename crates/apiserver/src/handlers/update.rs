//! PUT: an object in place of what is there.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::negotiation::decode;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::validation_of;
use crate::response::ApiResponse;
use http::StatusCode;
use hyper::body::Incoming;
use kubist_apimachinery::{PostOptions, Status, WriteVerb};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Replacement, Updated, remove_duplicate_owners};

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut Incoming,
) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let (format, bytes) = call.body(target.formats(), body).await?;
    let pairs = call.request.query.pairs();
    let options = PostOptions::from_query(WriteVerb::Update, pairs);
    let options = options.map_err(|error| error.to_status())?;
    let kind = target.rest.body_kind();
    let decoded = decode::object(&bytes, format, kind, validation_of(&options))?;
    let mut object = call.report_warnings(decoded);
    target.place(&mut *object)?;
    target.check_name(&*object)?;
    remove_duplicate_owners(call.cx, &mut *object);
    let replacement = Replacement(object);
    let (namespace, name) = (&target.namespace, &target.name);
    let updater = target.rest.updater().ok_or_else(|| call.no_such_verb())?;
    let updated = updater
        .update(call.cx, namespace, name, &replacement, &options)
        .await?;
    encode(&encoder, &updated)
}

/// What an update answers.
pub(super) fn encode(encoder: &ResponseEncoder, updated: &Updated) -> Result<ApiResponse, Status> {
    let code = if updated.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    encoder.object(code, &updated.object)
}
