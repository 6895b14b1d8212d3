//! A webhook caller that answers as the test says, and records the reviews.

use super::*;
use kubist_registry::{
    BoxFuture, WebhookCall, WebhookCaller, WebhookClient, WebhookConfig, WebhookError,
};
use parking_lot::Mutex;
use std::fmt;

/// What the webhook does with a review.
pub(super) enum Answer {
    /// Responds with this body.
    Body(Vec<u8>),
    /// Fails.
    Failure(WebhookError),
    /// Never responds.
    Hang,
}

type Respond = Box<dyn Fn(&Value) -> Answer + Send>;

/// The webhook of all definitions.
#[derive(Clone)]
pub(super) struct Script(Arc<Shared>);

struct Shared {
    respond: Mutex<Respond>,
    reviews: Mutex<Vec<Value>>,
    /// The configurations of the clients.
    clients: Mutex<Vec<std::sync::Weak<Client>>>,
}

struct Client {
    config: WebhookConfig,
    shared: Arc<Shared>,
}

impl Script {
    /// Returns a webhook that converts widgets.
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared {
            respond: Mutex::new(Box::new(|review| Answer::Body(text(&convert(review))))),
            reviews: Mutex::default(),
            clients: Mutex::default(),
        }))
    }

    /// Sets what it does from now on.
    pub(super) fn respond(&self, respond: impl Fn(&Value) -> Answer + Send + 'static) {
        *self.0.respond.lock() = Box::new(respond);
    }

    /// Sets that it converts, and then changes its answer.
    pub(super) fn change(&self, change: impl Fn(&mut Value) + Send + 'static) {
        self.respond(move |review| {
            let mut answer = convert(review);
            change(&mut answer);
            Answer::Body(text(&answer))
        });
    }

    /// Takes the number of objects in each review so far.
    pub(super) fn take_sizes(&self) -> Vec<usize> {
        let reviews = std::mem::take(&mut *self.0.reviews.lock());
        let size = |it: &Value| it["request"]["objects"].as_array().map_or(0, Vec::len);
        reviews.iter().map(size).collect()
    }

    /// Takes the reviews so far.
    pub(super) fn take_reviews(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.reviews.lock())
    }

    /// Returns the configurations of the clients in use.
    pub(super) fn clients(&self) -> Vec<WebhookConfig> {
        let clients = self.0.clients.lock();
        let clients = clients.iter().filter_map(std::sync::Weak::upgrade);
        clients.map(|it| it.config.clone()).collect()
    }
}

pub(super) fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Returns the answer to a review: `spec.size` in `v1` is `spec.dimension` in `v1beta1`, as text.
pub(super) fn convert(review: &Value) -> Value {
    let request = &review["request"];
    let desired = request["desiredAPIVersion"].as_str().expect("it is set");
    let objects = request["objects"].as_array().expect("there are some");
    let converted = objects.iter().map(|object| {
        let mut object = object.clone();
        object["apiVersion"] = desired.into();
        if let Some(spec) = object["spec"].as_object_mut() {
            if desired.ends_with("/v1") {
                if let Some(dimension) = spec.remove("dimension") {
                    let size = dimension.as_str().and_then(|it| it.parse::<i64>().ok());
                    spec.insert("size".to_owned(), size.into());
                }
            } else if let Some(size) = spec.remove("size") {
                spec.insert("dimension".to_owned(), size.to_string().into());
            }
        }
        object
    });
    json!({
        "kind": "ConversionReview", "apiVersion": review["apiVersion"],
        "response": {
            "uid": request["uid"],
            "convertedObjects": converted.collect::<Vec<_>>(),
            "result": {"status": "Success"},
        },
    })
}

impl WebhookCaller for Script {
    fn client(&self, config: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError> {
        let client = Arc::new(Client {
            config: config.clone(),
            shared: Arc::clone(&self.0),
        });
        self.0.clients.lock().push(Arc::downgrade(&client));
        Ok(client)
    }
}

impl WebhookClient for Client {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<bytes::Bytes, WebhookError>> {
        Box::pin(async move {
            let review: Value = serde_json::from_slice(&call.body).expect("it is JSON");
            let answer = self.shared.respond.lock()(&review);
            self.shared.reviews.lock().push(review);
            match answer {
                Answer::Body(body) => Ok(body.into()),
                Answer::Failure(error) => Err(error),
                Answer::Hang => std::future::pending().await,
            }
        })
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
