//! `Call`: one request about a resource, as its handler sees it.

use crate::audit::audited_call::AuditedCall;
use crate::filters::seat_reservation::SeatReservation;
use crate::handlers::context::ServerContext;
use crate::handlers::target::Target;
use crate::metrics::RequestLabels;
use crate::negotiation::cbor_body::Expected;
use crate::negotiation::decode::{self, Decoding};
use crate::negotiation::given_lists::GivenLists;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::request_body::RequestBody;
use crate::request::{Request, validation_of};
use crate::response::ApiResponse;
use crate::response::errors::method_not_allowed;
use bytes::Bytes;
use http::StatusCode;
use kubist_api::Kind;
use kubist_apimachinery::{
    AnyObject, GroupResource, ManagedFieldsEntry, PostOptions, Status, StatusReason, WriteVerb,
};
use kubist_codec::negotiate::{Offer, body_format};
use kubist_codec::{Format, cbor};
use kubist_registry::{RequestContext, RestStorage};
use memchr::memmem;
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;

/// A request and its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a ServerContext,
    pub(crate) cx: &'a RequestContext,
    pub(crate) request: &'a Request,
    /// Its metric labels.
    pub(crate) labels: &'a RequestLabels,
    /// The client's address, if it is not in this process.
    pub(crate) source: Option<IpAddr>,
    /// Receives its body.
    pub(crate) reservation: &'a SeatReservation<'a>,
    /// Records it, if it is recorded.
    pub(crate) audit: Option<&'a AuditedCall>,
}

/// A decoded body.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) object: Box<dyn AnyObject>,
    pub(crate) options: PostOptions,
    /// For its errors.
    pub(crate) lists: GivenLists,
}

impl Call<'_> {
    /// Answers with a Status that reports a success.
    pub(crate) fn success(
        &self,
        encoder: &ResponseEncoder,
        code: StatusCode,
        status: &Status,
    ) -> ApiResponse {
        if let Some(audit) = self.audit {
            audit.concluded(status, code.as_u16().into());
        }
        encoder.message(code, status)
    }

    /// 405 for a verb that the resource does not have.
    pub(crate) fn no_such_verb(&self) -> Status {
        method_not_allowed(self.request.method.as_str())
    }

    /// Negotiates the response media type for a target.
    pub(crate) fn encoder(
        &self,
        target: &Target,
        offer: &Offer,
    ) -> Result<ResponseEncoder, Status> {
        // A subresource of another kind has no table, unless it is a Scale.
        let of_other = !std::ptr::eq(target.rest.body_kind(), target.rest.kind());
        let shown = target.rest.body_kind().facts();
        let is_scale = (shown.group, shown.kind) == ("autoscaling", "Scale");
        let scales = of_other && is_scale;
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

    /// Reads a body that is an object, and returns its format and bytes.
    pub(crate) async fn body(
        &self,
        formats: &[Format],
        body: &mut RequestBody,
        expected: Expected,
    ) -> Result<(Format, Bytes), Status> {
        let format = body_format(self.request.content_type(), formats);
        let format = format.map_err(|mut refusal| {
            if self.request.cbor.is_offered() {
                refusal.accepted.push_str(", ");
                refusal.accepted.push_str(cbor::MEDIA_TYPE);
            }
            let message = refusal.message();
            Status::failure(415, StatusReason::UnsupportedMediaType, message)
        })?;
        Ok((format, self.bytes(body, expected).await?))
    }

    /// Reads a body; afterwards the request has its seat in flight.
    pub(crate) async fn bytes(
        &self,
        body: &mut RequestBody,
        expected: Expected,
    ) -> Result<Bytes, Status> {
        let max = self.server.body_bytes_max;
        let bytes = self.reservation.body(body, max).await?;
        self.server.metrics.body(self.labels, bytes.len());
        let bytes = if self.request.cbor.is_body() {
            // This is work, too.
            self.cx.begin_work(bytes.len()).await;
            expected.read(bytes, max)?
        } else {
            bytes
        };
        if let Some(audit) = self.audit {
            let format = self.request.content_type().and_then(Format::of_media_type);
            audit
                .request_body(format.unwrap_or(Format::Json), &bytes)
                .await;
        }
        self.cx.begin_work(bytes.len()).await;
        Ok(bytes)
    }

    /// Reads and decodes a body that is an object of `kind`, with the options of `verb`. A custom
    /// object is completed as its resource says. Warnings go to the client, whether or not the
    /// request succeeds.
    pub(crate) async fn object(
        &self,
        body: &mut RequestBody,
        formats: &[Format],
        (kind, rest): (&'static Kind, Option<&dyn RestStorage>),
        verb: WriteVerb,
    ) -> Result<Received, Status> {
        let (format, bytes) = self.body(formats, body, Expected::Object(kind)).await?;
        let options = PostOptions::from_query(verb, self.request.query.pairs());
        let options = options.map_err(|error| error.to_status())?;
        let prunes = |object: &mut dyn AnyObject, api_version: &str, reports| match rest {
            Some(rest) => rest.prune(object, api_version, reports),
            None => Ok(Vec::new()),
        };
        let decoding = Decoding {
            format,
            cbor: self.request.cbor.is_body(),
            kind,
            validation: validation_of(&options),
            prune: kind.is_custom().then_some(&prunes),
        };
        let decoded = decode::object(&bytes, decoding);
        let mut decoded = decoded.map_err(|refusal| {
            for warning in refusal.warnings {
                self.cx.warn(warning);
            }
            refusal.status
        })?;
        if resets_managers(&*decoded.value, &bytes, format) {
            mark_reset(&mut *decoded.value);
        }
        for warning in decoded.warnings {
            self.cx.warn(warning);
        }
        Ok(Received {
            object: decoded.value,
            options,
            lists: GivenLists::of(format, &bytes),
        })
    }

    /// Looks up an object of the core group.
    ///
    /// # Errors
    /// 404 if it does not exist.
    pub(crate) async fn core_object(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<dyn AnyObject>, Status> {
        let lookup = self.server.registry.lookup();
        let found = lookup.get("", plural, namespace, name).await?;
        found.ok_or_else(|| Status::not_found(&GroupResource::new("", plural), name))
    }
}

/// Reports whether a body has an empty list of managed fields, which a decoded object cannot tell
/// from none.
fn resets_managers(object: &dyn AnyObject, body: &[u8], format: Format) -> bool {
    if !object.meta().managed_fields.is_empty() || memmem::find(body, b"managedFields").is_none() {
        return false;
    }
    decode::tree(format, body).is_some_and(|tree| has_no_managers(&tree))
}

/// Reports whether an object has an empty list of managed fields.
pub(crate) fn has_no_managers(object: &Value) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.is_some_and(Vec::is_empty)
}

/// Resets the managed fields: one empty entry means the same as an empty list.
pub(crate) fn mark_reset(object: &mut dyn AnyObject) {
    object.meta_mut().managed_fields = vec![ManagedFieldsEntry::default()];
}
