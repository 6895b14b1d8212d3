//! A server of `ReplicaSets` and Pods whose watch events are sent by the test.

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use kubist_apimachinery::wire::Encoding;
use kubist_client::Client;
use kubist_transport::{Body, Config, Transport};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc;

type AnyBody = UnsyncBoxBody<Bytes, Infallible>;

/// Lists are empty; created objects are returned and recorded, without a watch event.
#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    version: u64,
    /// The bodies of requests to create Pods.
    created: Vec<Value>,
    /// The open watches, by plural.
    watches: Vec<(String, mpsc::Sender<Bytes>)>,
}

impl Server {
    pub(crate) fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        let config = Config::new("http://in-process".parse().expect("a URI"));
        let transport = Transport::with_service(config, service).expect("no TLS");
        let config = kubist_client::Config {
            encoding: Encoding::Json,
            ..kubist_client::Config::default()
        };
        Client::new(transport, config)
    }

    /// Returns the number of requests to create Pods.
    pub(crate) fn created(&self) -> usize {
        self.0.lock().created.len()
    }

    /// Sends an event to the watches of a plural.
    pub(crate) fn tell(&self, plural: &str, kind: &str, mut object: Value) {
        let mut state = self.0.lock();
        state.version += 1;
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        let event = json!({"type": kind, "object": object}).to_string();
        for (of, watch) in &state.watches {
            if of == plural {
                watch.try_send(event.clone().into()).expect("it reads");
            }
        }
    }

    async fn answer(&self, request: Request<Body>) -> Response<AnyBody> {
        let (head, body) = request.into_parts();
        let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
        let plural = if path.contains("/pods") {
            "pods"
        } else {
            "replicasets"
        };
        if query.contains("watch=true") {
            let (sender, receiver) = mpsc::channel(64);
            if query.contains("sendInitialEvents=true") {
                let whole = json!({"kind": "Object", "apiVersion": "v1", "metadata": {
                    "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}});
                let event = json!({"type": "BOOKMARK", "object": whole}).to_string();
                sender.try_send(event.into()).expect("it is empty");
            }
            self.0.lock().watches.push((plural.to_owned(), sender));
            let chunks = futures_util::stream::unfold(receiver, |mut receiver| async {
                Some((receiver.recv().await?, receiver))
            });
            let frames = chunks.map(|it| Ok::<_, Infallible>(Frame::data(it)));
            return json_response(StreamBody::new(frames).boxed_unsync());
        }
        let sent = body.collect().await.expect("a body").to_bytes();
        let mut state = self.0.lock();
        let kind = if plural == "pods" {
            "Pod"
        } else {
            "ReplicaSet"
        };
        let group = if plural == "pods" { "v1" } else { "apps/v1" };
        let answer = if head.method == Method::GET {
            json!({"kind": format!("{kind}List"), "apiVersion": group,
                "metadata": {"resourceVersion": state.version.to_string()}, "items": []})
        } else {
            state.version += 1;
            let mut object: Value = serde_json::from_slice(&sent).expect("JSON");
            object["metadata"]["resourceVersion"] = json!(state.version.to_string());
            if head.method == Method::POST {
                let name = format!("pod-{}", state.version);
                object["metadata"]["uid"] = json!(name);
                object["metadata"]["name"] = json!(name);
                state.created.push(object.clone());
            }
            object
        };
        drop(state);
        let text = Bytes::from(answer.to_string());
        json_response(http_body_util::Full::new(text).boxed_unsync())
    }
}

fn json_response(body: AnyBody) -> Response<AnyBody> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(body).expect("a response")
}
