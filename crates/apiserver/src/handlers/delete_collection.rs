//! DELETE of a collection: deletes all selected objects.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::handlers::{delete, list};
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use kubist_apimachinery::Status;
use kubist_codec::negotiate::Offer;

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let deleter = target.rest.collection_deleter();
    let deleter = deleter.ok_or_else(|| call.no_such_verb())?;
    let selected = list::options(call).await?;
    deleter.check_list(&selected)?;
    let options = delete::options(call, body).await?;
    let page = deleter
        .delete_collection(call.cx, &target.namespace, &selected, &options)
        .await?;
    list::encode(&encoder, &target, page)
}
