//! `Call`: one request about a resource, as its handler sees it.

use crate::filters::seat_reservation::SeatReservation;
use crate::handlers::context::ServerContext;
use crate::handlers::target::Target;
use crate::metrics::RequestLabels;
use crate::negotiation::decode::Decoded;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::Request;
use crate::response::errors::method_not_allowed;
use bytes::Bytes;
use hyper::body::Incoming;
use kubist_apimachinery::{Status, StatusReason};
use kubist_codec::Format;
use kubist_codec::negotiate::{Offer, body_format};
use kubist_registry::RequestContext;

/// One request, and what it is answered with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a ServerContext,
    pub(crate) cx: &'a RequestContext,
    pub(crate) request: &'a Request,
    /// What it is counted under.
    pub(crate) labels: &'a RequestLabels,
    /// Where its body comes in.
    pub(crate) reservation: &'a SeatReservation<'a>,
}

impl Call<'_> {
    /// 405: the resource has no such verb.
    pub(crate) fn no_such_verb(&self) -> Status {
        method_not_allowed(self.request.method.as_str())
    }

    /// The form of the answer about a target.
    pub(crate) fn encoder(
        &self,
        target: &Target,
        offer: &Offer,
    ) -> Result<ResponseEncoder, Status> {
        // What a subresource of another kind shows has no columns, unless it is a scale.
        let of_other = !std::ptr::eq(target.rest.body_kind(), target.rest.kind());
        let shown = target.rest.body_kind().facts();
        let is_scale = (shown.group, shown.kind) == ("autoscaling", "Scale");
        let scales = of_other && is_scale && !target.rest.kind().is_custom();
        let custom = target.rest.body_kind().is_custom();
        let offer = Offer {
            formats: if custom {
                Offer::CUSTOM.formats
            } else {
                offer.formats
            },
            routed: offer.routed && !target.rest.kind().is_custom(),
            table: offer.table && (scales || !of_other),
            ..*offer
        };
        let encoder = ResponseEncoder::of(self.request, &offer, target.rest.facts(), self.cx.now());
        encoder.map(|mut encoder| {
            if let Some(table) = &mut encoder.table {
                table.scales = scales;
            }
            encoder
        })
    }

    /// The format and the bytes of a body that is an object.
    pub(crate) async fn body(
        &self,
        formats: &[Format],
        body: &mut Incoming,
    ) -> Result<(Format, Bytes), Status> {
        let format = body_format(self.request.content_type(), formats);
        let format = format.map_err(|refusal| {
            let message = refusal.message();
            Status::failure(415, StatusReason::UnsupportedMediaType, message)
        })?;
        Ok((format, self.bytes(body).await?))
    }

    /// The bytes of a body; the request has its place once they are there.
    pub(crate) async fn bytes(&self, body: &mut Incoming) -> Result<Bytes, Status> {
        let max = self.server.body_bytes_max;
        let bytes = self.reservation.body(body, max).await?;
        self.server.metrics.body(self.labels, bytes.len());
        self.cx.begin_work(bytes.len()).await;
        Ok(bytes)
    }

    /// What was decoded; its warnings go to the client, whatever comes of the request.
    pub(crate) fn report_warnings<T>(&self, decoded: Decoded<T>) -> T {
        for warning in decoded.warnings {
            self.cx.warn(warning);
        }
        decoded.value
    }
}
