//! Metric families of the storage stack.

use super::exposition::{Family, number};
use kubist_apimachinery::GroupResource;
use kubist_registry::metrics::{
    CacheMetrics, Count, HistogramState, ListMetrics, ResourceMetrics, StorageRequest,
};
use kubist_registry::transformer::TransformCounts;
use kubist_registry::{CacheState, ObjectCount, Registry};
use prometheus::proto::MetricFamily;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for the engine to report its size, as upstream.
const SIZE_TIMEOUT: Duration = Duration::from_secs(1);
/// Only the low digits of resource versions are exported, as upstream: larger numbers are not
/// exact.
const VERSION_SHOWN: u64 = 1_000_000_000_000_000;

const RESOURCE: &[&str] = &["group", "resource"];
const OPERATION: &[&str] = &["operation", "group", "resource"];
const INDEXED: &[&str] = &["group", "resource", "index"];
const CONSISTENT: &[&str] = &["group", "resource", "success", "fallback"];
const CHECKED: &[&str] = &["group", "resource", "status"];
const TRANSFORMED: &[&str] = &[
    "resource",
    "transformation_type",
    "transformer_prefix",
    "status",
];
const TRANSFORMING: &[&str] = &["transformation_type", "transformer_prefix"];

/// Returns all storage families.
pub(super) async fn families(registry: &Registry) -> Vec<MetricFamily> {
    let metrics = registry.metrics();
    let mut families = requests(&metrics);
    families.extend(lists(&metrics));
    families.extend(cache_states(&registry.watch_caches()));
    families.extend(caches(&metrics));
    families.extend(objects(&registry.object_counts().await));
    families.extend(transformations(&registry.transformations()));
    families.push(size(registry).await);
    families.into_iter().filter_map(Family::finish).collect()
}

fn requests(metrics: &[Arc<ResourceMetrics>]) -> Vec<Family> {
    let mut took = Family::histogram(
        "etcd_request_duration_seconds",
        "How long requests to storage took, whatever the engine",
        OPERATION,
    );
    let mut total = Family::counter(
        "etcd_requests_total",
        "Requests to storage, whatever the engine",
        OPERATION,
    );
    let mut errors = Family::counter(
        "etcd_request_errors_total",
        "Storage requests that failed",
        OPERATION,
    );
    let mut unreadable = Family::counter(
        "apiserver_storage_decode_errors_total",
        "Stored values that could not be decoded",
        RESOURCE,
    );
    let mut events = Family::counter(
        "apiserver_storage_events_received_total",
        "Events received from the storage engine",
        RESOURCE,
    );
    let mut bookmarks = Family::counter(
        "etcd_bookmark_total",
        "Progress notifications received from the storage engine",
        RESOURCE,
    );
    let mut old_bookmarks = Family::gauge(
        "etcd_bookmark_counts",
        "Progress notifications received from the storage engine; deprecated upstream",
        RESOURCE,
    );
    for of in metrics {
        for request in StorageRequest::ALL {
            let labels = [request.name(), &of.group, &of.resource];
            let counted = of.request(request);
            let state = counted.took.state();
            took.observed(&labels, &state);
            total.count_some(&labels, state.count());
            errors.count_some(&labels, counted.errors.value());
        }
        let labels = [&*of.group, &*of.resource];
        unreadable.count_some(&labels, of.decode_errors.value());
        events.count_some(&labels, of.engine_events.value());
        let received = of.engine_bookmarks.value();
        bookmarks.count_some(&labels, received);
        if received > 0 {
            old_bookmarks.set(&labels, number(received));
        }
    }
    vec![
        took,
        total,
        errors,
        unreadable,
        events,
        bookmarks,
        old_bookmarks,
    ]
}

fn lists(metrics: &[Arc<ResourceMetrics>]) -> Vec<Family> {
    let family = |name, help| Family::counter(name, help, RESOURCE);
    let mut storage = [
        family("apiserver_storage_list_total", "Lists from storage"),
        family(
            "apiserver_storage_list_fetched_objects_total",
            "Objects read from storage for lists",
        ),
        family(
            "apiserver_storage_list_evaluated_objects_total",
            "Objects from storage that were tested against selectors",
        ),
        family(
            "apiserver_storage_list_returned_objects_total",
            "Objects from storage that lists returned",
        ),
    ];
    let mut cached = Family::counter(
        "apiserver_cache_list_total",
        "Lists from watch caches",
        INDEXED,
    );
    let mut cached_fetched = Family::counter(
        "apiserver_cache_list_fetched_objects_total",
        "Objects read from watch caches for lists",
        INDEXED,
    );
    let mut cached_returned = family(
        "apiserver_cache_list_returned_objects_total",
        "Objects from watch caches that lists returned",
    );
    for of in metrics {
        let labels = [&*of.group, &*of.resource];
        for (family, count) in storage.iter_mut().zip(counts(&of.from_storage)) {
            family.count_some(&labels, count);
        }
        let [lists, fetched, _, returned] = counts(&of.from_cache);
        let indexed = [&*of.group, &*of.resource, ""];
        cached.count_some(&indexed, lists);
        cached_fetched.count_some(&indexed, fetched);
        cached_returned.count_some(&labels, returned);
    }
    let mut families = Vec::from(storage);
    families.extend([cached, cached_fetched, cached_returned]);
    families
}

fn counts(lists: &ListMetrics) -> [u64; 4] {
    [
        &lists.lists,
        &lists.fetched,
        &lists.evaluated,
        &lists.returned,
    ]
    .map(Count::value)
}

fn cache_states(states: &[CacheState]) -> [Family; 3] {
    let mut capacity = Family::gauge(
        "watch_cache_capacity",
        "Capacity of the watch cache in events",
        RESOURCE,
    );
    let mut version = Family::gauge(
        "apiserver_watch_cache_resource_version",
        "Latest resource version of the watch cache, modulo 10^15",
        RESOURCE,
    );
    let mut bytes = Family::gauge(
        "apiserver_resource_size_estimate_bytes",
        "Size of the stored objects of resources with a watch cache",
        RESOURCE,
    );
    for state in states {
        let labels = [&*state.group, &*state.resource];
        capacity.set(&labels, number(state.stats.capacity as u64));
        version.set(&labels, number(state.stats.revision % VERSION_SHOWN));
        bytes.set(&labels, number(state.stats.bytes as u64));
    }
    [capacity, version, bytes]
}

/// Counters of watch caches without further labels.
type CacheCounter = (&'static str, &'static str, fn(&CacheMetrics) -> &Count);
const CACHE_COUNTERS: [CacheCounter; 7] = [
    (
        "apiserver_watch_cache_events_received_total",
        "Events received by watch caches",
        |it| &it.events_received,
    ),
    (
        "apiserver_watch_cache_events_dispatched_total",
        "Events dispatched to watchers by watch caches",
        |it| &it.events_dispatched,
    ),
    (
        "apiserver_watch_cache_initializations_total",
        "Initializations of watch caches",
        |it| &it.initializations,
    ),
    (
        "apiserver_init_events_total",
        "Initial events sent to watchers of watch caches",
        |it| &it.init_events,
    ),
    (
        "apiserver_terminated_watchers_total",
        "Watchers terminated because they were too slow",
        |it| &it.watchers_terminated,
    ),
    (
        "watch_cache_capacity_increase_total",
        "Increases of the capacity of watch caches",
        |it| &it.capacity_increases,
    ),
    (
        "watch_cache_capacity_decrease_total",
        "Decreases of the capacity of watch caches",
        |it| &it.capacity_decreases,
    ),
];

fn caches(metrics: &[Arc<ResourceMetrics>]) -> Vec<Family> {
    let mut families: Vec<Family> = CACHE_COUNTERS
        .iter()
        .map(|(name, help, _)| Family::counter(name, help, RESOURCE))
        .collect();
    let mut waited = Family::histogram(
        "apiserver_watch_cache_read_wait_seconds",
        "Time that requests waited for a watch cache to become fresh",
        RESOURCE,
    );
    let mut consistent = Family::counter(
        "apiserver_watch_cache_consistent_read_total",
        "Consistent lists requested from watch caches",
        CONSISTENT,
    );
    let mut checked = Family::counter(
        "apiserver_storage_consistency_checks_total",
        "Comparisons of watch caches with storage",
        CHECKED,
    );
    for of in metrics {
        let labels = [&*of.group, &*of.resource];
        for (family, (_, _, count)) in families.iter_mut().zip(CACHE_COUNTERS) {
            family.count_some(&labels, count(&of.cache).value());
        }
        waited.observed(&labels, &of.cache.read_wait.state());
        for (success, fallback) in [(true, false), (true, true), (false, false), (false, true)] {
            let text = |flag| if flag { "true" } else { "false" };
            let labels = [&*of.group, &*of.resource, text(success), text(fallback)];
            let count = of.cache.consistent_reads(success, fallback).value();
            consistent.count_some(&labels, count);
        }
        for (status, count) in [
            ("success", &of.cache.checks_passed),
            ("failure", &of.cache.checks_failed),
            ("error", &of.cache.checks_without_result),
        ] {
            checked.count_some(&[&*of.group, &*of.resource, status], count.value());
        }
    }
    families.extend([waited, consistent, checked]);
    families
}

fn objects(counts: &[ObjectCount]) -> Vec<Family> {
    let mut by_group = Family::gauge(
        "apiserver_resource_objects",
        "Stored objects; -1 if the number is unknown",
        RESOURCE,
    );
    let mut by_name = Family::gauge(
        "apiserver_storage_objects",
        "Stored objects; -1 if the number is unknown; deprecated upstream",
        &["resource"],
    );
    for count in counts {
        let objects = count.objects.map_or(-1.0, |it| number(it as u64));
        by_group.set(&[&count.group, &count.resource], objects);
        let name = match &*count.group {
            "" => count.resource.to_string(),
            group => format!("{}.{group}", count.resource),
        };
        by_name.set(&[&name], objects);
    }
    vec![by_group, by_name]
}

fn transformations(done: &[(GroupResource, TransformCounts)]) -> [Family; 2] {
    let mut operations = Family::counter(
        "apiserver_storage_transformation_operations_total",
        "Values transformed, for example encrypted, between server and storage",
        TRANSFORMED,
    );
    let mut took = Family::histogram(
        "apiserver_storage_transformation_duration_seconds",
        "Time to transform a value",
        TRANSFORMING,
    );
    let mut all: BTreeMap<[&str; 2], HistogramState> = BTreeMap::new();
    for (resource, counts) in done {
        let resource = resource.to_string();
        let written = counts.prefix.as_deref().unwrap_or("unknown");
        let read = match written {
            "" => "identity",
            prefix => prefix,
        };
        for (kind, prefix, status, count) in [
            ("from_storage", read, "OK", counts.opened),
            ("from_storage", read, "Unknown", counts.open_errors),
            ("to_storage", written, "OK", counts.sealed),
            ("to_storage", written, "Unknown", counts.seal_errors),
        ] {
            operations.count_some(&[&resource, kind, prefix, status], count);
        }
        for (labels, state) in [
            (["from_storage", read], &counts.opening),
            (["to_storage", written], &counts.sealing),
        ] {
            let sum = all.entry(labels);
            sum.and_modify(|it| it.add(state))
                .or_insert_with(|| state.clone());
        }
    }
    for (labels, state) in &all {
        took.observed(labels, state);
    }
    [operations, took]
}

async fn size(registry: &Registry) -> Family {
    let mut family = Family::gauge(
        "apiserver_storage_size_bytes",
        "Size of the storage",
        &["storage_cluster_id"],
    );
    // Omitted if the engine does not respond; `/readyz` reports that.
    if let Ok(Ok(sizes)) = timeout(SIZE_TIMEOUT, registry.storage_bytes()).await {
        for (at, bytes) in sizes.into_iter().enumerate() {
            if let Some(bytes) = bytes {
                family.set(&[&format!("etcd-{at}")], number(bytes));
            }
        }
    }
    family
}
