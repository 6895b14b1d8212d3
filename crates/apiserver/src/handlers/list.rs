//! GET of a collection.

use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::negotiation::response_encoder::{ListParts, ResponseEncoder};
use crate::response::ApiResponse;
use kubist_apimachinery::{ListOptions, Status};
use kubist_codec::negotiate::Offer;
use kubist_registry::ListPage;

/// Bytes of a body that cost as much as one byte of a selector, whose requirements are validated
/// and compiled one by one.
const SELECTOR_WORK: usize = 4;

pub(super) async fn handle(call: Call<'_>, target: Target) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN.with_watch())?;
    let options = options(call).await?;
    let lister = target.rest.lister().ok_or_else(|| call.no_such_verb())?;
    let page = lister.list(call.cx, &target.namespace, &options).await?;
    encode(&encoder, &target, page)
}

/// Reads the options of a list or a watch. Long selectors count as CPU-bound work.
///
/// Cancel safe.
pub(super) async fn options(call: Call<'_>) -> Result<ListOptions, Status> {
    let selectors = ["labelSelector", "fieldSelector"].into_iter();
    let lengths = selectors.filter_map(|it| call.request.query.first(it).map(str::len));
    let work = lengths.sum::<usize>().saturating_mul(SELECTOR_WORK);
    call.cx.begin_work(work).await;
    let selectors = call.request.selectors().clone();
    let options = ListOptions::from_query_with(call.request.query.pairs(), selectors);
    options.map_err(|error| error.to_status())
}

/// Encodes a page of a list.
pub(super) fn encode(
    encoder: &ResponseEncoder,
    target: &Target,
    page: ListPage,
) -> Result<ApiResponse, Status> {
    encoder.list(ListParts {
        api_version: target.rest.kind().facts().api_version,
        kind: target.rest.list_kind(),
        metadata: page.metadata,
        items: page.items,
        custom: target.rest.kind().is_custom(),
    })
}
