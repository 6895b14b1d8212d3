//! GET of one object.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::response::ApiResponse;
use http::StatusCode;
use kubist_apimachinery::{ResourceVersion, Status};
use kubist_codec::negotiate::Offer;

pub(super) async fn handle(call: Call<'_>, target: Target) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let version = call.request.query.first("resourceVersion");
    let version = ResourceVersion::from(version.unwrap_or_default());
    let getter = target.rest.getter().ok_or_else(|| call.no_such_verb())?;
    let stored = getter
        .get(call.cx, &target.namespace, &target.name, &version)
        .await?;
    encoder.object(StatusCode::OK, &stored)
}
