//! PUT: an object in place of what is there.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::negotiation::decode;
use crate::negotiation::response_encoder::Form;
use crate::request::validation_of;
use crate::response::Answer;
use http::StatusCode;
use hyper::body::Incoming;
use kubist_apimachinery::{PostOptions, Status, WriteVerb};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Replacement, Updated, remove_duplicate_owners};

pub(super) async fn answer(
    call: Call<'_>,
    target: Target,
    body: &mut Incoming,
) -> Result<Answer, Status> {
    let form = call.form(&target, &Offer::BUILT_IN)?;
    let (format, bytes) = call.body(target.formats(), body).await?;
    let pairs = call.request.query.pairs();
    let options = PostOptions::from_query(WriteVerb::Update, pairs);
    let options = options.map_err(|error| error.to_status())?;
    let kind = target.rest.body_kind();
    let decoded = decode::object(&bytes, format, kind, validation_of(&options))?;
    let mut object = call.told(decoded);
    target.place(&mut *object)?;
    target.check_name(&*object)?;
    remove_duplicate_owners(call.cx, &mut *object);
    let replacement = Replacement(object);
    let (namespace, name) = (&target.namespace, &target.name);
    let updater = target.rest.updater().ok_or_else(|| call.no_such_verb())?;
    let updated = updater
        .update(call.cx, namespace, name, &replacement, &options)
        .await?;
    represent(&form, &updated)
}

/// What an update answers.
pub(super) fn represent(form: &Form, updated: &Updated) -> Result<Answer, Status> {
    let code = if updated.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    form.object(code, &updated.object)
}
