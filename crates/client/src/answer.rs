//! Reading responses that are one object, or the Status of a failure.

use crate::error::{AnswerError, ApiError};
use crate::request::{JSON, PROTOBUF, Target};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Response, StatusCode};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Wire, decode};
use kubist_apimachinery::{
    ApiResource, GenericResponse, GroupResource, STATUS_FAILURE, Status, Str,
};
use kubist_codec::envelope::Envelope;
use kubist_transport::ResponseBody;
use serde::Deserialize;

/// The most bytes of a response with one object. Upstream stores at most 1.5 MiB; lists are not
/// read here.
const OBJECT_BYTES_MAX: usize = 64 << 20;
/// The most bytes read of an error response to find a Status.
const STATUS_BYTES_MAX: usize = 1 << 20;
/// The most bytes shown of an error response that is not a Status; the same as in client-go.
const TEXT_BYTES_MAX: usize = 2048;

/// One object, encoded, without its envelope.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
    pub(crate) encoding: Encoding,
    api_version: Str,
    kind: Str,
}

/// What a response may be instead of the requested object.
#[derive(Deserialize, Default)]
struct TypeMeta {
    #[serde(default, rename = "apiVersion")]
    api_version: Str,
    #[serde(default)]
    kind: Str,
}

impl Answer {
    /// Reads the whole body of a successful response.
    pub(crate) async fn read(
        response: Response<ResponseBody>,
        request: &Str,
    ) -> Result<Self, ApiError> {
        let encoding = encoding(response.headers());
        let body = response.into_body().bytes(OBJECT_BYTES_MAX).await;
        let bytes = body.map_err(|source| ApiError::transport(request, source))?;
        let answer = encoding.and_then(|encoding| Self::open(bytes, encoding));
        let answer = answer.map_err(|source| ApiError::answer(request, source))?;
        // A failure Status counts, whatever the HTTP code is.
        match answer.status() {
            Some(status) if status.status == STATUS_FAILURE => {
                Err(ApiError::Status(Box::new(status)))
            }
            _ => Ok(answer),
        }
    }

    fn open(bytes: Bytes, encoding: Encoding) -> Result<Self, AnswerError> {
        if bytes.is_empty() {
            return Err(AnswerError::Empty);
        }
        if encoding == Encoding::Protobuf {
            let envelope = Envelope::open(&bytes).map_err(AnswerError::Envelope)?;
            let (api_version, kind) = (envelope.api_version.into(), envelope.kind.into());
            let bytes = bytes.slice_ref(envelope.raw);
            return Ok(Self {
                bytes,
                encoding,
                api_version,
                kind,
            });
        }
        // Malformed JSON is reported with its position when the object is decoded.
        let meta: TypeMeta = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Self {
            bytes,
            encoding,
            api_version: meta.api_version,
            kind: meta.kind,
        })
    }

    /// Returns the Status, if the object is one.
    pub(crate) fn status(&self) -> Option<Status> {
        if self.kind != "Status" || self.api_version != "v1" {
            return None;
        }
        self.message().ok()
    }

    /// Fails if the object has another kind. An object without a kind passes.
    pub(crate) fn expect_kind(&self, kind: &str) -> Result<(), AnswerError> {
        // Metadata has its own kind.
        if self.kind.is_empty() || self.kind == *kind || self.kind == "PartialObjectMetadata" {
            return Ok(());
        }
        Err(AnswerError::Kind {
            expected: kind.into(),
            found: self.kind.clone(),
        })
    }

    fn message<M: Wire>(&self) -> Result<M, AnswerError> {
        let message = decode(&self.bytes, self.encoding, &mut DecodeContext::new());
        message.map_err(AnswerError::Object)
    }
}

/// Returns the encoding that the headers name; JSON by default.
pub(crate) fn encoding(headers: &HeaderMap) -> Result<Encoding, AnswerError> {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Ok(Encoding::Json);
    };
    let text = String::from_utf8_lossy(value.as_bytes());
    let media_type = text.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case(JSON) {
        Ok(Encoding::Json)
    } else if media_type.eq_ignore_ascii_case(PROTOBUF) {
        Ok(Encoding::Protobuf)
    } else {
        Err(AnswerError::ContentType {
            found: text.as_ref().into(),
        })
    }
}

/// Returns the pause in `Retry-After`. Dates are not supported, as in client-go.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// Returns the Status of a response other than 2xx: the server's, or a generic one.
pub(crate) async fn failure(
    response: Response<ResponseBody>,
    method: &Method,
    target: Option<Target<'_>>,
) -> Status {
    let code = response.status();
    let encoding = encoding(response.headers());
    let retry_after = retry_after(response.headers());
    let seconds = retry_after.map_or(0, |it| i32::try_from(it).unwrap_or(i32::MAX));
    let bytes = response
        .into_body()
        .bytes(STATUS_BYTES_MAX)
        .await
        .unwrap_or_default();
    let answer = encoding.and_then(|encoding| Answer::open(bytes.clone(), encoding));
    if let Some(mut status) = answer.ok().and_then(|answer| answer.status()) {
        if status.code == 0 {
            status.code = code_number(code);
        }
        if seconds > 0 && status.retry_after().is_none() {
            status.details.get_or_insert_default().retry_after_seconds = seconds;
        }
        return status;
    }
    let text = &bytes[..bytes.len().min(TEXT_BYTES_MAX)];
    let resource = target.map_or_else(GroupResource::default, |target| {
        let ApiResource { group, plural, .. } = target.resource;
        GroupResource::new(group.clone(), plural.clone())
    });
    Status::generic(&GenericResponse {
        code: code_number(code),
        method: method.as_str(),
        resource,
        name: target.and_then(|it| it.name).unwrap_or_default(),
        server_message: String::from_utf8_lossy(text).trim(),
        retry_after_seconds: seconds,
        is_unexpected: true,
    })
}

fn code_number(code: StatusCode) -> i32 {
    i32::from(code.as_u16())
}
