//! `/metrics`: names, labels and values, access, and bounds.

mod access;
mod names;
mod scrape;

use self::scrape::Scrape;
use crate::client::{Client, server_with, silent_server};
use http::Version;
use http_body_util::BodyExt;
use kubist_apimachinery::GroupResource;
use kubist_apiserver::{Config, RunningServer};
use kubist_registry::RegistryConfig;
use kubist_registry::storage::WatchCacheConfig;
use kubist_registry::transformer::{AesGcm, Transformers};
use serde_json::json;
use std::sync::Arc;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

fn request<'a>(verb: &'a str, scope: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("verb", verb),
        ("group", ""),
        ("version", "v1"),
        ("resource", "configmaps"),
        ("subresource", ""),
        ("scope", scope),
        ("component", "apiserver"),
    ]
}

fn config_map(name: &str) -> serde_json::Value {
    json!({"metadata": {"name": name}, "data": {"a": "x".repeat(1_500)}})
}

async fn cached_server() -> RunningServer {
    let config = Config {
        listen: None,
        ..Config::default()
    };
    server_with(config, cached).await
}

/// Watch caches for everything, and encrypted Secrets.
fn cached(registry: &mut RegistryConfig) {
    registry.watch_cache = WatchCacheConfig::everywhere();
    let key = AesGcm::new("one", &[7; 32]).expect("it is a key");
    let secrets = GroupResource::new("", "secrets");
    let transformers = Arc::new(Transformers::encrypting(key));
    registry.transformers.push((secrets, transformers));
}

/// Completed requests, by verb, scope, dry run and code.
fn check_ended(scrape: &Scrape) {
    scrape.has_type("apiserver_request_total", "counter");
    scrape.has_type("apiserver_request_duration_seconds", "histogram");
    scrape.has_type("apiserver_current_inflight_requests", "gauge");
    let total = |verb, scope, dry_run, code| {
        let mut labels = request(verb, scope);
        labels.extend([("dry_run", dry_run), ("code", code)]);
        scrape.value("apiserver_request_total", &labels)
    };
    assert_eq!(total("POST", "resource", "", "201"), Some(2.0));
    assert_eq!(total("POST", "resource", "All", "201"), Some(1.0));
    assert_eq!(total("POST", "resource", "", "409"), Some(1.0));
    assert_eq!(total("GET", "resource", "", "200"), Some(1.0));
    assert_eq!(total("LIST", "cluster", "", "200"), Some(1.0));
    let mut labels = request("POST", "resource");
    let sli = "apiserver_request_sli_duration_seconds_count";
    assert_eq!(scrape.value(sli, &labels), Some(3.0), "without the dry run");
    labels.push(("dry_run", ""));
    let took = "apiserver_request_duration_seconds_count";
    assert_eq!(scrape.value(took, &labels), Some(3.0));
    labels.push(("le", "60"));
    let bucket = "apiserver_request_duration_seconds_bucket";
    assert_eq!(scrape.value(bucket, &labels), Some(3.0));
    let sizes = "apiserver_response_sizes";
    let labels = request("LIST", "cluster");
    assert_eq!(scrape.value(&format!("{sizes}_count"), &labels), Some(1.0));
    assert!(scrape.value(&format!("{sizes}_sum"), &labels) > Some(3_000.0));
}

/// Requests in progress, and watch events.
fn check_under_way(scrape: &Scrape) {
    let watches = "apiserver_longrunning_requests";
    assert_eq!(
        scrape.value(watches, &request("WATCH", "namespace")),
        Some(1.0)
    );
    let in_flight = |kind| {
        let name = "apiserver_current_inflight_requests";
        scrape.value(name, &[("request_kind", kind)])
    };
    // The scrape itself counts.
    assert_eq!(
        (in_flight("readOnly"), in_flight("mutating")),
        (Some(1.0), Some(0.0))
    );
    let of = [("group", ""), ("version", "v1"), ("resource", "configmaps")];
    assert_eq!(scrape.value("apiserver_watch_events_total", &of), Some(2.0));
    assert_eq!(
        scrape.value("apiserver_watch_events_sizes_count", &of),
        Some(2.0)
    );
    let mut small = of.to_vec();
    small.push(("le", "1024"));
    assert_eq!(
        scrape.value("apiserver_watch_events_sizes_bucket", &small),
        Some(0.0)
    );
}

#[tokio::test]
async fn requests_are_counted_under_upstreams_names_and_labels() {
    let server = cached_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let watch = format!("{PATH}?watch=true");
    let mut watch = client
        .send("GET", &watch, "", "")
        .await
        .expect("it answers");
    for name in ["a", "b"] {
        assert_eq!(client.post(PATH, &config_map(name)).await.code, 201);
    }
    let dry = format!("{PATH}?dryRun=All");
    assert_eq!(client.post(&dry, &config_map("c")).await.code, 201);
    assert_eq!(client.post(PATH, &config_map("a")).await.code, 409);
    assert_eq!(client.get(&format!("{PATH}/a")).await.code, 200);
    assert_eq!(client.get("/api/v1/configmaps").await.code, 200);
    assert_eq!(client.get("/healthz").await.code, 200);
    let body = watch.body_mut();
    let mut received = 0;
    while received < 3_000 {
        let frame = body.frame().await.expect("it goes on").expect("it is well");
        received += frame.into_data().expect("it is data").len();
    }

    let scrape = Scrape::of(&server).await;
    check_ended(&scrape);
    check_under_way(&scrape);
    let watches = "apiserver_longrunning_requests";
    drop(watch);
    drop(client);
    while Scrape::of(&server)
        .await
        .value(watches, &request("WATCH", "namespace"))
        != Some(0.0)
    {
        tokio::task::yield_now().await;
    }
    server.shutdown().await;
}

#[tokio::test]
async fn storage_and_watch_caches_are_counted_by_resource() {
    let server = cached_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for name in ["a", "b", "c"] {
        assert_eq!(client.post(PATH, &config_map(name)).await.code, 201);
    }
    assert_eq!(client.get("/api/v1/configmaps").await.code, 200);
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}, "data": {"a": "eA=="}});
    assert_eq!(client.post(secrets, &secret).await.code, 201);

    let scrape = Scrape::of(&server).await;
    let maps = [("group", ""), ("resource", "configmaps")];
    let value = |name: &str| scrape.value(name, &maps);
    assert_eq!(value("apiserver_resource_objects"), Some(3.0));
    let deprecated = scrape.value("apiserver_storage_objects", &[("resource", "configmaps")]);
    assert_eq!(deprecated, Some(3.0));
    assert_eq!(value("watch_cache_capacity"), Some(100.0));
    assert_eq!(
        value("apiserver_watch_cache_events_received_total"),
        Some(3.0)
    );
    assert_eq!(
        value("apiserver_watch_cache_events_dispatched_total"),
        Some(3.0)
    );
    assert_eq!(
        value("apiserver_watch_cache_initializations_total"),
        Some(1.0)
    );
    assert!(value("apiserver_watch_cache_resource_version") > Some(3.0));
    assert!(value("apiserver_watch_cache_read_wait_seconds_count") >= Some(1.0));
    let consistent = [
        ("group", ""),
        ("resource", "configmaps"),
        ("success", "true"),
        ("fallback", "false"),
    ];
    let name = "apiserver_watch_cache_consistent_read_total";
    assert_eq!(scrape.value(name, &consistent), Some(1.0));
    let indexed = [("group", ""), ("resource", "configmaps"), ("index", "")];
    assert_eq!(
        scrape.value("apiserver_cache_list_total", &indexed),
        Some(1.0)
    );
    assert_eq!(
        value("apiserver_cache_list_returned_objects_total"),
        Some(3.0)
    );
    let created = [
        ("operation", "create"),
        ("group", ""),
        ("resource", "configmaps"),
    ];
    assert_eq!(scrape.value("etcd_requests_total", &created), Some(3.0));
    let name = "etcd_request_duration_seconds_count";
    assert_eq!(scrape.value(name, &created), Some(3.0));
    assert_eq!(scrape.value("etcd_request_errors_total", &created), None);
    let sealed = [
        ("resource", "secrets"),
        ("transformation_type", "to_storage"),
        ("transformer_prefix", "k8s:enc:aesgcm:v1:one:"),
        ("status", "OK"),
    ];
    let name = "apiserver_storage_transformation_operations_total";
    assert_eq!(scrape.value(name, &sealed), Some(1.0));
    server.shutdown().await;
}

#[tokio::test]
async fn the_build_and_the_process_are_reported() {
    let server = silent_server().await;
    let scrape = Scrape::of(&server).await;
    let text = &scrape.text;
    assert!(text.contains("\nkubernetes_build_info{"), "{text}");
    assert!(text.contains("minor=\"36\""), "{text}");
    #[cfg(target_os = "linux")]
    for name in ["process_cpu_seconds_total", "process_resident_memory_bytes"] {
        assert!(scrape.value(name, &[]).is_some(), "{name}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn lists_from_storage_say_how_much_they_read() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for name in ["a", "b", "c"] {
        assert_eq!(client.post(PATH, &config_map(name)).await.code, 201);
    }
    let one = "/api/v1/configmaps?labelSelector=none%3Dhas";
    assert_eq!(client.get(one).await.code, 200);
    let scrape = Scrape::of(&server).await;
    let value = |name: &str| {
        let name = format!("apiserver_storage_list_{name}_total");
        scrape.value(&name, &[("group", ""), ("resource", "configmaps")])
    };
    let name = "apiserver_storage_list_total";
    let lists = scrape.value(name, &[("group", ""), ("resource", "configmaps")]);
    assert_eq!(lists, Some(1.0));
    assert_eq!(value("fetched_objects"), Some(3.0));
    assert_eq!(value("evaluated_objects"), Some(3.0));
    assert_eq!(value("returned_objects"), None, "none has that label");
    server.shutdown().await;
}

#[tokio::test]
async fn labels_stay_bounded_whatever_clients_ask_for() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for number in 0..200 {
        for path in [
            format!("/apis/example{number}.com/v1/things"),
            format!("/api/v{number}/pods"),
            format!("/api/v1/things{number}"),
            format!("/api/v1/namespaces/default/configmaps/c{number}"),
            format!("/api/v1/namespaces/default/pods/p/sub{number}"),
            format!("/api/v1/namespaces/n{number}/pods?dryRun=x{number}"),
            format!("/somewhere/{number}"),
            format!("/livez/{number}"),
            format!("/openapi/v3/apis/{number}"),
        ] {
            let method = ["GET", "BREW"][usize::from(number % 50 == 0)];
            client.ask(method, &path, "", "").await;
        }
    }
    let scrape = Scrape::of(&server).await;
    let sets = scrape.sets_of("apiserver_request_total");
    assert!(
        (5..40).contains(&sets),
        "{sets} label sets:\n{}",
        scrape.text
    );
    for wild in ["example1.com", "things1", "sub1", "somewhere", "BREW", "n1"] {
        assert!(!scrape.text.contains(&format!("\"{wild}\"")), "{wild}");
    }
    server.shutdown().await;
}
