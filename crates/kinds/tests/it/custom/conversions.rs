//! Conversion of custom resources by a webhook: every way to an object converts, and a failing
//! webhook affects only the requests that need it.

mod changes;
mod faults;
mod reads;
mod script;
mod writes;

use self::script::Script;
use super::*;
use kubist_registry::{EventStream, WatchEvent};
use std::time::Duration;

const BETA: &str = "example.com/v1beta1";
/// No review.
const NONE: [usize; 0] = [];

/// Returns both served versions, with subresources.
fn both() -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
    }});
    let mut with_dimension = schema.clone();
    with_dimension["openAPIV3Schema"]["properties"] = json!({"spec": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"dimension": {"type": "string"}},
    }});
    let scaled = |path: &str| {
        json!({"status": {}, "scale": {
            "specReplicasPath": path, "statusReplicasPath": ".status.replicas",
        }})
    };
    json!([
        {
            "name": "v1", "served": true, "storage": true, "schema": schema,
            "subresources": scaled(".spec.size"),
        },
        {
            "name": "v1beta1", "served": true, "storage": false, "schema": with_dimension,
            "subresources": scaled(".spec.replicas"),
            "selectableFields": [{"jsonPath": ".spec.dimension"}],
        },
    ])
}

fn with_webhook(definition: &mut CustomResourceDefinition) {
    let text = json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://example.com/convert"},
        "conversionReviewVersions": ["v1", "v1beta1"],
    }}}});
    let text = text.to_string();
    merge_json(definition, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
}

/// A served definition with a webhook.
struct World {
    fixture: Fixture,
    script: Script,
    v1: Arc<Rest>,
    beta: Arc<Rest>,
    _task: JoinSet<()>,
}

impl World {
    async fn new() -> Self {
        Self::cached(false).await
    }

    async fn cached(cached: bool) -> Self {
        let script = Script::new();
        let caller = script.clone();
        let (fixture, task) = following_with(move |config| {
            config.webhooks = Some(Arc::new(caller));
            if cached {
                config.watch_cache = kubist_registry::storage::WatchCacheConfig::everywhere();
            }
        })
        .await;
        let mut widgets = definition("widgets", "Widget", &both());
        with_webhook(&mut widgets);
        fixture.create(widgets).await;
        let (v1, beta) = (
            served(&fixture, "v1").await,
            served(&fixture, "v1beta1").await,
        );
        Self {
            fixture,
            script,
            v1,
            beta,
            _task: task,
        }
    }

    async fn create(&self, rest: &Rest, name: &str, spec: &Value) -> Value {
        let object = json!({"metadata": {"name": name}, "spec": spec});
        let created = create(&self.fixture, rest, &object).await;
        created.expect("it is fine")
    }

    async fn get(&self, rest: &Rest, name: &str) -> Result<Value, Status> {
        let any = ResourceVersion::default();
        let got = rest.get(&self.fixture.cx(), "default", name, &any).await?;
        Ok(shown(&got))
    }

    async fn list(&self, rest: &Rest, query: &str) -> Result<Vec<Value>, Status> {
        let options = crate::fixture::options(query);
        let page = rest.list(&self.fixture.cx(), "default", &options).await?;
        Ok(page.items.iter().map(shown).collect())
    }

    async fn watch(&self, rest: &Rest, query: &str) -> EventStream {
        let options = crate::fixture::options(query);
        let cx = self.fixture.cx();
        let watch = rest.watch(&cx, "default", None, &options, None).await;
        watch.expect("it begins")
    }

    async fn stored(&self, name: &str) -> Value {
        let key = format!("/registry/example.com/widgets/default/{name}");
        let stored = kubist_storage::KvRead::get(&self.fixture.kv, key.as_bytes(), None).await;
        let stored = stored.expect("it answers").kv.expect("it is there");
        serde_json::from_slice(&stored.value).expect("it is JSON")
    }

    async fn change(&self, edit: impl Fn(&mut CustomResourceDefinition)) {
        loop {
            let found = cluster_get(&self.fixture, "widgets.example.com").await;
            let mut definition = found.expect("it is there");
            edit(&mut definition);
            match self.fixture.put(definition).await {
                Err(status) if status.is_conflict() => {}
                other => return drop(other.expect("it is fine")),
            }
        }
    }
}

async fn next(watch: &mut EventStream) -> Vec<(&'static str, Value)> {
    let limit = Duration::from_secs(60);
    let events = tokio::time::timeout(limit, watch.next()).await;
    let events = events.expect("in time").expect("it goes on");
    let object = |it: &WatchEvent| match it {
        WatchEvent::Error(status) => json!(status.message.as_str()),
        other => shown(other.object().expect("it has one")),
    };
    events
        .iter()
        .map(|it| (it.type_name(), object(it)))
        .collect()
}
