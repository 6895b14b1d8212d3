//! DELETE of one object.

use crate::authorization::authorizer::UNSAFE_DELETE;
use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::negotiation::cbor_body::Expected;
use crate::negotiation::decode::go_text::{cbor_text, decode_text};
use crate::negotiation::decode::kind_check::not_registered;
use crate::negotiation::decode::type_meta::json_type_meta;
use crate::negotiation::decode::yaml_document;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use http::StatusCode;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{DeleteOptions, Status};
use kubist_authorization::{Action, Attributes, ResourceAction};
use kubist_codec::Format;
use kubist_codec::envelope::Envelope;
use kubist_codec::negotiate::Offer;
use kubist_registry::Created;
use serde_json::Value;
use std::borrow::Cow;

/// Upstream's scheme of delete options, as it appears in error texts that clients compare.
const SCHEME: &str = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let options = options(call, body).await?;
    if options
        .ignore_store_read_error_with_cluster_breaking_potential
        .unwrap_or_default()
    {
        permit_unsafe(call, &target).await?;
    }
    let deleter = target.rest.deleter().ok_or_else(|| call.no_such_verb())?;
    let deleted = deleter
        .delete(call.cx, &target.namespace, &target.name, &options)
        .await?;
    // Only the deprecated option `orphanDependents` results in 202.
    let pending = !deleted.gone && options.orphan_dependents == Some(false);
    let code = if pending {
        StatusCode::ACCEPTED
    } else {
        StatusCode::OK
    };
    match deleted.answer {
        Created::Object(stored) => encoder.object(code, &stored),
        Created::Status(status) => Ok(call.success(&encoder, code, &status)),
    }
}

/// Authorizes the deletion of an object that cannot be decoded.
async fn permit_unsafe(call: Call<'_>, target: &Target) -> Result<(), Status> {
    let facts = target.rest.facts();
    let resource = ResourceAction {
        group: facts.group,
        version: facts.version,
        resource: facts.plural,
        subresource: "",
        namespace: &target.namespace,
        name: &target.name,
        ..ResourceAction::default()
    };
    let attributes = Attributes {
        user: &call.cx.user,
        verb: UNSAFE_DELETE,
        action: Action::Resource(resource),
    };
    call.server.authorization.permit(attributes).await
}

/// Reads the options of a deletion from the body, or from the query if there is no body.
pub(super) async fn options(
    call: Call<'_>,
    body: &mut RequestBody,
) -> Result<DeleteOptions, Status> {
    let (format, bytes) = call.body(Format::ALL, body, Expected::Options).await?;
    let options = if bytes.is_empty() {
        DeleteOptions::from_query(call.request.query.pairs()).map_err(|error| error.to_status())?
    } else {
        decode(&bytes, format, call.request.cbor.is_body())?
    };
    options.checked().map_err(|error| error.to_status())?;
    Ok(options)
}

fn decode(bytes: &[u8], format: Format, is_cbor: bool) -> Result<DeleteOptions, Status> {
    let mut cx = DecodeContext::new();
    let mut json = Cow::Borrowed(bytes);
    let decoded = match format {
        Format::Json if bytes.trim_ascii() == b"null" => Ok(DeleteOptions::default()),
        Format::Json => {
            let (api_version, kind) = json_type_meta(bytes).map_err(Status::bad_request)?;
            check(api_version.as_deref(), kind.as_deref())?;
            DeleteOptions::from_json(bytes, &mut cx)
        }
        Format::Yaml => {
            let document = yaml_document(bytes).map_err(Status::bad_request)?;
            if document.value.is_null() {
                return Ok(DeleteOptions::default());
            }
            let text = |key: &str| document.value.get(key).and_then(Value::as_str);
            check(text("apiVersion"), text("kind"))?;
            json = Cow::Owned(document.value.to_string().into_bytes());
            DeleteOptions::from_json(&json, &mut cx)
        }
        Format::Protobuf => {
            let envelope =
                Envelope::open(bytes).map_err(|error| Status::bad_request(error.to_string()))?;
            check(Some(envelope.api_version), Some(envelope.kind))?;
            json = Cow::Borrowed(&[][..]);
            DeleteOptions::from_protobuf(envelope.raw, &mut cx)
        }
    };
    decoded.map_err(|error| {
        Status::bad_request(if is_cbor {
            cbor_text(&error, &json, (DeleteOptions::SCHEMA, "v1"))
        } else {
            decode_text(&error, &json, DeleteOptions::SCHEMA)
        })
    })
}

/// Any well-formed `apiVersion` is accepted: older clients send that of the object.
fn check(api_version: Option<&str>, kind: Option<&str>) -> Result<(), Status> {
    let api_version = api_version.filter(|it| !it.is_empty());
    let api_version = api_version.unwrap_or("meta.k8s.io/v1");
    if api_version.matches('/').count() > 1 {
        let message = format!("unexpected GroupVersion string: {api_version}");
        return Err(Status::bad_request(message));
    }
    let kind = kind.filter(|it| !it.is_empty()).unwrap_or("DeleteOptions");
    if kind == "DeleteOptions" {
        return Ok(());
    }
    Err(Status::bad_request(not_registered(
        api_version,
        kind,
        SCHEME,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_name_any_version_or_be_null() {
        for body in [
            "null",
            " null\n",
            "{}",
            r#"{"apiVersion":"v2","kind":"DeleteOptions"}"#,
            r#"{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}"#,
            r#"{"apiVersion":"example.com/v1","kind":"DeleteOptions"}"#,
            r#"{"apiVersion":"apps/v1","kind":""}"#,
        ] {
            for format in [Format::Json, Format::Yaml] {
                let decoded = decode(body.as_bytes(), format, false);
                assert_eq!(decoded, Ok(DeleteOptions::default()), "{body}");
            }
        }
        for (body, message) in [
            (
                r#"{"apiVersion":"a/b/c","kind":"DeleteOptions"}"#,
                "unexpected GroupVersion string: a/b/c".to_owned(),
            ),
            (
                r#"{"apiVersion":"","kind":"Other"}"#,
                not_registered("meta.k8s.io/v1", "Other", SCHEME),
            ),
        ] {
            let status = decode(body.as_bytes(), Format::Json, false).expect_err(body);
            assert_eq!((status.code, &*status.message), (400, &*message));
        }
    }
}
