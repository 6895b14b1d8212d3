//! GET of one object.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::response::Answer;
use http::StatusCode;
use kubist_apimachinery::{ResourceVersion, Status};
use kubist_codec::negotiate::Offer;

pub(super) async fn answer(call: Call<'_>, target: Target) -> Result<Answer, Status> {
    let form = call.form(&target, &Offer::BUILT_IN)?;
    let version = call.request.query.first("resourceVersion");
    let version = ResourceVersion::from(version.unwrap_or_default());
    let getter = target.rest.getter().ok_or_else(|| call.no_such_verb())?;
    let stored = getter
        .get(call.cx, &target.namespace, &target.name, &version)
        .await?;
    form.object(StatusCode::OK, &stored)
}
