//! The families of `/metrics`: names, types, labels and buckets, as upstream's v1.36 declares them
//! (`endpoints/metrics`, `endpoints/handlers/metrics`, `storage/cacher/metrics`,
//! `storage/etcd3/metrics`, `storage/value`, component-base's build information).

use super::scrape::Scrape;
use super::{PATH, cached, config_map};
use crate::client::{Client, server_with};
use http::Version;
use http_body_util::BodyExt;
use kubist_apiserver::{Config, RunningServer};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const REQUEST: &str = "verb group version resource subresource scope component";
const TIMED: &str = "verb dry_run group version resource subresource scope component";
const COUNTED: &str = "verb dry_run group version resource subresource scope component code";
const TERMINATED: &str = "verb group version resource subresource scope component code";
const OBJECT: &str = "group resource";
const SERVED: &str = "group version resource";
const OPERATION: &str = "operation group resource";

const LATENCIES: &str = "0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 \
                         45 60";
const SLI: &str = "0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60";
const WATCH_LIST: &str = "0.05 0.1 0.2 0.4 0.6 0.8 1 2 4 6 8 10 15 20 30 45 60";
const READ_WAIT: &str = "0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3";
const ANSWERS: &str = "1000 10000 100000 1000000 10000000 100000000 1000000000";
const EVENTS: &str = "1024 2048 4096 8192 16384 32768 65536 131072";
const BUILD: &str = "major minor git_version git_commit git_tree_state build_date go_version \
                     compiler platform";

/// Name, type, labels, bucket bounds.
type Row = (&'static str, &'static str, &'static str, String);

fn plain(name: &'static str, kind: &'static str, labels: &'static str) -> Row {
    (name, kind, labels, String::new())
}

fn timed(name: &'static str, labels: &'static str, bounds: &str) -> Row {
    (name, "histogram", labels, bounds.to_owned())
}

/// From 50,000 in 31 steps of 100,000.
fn bodies() -> String {
    let bounds = (0..31).map(|step| (50_000 + step * 100_000).to_string());
    bounds.collect::<Vec<_>>().join(" ")
}

/// From 5 µs, 25 times doubled.
fn transforming() -> String {
    let bounds = (0..25).map(|power| (5e-6 * f64::from(1 << power)).to_string());
    bounds.collect::<Vec<_>>().join(" ")
}

fn requests() -> Vec<Row> {
    let deprecated = "group version resource subresource removed_release";
    vec![
        plain("apiserver_request_total", "counter", COUNTED),
        timed("apiserver_request_duration_seconds", TIMED, LATENCIES),
        timed("apiserver_request_sli_duration_seconds", REQUEST, SLI),
        timed("apiserver_response_sizes", REQUEST, ANSWERS),
        timed(
            "apiserver_request_body_size_bytes",
            "group resource verb",
            &bodies(),
        ),
        plain("apiserver_requested_deprecated_apis", "gauge", deprecated),
        plain(
            "apiserver_request_terminations_total",
            "counter",
            TERMINATED,
        ),
        plain("apiserver_tls_handshake_errors_total", "counter", ""),
        plain(
            "apiserver_current_inflight_requests",
            "gauge",
            "request_kind",
        ),
        plain("apiserver_longrunning_requests", "gauge", REQUEST),
        plain("apiserver_watch_events_total", "counter", SERVED),
        timed("apiserver_watch_events_sizes", SERVED, EVENTS),
        timed(
            "apiserver_watch_list_duration_seconds",
            "group version resource scope",
            WATCH_LIST,
        ),
        plain("kubernetes_build_info", "gauge", BUILD),
    ]
}

fn storage() -> Vec<Row> {
    let transformed = "resource transformation_type transformer_prefix status";
    let transforms = "transformation_type transformer_prefix";
    vec![
        timed("etcd_request_duration_seconds", OPERATION, LATENCIES),
        plain("etcd_requests_total", "counter", OPERATION),
        plain("etcd_bookmark_total", "counter", OBJECT),
        plain("etcd_bookmark_counts", "gauge", OBJECT),
        plain("apiserver_storage_events_received_total", "counter", OBJECT),
        plain("apiserver_storage_objects", "gauge", "resource"),
        plain("apiserver_resource_objects", "gauge", OBJECT),
        plain("apiserver_resource_size_estimate_bytes", "gauge", OBJECT),
        plain("apiserver_storage_list_total", "counter", OBJECT),
        plain(
            "apiserver_storage_list_fetched_objects_total",
            "counter",
            OBJECT,
        ),
        plain(
            "apiserver_storage_list_evaluated_objects_total",
            "counter",
            OBJECT,
        ),
        plain(
            "apiserver_storage_list_returned_objects_total",
            "counter",
            OBJECT,
        ),
        plain(
            "apiserver_storage_transformation_operations_total",
            "counter",
            transformed,
        ),
        timed(
            "apiserver_storage_transformation_duration_seconds",
            transforms,
            &transforming(),
        ),
    ]
}

fn caches() -> Vec<Row> {
    vec![
        plain(
            "apiserver_cache_list_total",
            "counter",
            "group resource index",
        ),
        plain(
            "apiserver_cache_list_fetched_objects_total",
            "counter",
            "group resource index",
        ),
        plain(
            "apiserver_cache_list_returned_objects_total",
            "counter",
            OBJECT,
        ),
        plain("apiserver_init_events_total", "counter", OBJECT),
        plain(
            "apiserver_watch_cache_events_received_total",
            "counter",
            OBJECT,
        ),
        plain(
            "apiserver_watch_cache_events_dispatched_total",
            "counter",
            OBJECT,
        ),
        plain(
            "apiserver_watch_cache_initializations_total",
            "counter",
            OBJECT,
        ),
        plain("apiserver_watch_cache_resource_version", "gauge", OBJECT),
        timed("apiserver_watch_cache_read_wait_seconds", OBJECT, READ_WAIT),
        plain(
            "apiserver_watch_cache_consistent_read_total",
            "counter",
            "group resource success fallback",
        ),
        plain(
            "apiserver_storage_consistency_checks_total",
            "counter",
            "group resource status",
        ),
        plain("watch_cache_capacity", "gauge", OBJECT),
        plain("watch_cache_capacity_increase_total", "counter", OBJECT),
    ]
}

const ADMISSION: &str = "0.005 0.025 0.1 0.5 1 2.5";

/// From 1 ms, 14 times doubled.
fn access() -> Vec<Row> {
    let bounds = (0..15).map(|power| (0.001 * f64::from(1 << power)).to_string());
    let bounds = bounds.collect::<Vec<_>>().join(" ");
    vec![
        plain("authenticated_user_requests", "counter", "username"),
        plain("authentication_attempts", "counter", "result"),
        timed("authentication_duration_seconds", "result", &bounds),
        plain("authorization_attempts_total", "counter", "result"),
        timed("authorization_duration_seconds", "result", &bounds),
        timed(
            "apiserver_admission_step_admission_duration_seconds",
            "type operation rejected",
            ADMISSION,
        ),
        timed(
            "apiserver_admission_controller_admission_duration_seconds",
            "name type operation rejected",
            ADMISSION,
        ),
    ]
}

/// Families that occur only after failures, or with another engine.
fn rare() -> Vec<Row> {
    let aborted = "verb group version resource subresource scope";
    vec![
        plain("apiserver_request_aborts_total", "counter", aborted),
        plain("apiserver_terminated_watchers_total", "counter", OBJECT),
        plain("apiserver_storage_decode_errors_total", "counter", OBJECT),
        plain(
            "apiserver_storage_size_bytes",
            "gauge",
            "storage_cluster_id",
        ),
        plain("etcd_request_errors_total", "counter", OPERATION),
        plain("watch_cache_capacity_decrease_total", "counter", OBJECT),
    ]
}

/// Returns the label names and the bucket bounds of each family, by name.
fn families(scrape: &Scrape) -> BTreeMap<String, (String, BTreeSet<String>, BTreeSet<String>)> {
    let mut families = BTreeMap::new();
    let types = scrape
        .text
        .lines()
        .filter_map(|it| it.strip_prefix("# TYPE "));
    for (name, kind) in types.filter_map(|it| it.split_once(' ')) {
        families.insert(
            name.to_owned(),
            (kind.to_owned(), BTreeSet::new(), BTreeSet::new()),
        );
    }
    for key in scrape.samples.keys() {
        let (name, labels) = key.split_once('{').unwrap_or((key, "}"));
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
            let base = name.strip_suffix(end)?;
            families
                .get(base)
                .is_some_and(|it| it.0 == "histogram")
                .then_some(base)
        });
        let family = families.get_mut(base.unwrap_or(name));
        let (_, names, bounds) = family.expect("it has a type");
        for pair in labels.trim_end_matches('}').split("\",") {
            match pair.split_once("=\"") {
                Some(("le", bound)) => bounds.insert(bound.trim_end_matches('"').to_owned()),
                Some((label, _)) => names.insert(label.to_owned()),
                None => false,
            };
        }
    }
    families
}

fn check(rows: &[Row], scrape: &Scrape, must: bool) -> Vec<String> {
    let families = families(scrape);
    let mut wrong = Vec::new();
    for (name, kind, labels, bounds) in rows {
        let Some((found_kind, found_labels, found_bounds)) = families.get(*name) else {
            if must {
                wrong.push(format!("{name} is missing"));
            }
            continue;
        };
        let labels: BTreeSet<String> = labels.split_whitespace().map(str::to_owned).collect();
        if found_kind != kind || *found_labels != labels {
            wrong.push(format!("{name}: {found_kind} {found_labels:?}"));
        }
        let number = |it: &str| it.parse::<f64>().ok().filter(|it| it.is_finite());
        let mut found: Vec<f64> = found_bounds.iter().filter_map(|it| number(it)).collect();
        found.sort_by(f64::total_cmp);
        let wanted: Vec<f64> = bounds.split_whitespace().filter_map(number).collect();
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= a.abs() * 1e-9;
        if found.len() != wanted.len() || !found.iter().zip(&wanted).all(same) {
            wrong.push(format!("{name}: {found_bounds:?}"));
        }
    }
    wrong
}

/// Does everything that is counted once.
async fn busy(client: &mut Client) {
    assert_eq!(client.post(PATH, &config_map("a")).await.code, 201);
    assert_eq!(client.get("/api/v1/configmaps").await.code, 200);
    assert_eq!(client.get("/api/v1/endpoints").await.code, 200);
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}, "data": {"a": "eA=="}});
    assert_eq!(client.post(secrets, &secret).await.code, 201);
    for number in 0..101 {
        let map = json!({"metadata": {"name": format!("m{number}")}});
        assert_eq!(client.post(PATH, &map).await.code, 201);
    }
    let initial = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
                   &resourceVersionMatch=NotOlderThan";
    until(client, &format!("{PATH}?{initial}"), "initial-events-end").await;
    // Nodes have no cache here, and a watch that ends early requests progress from the engine.
    let nodes = "/api/v1/nodes";
    assert_eq!(client.get(nodes).await.code, 200);
    let node = json!({"metadata": {"name": "n"}});
    assert_eq!(client.post(nodes, &node).await.code, 201);
    assert_eq!(client.get(nodes).await.code, 200);
    let short = "watch=true&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=1";
    until(client, &format!("{nodes}?{short}"), "BOOKMARK").await;
}

/// Reads a watch until it contains this text.
async fn until(client: &mut Client, path: &str, text: &str) {
    let mut watch = client.send("GET", path, "", "").await.expect("it answers");
    let mut got = Vec::new();
    while !String::from_utf8_lossy(&got).contains(text) {
        let frame = watch.body_mut().frame().await.expect("it goes on");
        let data = frame.expect("it is well").into_data();
        got.extend_from_slice(&data.expect("it is data"));
    }
}

/// A request whose body does not arrive in time.
async fn late(server: &RunningServer) {
    let (mut near, far) = tokio::io::duplex(64 << 10);
    server.serve_stream(far).await.expect("it runs");
    let head = format!(
        "POST {PATH}?timeout=10ms HTTP/1.1\r\nhost: s\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nconnection: close\r\n\r\n"
    );
    near.write_all(head.as_bytes()).await.expect("it listens");
    tokio::time::sleep(Duration::from_millis(200)).await;
    near.write_all(&[b' '; 100]).await.expect("it drains");
    let mut answer = String::new();
    near.read_to_string(&mut answer).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
}

#[tokio::test]
async fn names_labels_and_bounds_are_those_of_upstream() {
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = server_with(config, |registry| {
        cached(registry);
        registry.watch_cache.sizes = "nodes#0".parse().expect("it is valid");
        registry.watch_cache.config.consistency_every = Some(Duration::from_millis(10));
    })
    .await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    busy(&mut client).await;
    late(&server).await;
    let mut scrape = Scrape::of(&server).await;
    while !scrape
        .text
        .contains("apiserver_storage_consistency_checks_total")
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
        scrape = Scrape::of(&server).await;
    }
    let must: Vec<Row> = [requests(), storage(), caches(), access()].concat();
    let rare = rare();
    let mut wrong = check(&must, &scrape, true);
    wrong.extend(check(&rare, &scrape, false));
    let known: BTreeSet<&str> = [&must, &rare]
        .into_iter()
        .flat_map(|rows| rows.iter().map(|row| row.0))
        .collect();
    let unknown = families(&scrape)
        .into_keys()
        .filter(|it| !known.contains(&**it) && !it.starts_with("process_"));
    wrong.extend(unknown.map(|it| format!("{it} is not in the table")));
    assert!(wrong.is_empty(), "{wrong:#?}");
    #[cfg(target_os = "linux")]
    for name in [
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    ] {
        assert!(scrape.value(name, &[]).is_some(), "{name}");
    }
    server.shutdown().await;
}
