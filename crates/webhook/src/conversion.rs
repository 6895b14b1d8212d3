//! Conversion webhooks: objects of a custom resource in another version.

use crate::admission::{Denied, check_kind};
use crate::webhooks::{Answer, BadReview, Handler};
use futures_util::future::BoxFuture;
use kubist_api::apiextensions::v1::{ConversionRequest, ConversionResponse, ConversionReview};
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_apimachinery::{ByteString, RawExtension, STATUS_FAILURE, STATUS_SUCCESS, Status};
use serde_json::Value;

const KIND: &str = "ConversionReview";
const VERSION: &str = "apiextensions.k8s.io/v1";
/// The objects after which other tasks get a turn.
const OBJECTS_PER_TURN: usize = 16;

type Convert = dyn Fn(Value, &str) -> Result<Value, String> + Send + Sync;

/// The handler of a conversion webhook.
pub(crate) struct Conversion {
    convert: Box<Convert>,
}

impl Conversion {
    pub(crate) fn new(
        convert: impl Fn(Value, &str) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            convert: Box::new(convert),
        }
    }

    async fn all(&self, request: &ConversionRequest) -> Result<Vec<RawExtension>, String> {
        let mut converted = Vec::with_capacity(request.objects.len());
        for (index, object) in request.objects.iter().enumerate() {
            if index % OBJECTS_PER_TURN == OBJECTS_PER_TURN - 1 {
                tokio::task::yield_now().await;
            }
            let object = self.one(object, &request.desired_api_version);
            converted.push(object.map_err(|why| format!("object {index}: {why}"))?);
        }
        Ok(converted)
    }

    fn one(&self, raw: &RawExtension, wanted: &str) -> Result<RawExtension, String> {
        let object: Value = serde_json::from_slice(&raw.raw).map_err(|error| error.to_string())?;
        if object["apiVersion"] == *wanted {
            return Ok(raw.clone());
        }
        let named = |why: String| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let found = object["apiVersion"].as_str().unwrap_or_default();
            format!("{name:?} cannot be converted from {found} to {wanted}: {why}")
        };
        let converted = (self.convert)(object.clone(), wanted).map_err(named)?;
        check(&object, &converted, wanted).map_err(named)?;
        Ok(RawExtension {
            raw: ByteString(converted.to_string().into_bytes()),
        })
    }
}

/// Checks what the API server would refuse, so that the message says more.
fn check(from: &Value, to: &Value, wanted: &str) -> Result<(), String> {
    if to["apiVersion"] != *wanted {
        return Err(format!(
            "the result has the apiVersion {}",
            to["apiVersion"]
        ));
    }
    if to["kind"] != from["kind"] {
        return Err(format!("the result is a {}", to["kind"]));
    }
    for field in ["name", "namespace", "uid"] {
        if to["metadata"][field] != from["metadata"][field] {
            return Err(format!("the result has another metadata.{field}"));
        }
    }
    Ok(())
}

fn read(body: &[u8]) -> Result<ConversionRequest, BadReview> {
    check_kind(body, KIND, VERSION)?;
    let review = ConversionReview::from_json(body, &mut DecodeContext::new());
    let review = review.map_err(BadReview::new)?;
    let request = review.request.map(|it| *it);
    request.ok_or_else(|| BadReview::new("the review has no request"))
}

fn write(request: ConversionRequest, converted: Result<Vec<RawExtension>, Status>) -> Vec<u8> {
    let (converted_objects, result) = match converted {
        Ok(objects) => {
            let success = Status {
                status: STATUS_SUCCESS.into(),
                ..Status::default()
            };
            (objects, success)
        }
        Err(status) => (Vec::new(), status),
    };
    let response = ConversionResponse {
        uid: request.uid,
        converted_objects,
        result,
    };
    let review = ConversionReview {
        request: None,
        response: Some(Box::new(response)),
    };
    review.to_json()
}

fn failure(message: String) -> Status {
    Status {
        status: STATUS_FAILURE.into(),
        message: message.into(),
        ..Status::default()
    }
}

impl Handler for Conversion {
    fn answer<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let request = read(body)?;
            let converted = self.all(&request).await.map_err(failure);
            Ok(write(request, converted))
        })
    }

    fn refusal(&self, body: &[u8], denied: Denied) -> Answer {
        let request = read(body)?;
        let failed = failure(denied.message().to_owned());
        Ok(write(request, Err(failed)))
    }
}
