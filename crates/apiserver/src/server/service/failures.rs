//! Responses to requests that failed.

use crate::filters::request_record::RequestRecord;
use crate::request::Request;
use crate::response::ApiResponse;
use http::header::X_CONTENT_TYPE_OPTIONS;
use kubist_apimachinery::{Status, StatusDetails};
use kubist_codec::negotiate::{Offer, negotiate};

/// Returns the response to a request that failed, in a format that its client accepts. As upstream,
/// who is nobody and what leads nowhere is not refused in CBOR.
pub(super) fn failed(request: &Request, status: &Status) -> ApiResponse {
    let leads_nowhere = status.details.as_deref() == Some(&StatusDetails::default());
    if leads_nowhere || status.code == 401 {
        return failed_as(request, status, &Offer::STATUS);
    }
    failed_as(request, status, &request.offer(&Offer::STATUS))
}

fn failed_as(request: &Request, status: &Status, offer: &Offer) -> ApiResponse {
    match negotiate(request.accept(), offer) {
        Ok(chosen) => {
            let pretty = chosen.pretty || request.wants_pretty();
            let mut response = ApiResponse::status(status, chosen.format, pretty);
            response.content_type = chosen.content_type();
            response
        }
        Err(_) => ApiResponse::raw_status(status),
    }
}

/// Returns the response to a request that authorization refuses. As upstream, it tells browsers not
/// to guess its type, and is not in CBOR.
pub(super) fn refused(request: &Request, record: &RequestRecord, status: &Status) -> ApiResponse {
    record.audit().inspect(|it| it.failed(status));
    failed_as(request, status, &Offer::STATUS).with_header(X_CONTENT_TYPE_OPTIONS, "nosniff")
}
