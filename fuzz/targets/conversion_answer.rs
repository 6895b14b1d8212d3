//! Answers of a conversion webhook: any bytes either convert the object, with its identity, or are
//! an error that names the webhook.

#![no_main]

use bytes::Bytes;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{ListOptions, PostOptions, ResourceVersion};
use kubist_registry::{
    BoxFuture, PlainKinds, Registry, RegistryConfig, Rest, User, WebhookCall, WebhookCaller,
    WebhookClient, WebhookConfig, WebhookError,
};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Expected, KvWrite, PutRequest};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use std::sync::{Arc, LazyLock, Mutex};
use tokio::runtime::{Builder, Runtime};

/// The next answer of the webhook.
static ANSWER: Mutex<Bytes> = Mutex::new(Bytes::new());

/// A server with one object, stored in another version than that of the resource.
static WORLD: LazyLock<World> = LazyLock::new(World::new);

struct World {
    runtime: Runtime,
    registry: Registry,
    rest: Arc<Rest>,
}

#[derive(Debug)]
struct Webhook;

impl WebhookCaller for Webhook {
    fn client(&self, _: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError> {
        Ok(Arc::new(Self))
    }
}

impl WebhookClient for Webhook {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<Bytes, WebhookError>> {
        let answer = ANSWER.lock().expect("it is never poisoned").clone();
        Box::pin(std::future::ready(Ok(answer)))
    }
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("it is built");
        let (registry, rest) = runtime.block_on(serve());
        Self {
            runtime,
            registry,
            rest,
        }
    }
}

async fn serve() -> (Registry, Arc<Rest>) {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object"}},
        })
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "uid": "d", "generation": 1},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {
                "plural": "widgets", "singular": "widget", "kind": "Widget",
                "listKind": "WidgetList",
            },
            "versions": [version("v1"), version("v2")],
            // Answers in v1beta1 need no uid, which the fuzzer could not know.
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"url": "https://localhost"},
                "conversionReviewVersions": ["v1beta1"],
            }},
        },
        "status": {"storedVersions": ["v1"]},
    });
    let kv = MemoryKv::default();
    for (key, value) in [
        (
            "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
            definition,
        ),
        (
            "/registry/example.com/widgets/default/w",
            json!({
                "apiVersion": "example.com/v1", "kind": "Widget",
                "metadata": {
                    "name": "w", "namespace": "default", "uid": "u", "labels": {"a": "b"},
                },
                "spec": {"size": 1},
            }),
        ),
    ] {
        let put = PutRequest::new(key, value.to_string(), Expected::Any);
        drop(kv.put(put).await.expect("it is open"));
    }
    let mut config = RegistryConfig::new(Arc::new(kv), Arc::new(PlainKinds));
    config.webhooks = Some(Arc::new(Webhook));
    let registry = Registry::new(config);
    // Without the built-in kinds, the status of the definition may not be storable.
    drop(registry.start().await);
    let rest = registry.resource("example.com", "v2", "widgets");
    (registry, rest.expect("it is served"))
}

fuzz_target!(|answer: &[u8]| {
    *ANSWER.lock().expect("it is never poisoned") = Bytes::copy_from_slice(answer);
    let World {
        runtime,
        registry,
        rest,
    } = &*WORLD;
    let cx = registry.request(User::default());
    let any = ResourceVersion::default();
    match runtime.block_on(rest.get(&cx, "default", "w", &any)) {
        Ok(stored) => {
            let object = stored.object().expect("it was converted");
            let meta = object.meta();
            assert_eq!(
                (&*meta.name, &*meta.namespace, &*meta.uid),
                ("w", "default", "u")
            );
            let json = stored.json().expect("it can be written");
            let mut read = rest.new_object().expect("it has metadata");
            merge_json(&mut *read, &json, &mut DecodeContext::new()).expect("it can be read");
            assert_eq!(read.meta().labels, meta.labels);
            // What was converted can be written, if it can be converted back.
            let (new, options) = (kubist_registry::Replacement(read), PostOptions::default());
            drop(runtime.block_on(rest.update(&cx, "default", "w", &new, &options)));
        }
        Err(status) => assert_eq!(status.code, 500, "{status:?}"),
    }
    drop(runtime.block_on(rest.list(&cx, "default", &ListOptions::default())));
});
