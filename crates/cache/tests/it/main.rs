//! Tests of the cache's contracts with minimal objects and with Pods.

mod byte_budget;
mod delta_fifo;
mod delta_fifo_batches;
mod delta_fifo_props;
mod encoded;
mod expiring_store;
mod fifo;
mod fifo_props;
mod indexer;
mod lookups;
mod overlay;
mod overlay_props;
mod projection;
mod props;
mod queue_steps;
mod readers;
mod real_fifo;
mod store_props;
mod transform;
mod wait;
mod write_log;

use kubist_apimachinery::ObjectMeta;
use kubist_cache::{Delta, Indexer, Replacement, ResourceEvent};
use std::sync::Arc;

/// `namespace/name@version app=value …`
fn object(text: &str) -> Arc<ObjectMeta> {
    let mut words = text.split(' ');
    let (key, version) = words
        .next()
        .and_then(|word| word.split_once('@'))
        .expect("key@version");
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let labels = words.map(|word| word.split_once('=').expect("key=value"));
    Arc::new(ObjectMeta {
        namespace: namespace.into(),
        name: name.into(),
        uid: format!("uid-{name}").into(),
        resource_version: version.into(),
        labels: labels
            .map(|(key, value)| (key.into(), value.into()))
            .collect(),
        ..ObjectMeta::default()
    })
}

fn list(version: &str, objects: &[&str]) -> Delta<ObjectMeta> {
    Delta::ReplacedAll(Replacement {
        resource_version: version.into(),
        objects: objects.iter().map(|text| object(text)).collect(),
        unreadable: Vec::new(),
    })
}

/// Applies and publishes a delta, and shows the resulting events.
fn apply(indexer: &mut Indexer<ObjectMeta>, delta: Delta<ObjectMeta>) -> String {
    let mut changes: Vec<ResourceEvent<ObjectMeta>> = Vec::new();
    indexer.apply(delta, &mut changes);
    indexer.publish();
    format!("{changes:?}")
}
