//! What is told of a manager, and of the program's own checks and metrics.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use crate::cluster::{Cluster, named};
use http::{Method, Request};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, Manager};
use kubist_diagnostics::Diagnostics;
use kubist_diagnostics::prometheus_client::metrics::counter::Counter;
use kubist_informers::SharedInformerFactory;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

fn get(diagnostics: &Diagnostics, path: &str) -> (u16, String) {
    let request = Request::get(path).body(()).expect("a request");
    let response = diagnostics.handle(&request);
    let text = String::from_utf8_lossy(response.body()).into_owned();
    (response.status().as_u16(), text)
}

/// A manager with one controller: of three objects, one always fails and one panics once.
fn manager(cluster: &Cluster) -> Manager<Cluster> {
    for name in ["good", "bad", "worse"] {
        cluster.put(named::<Pod>(name));
    }
    let factory = SharedInformerFactory::new(cluster.clone());
    let maps = factory.informer::<Pod>();
    let panicked = Arc::new(AtomicBool::new(false));
    let reconcile = move |key: ObjectName| {
        let panicked = Arc::clone(&panicked);
        async move {
            sleep(Duration::from_millis(30)).await;
            match &*key.name {
                "bad" => Err(Error::terminal("never")),
                "worse" if !panicked.swap(true, Ordering::SeqCst) => panic!("once"),
                _ => Ok(Action::done()),
            }
        }
    };
    Manager::new(factory).with(Controller::new("maps", &maps), reconcile)
}

#[tokio::test(start_paused = true)]
async fn a_manager_is_told_about_under_upstreams_names() {
    let manager = manager(&Cluster::default());
    let diagnostics = Diagnostics::new().with_manager(&manager);
    assert_eq!(get(&diagnostics, "/healthz"), (200, "ok".to_owned()));
    let (code, text) = get(&diagnostics, "/readyz?verbose");
    let expected = "[+]ping ok\n[-]informers failed: no first list of Pod\n\
        readyz check failed\n";
    assert_eq!((code, &*text), (500, expected));

    let token = CancellationToken::new();
    let running = tokio::spawn(manager.run(token.clone()));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(get(&diagnostics, "/readyz"), (200, "ok".to_owned()));
    let (code, text) = get(&diagnostics, "/metrics");
    assert_eq!(code, 200);
    for line in [
        "controller_runtime_reconcile_total{controller=\"maps\",result=\"success\"} 2",
        "controller_runtime_reconcile_total{controller=\"maps\",result=\"error\"} 2",
        "controller_runtime_reconcile_errors_total{controller=\"maps\"} 2",
        "controller_runtime_terminal_reconcile_errors_total{controller=\"maps\"} 1",
        "controller_runtime_reconcile_panics_total{controller=\"maps\"} 1",
        "controller_runtime_active_workers{controller=\"maps\"} 0.0",
        "controller_runtime_reconcile_time_seconds_bucket{le=\"0.025\",controller=\"maps\"} 0",
        "controller_runtime_reconcile_time_seconds_bucket{le=\"0.05\",controller=\"maps\"} 4",
        "controller_runtime_reconcile_time_seconds_bucket{le=\"+Inf\",controller=\"maps\"} 4",
        "controller_runtime_reconcile_time_seconds_count{controller=\"maps\"} 4",
        "workqueue_depth{name=\"maps\",controller=\"maps\"} 0.0",
        "workqueue_adds_total{name=\"maps\",controller=\"maps\"} 4",
        "workqueue_retries_total{name=\"maps\",controller=\"maps\"} 1",
        "workqueue_work_duration_seconds_count{name=\"maps\",controller=\"maps\"} 4",
        "reflector_lists_total{name=\"Pod\"} 1",
        "informer_store_objects{name=\"Pod\"} 3.0",
    ] {
        assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
    }
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);

    let (_, text) = get(&diagnostics, "/debug/controllers");
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(figures[0]["reconciles"], 4);
    assert_eq!(figures[0]["queue"]["depth"], 0);
    assert!(figures[0]["duration"]["p50_ms"].as_f64().expect("a number") >= 30.0);
    let (_, text) = get(&diagnostics, "/debug/informers");
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&figures[0]["state"], &figures[0]["objects"]),
        (&"Synced".into(), &3.into())
    );
    token.cancel();
    running.await.expect("no panic").expect("no error");
}

#[test]
fn checks_are_told_as_upstreams_servers_do() {
    let works = Arc::new(AtomicBool::new(true));
    let disk = Arc::clone(&works);
    let diagnostics = Diagnostics::new()
        .liveness("disk", move || {
            if disk.load(Ordering::SeqCst) {
                Ok(())
            } else {
                Err("it is full".to_owned())
            }
        })
        .liveness("network", || Ok(()))
        .readiness("broken", || panic!("oh"));
    let ok = || (200, "ok".to_owned());
    assert_eq!(get(&diagnostics, "/livez"), ok());
    assert_eq!(get(&diagnostics, "/healthz/disk"), ok());
    assert_eq!(get(&diagnostics, "/healthz/ping"), ok());
    assert_eq!(get(&diagnostics, "/healthz/nothing").0, 404);
    let verbose = "[+]ping ok\n[+]disk ok\n[+]network ok\nhealthz check passed\n".to_owned();
    assert_eq!(get(&diagnostics, "/healthz?verbose"), (200, verbose));

    works.store(false, Ordering::SeqCst);
    let short = "[+]ping ok\n[-]disk failed: reason withheld\n[+]network ok\nlivez check failed\n";
    assert_eq!(get(&diagnostics, "/livez"), (500, short.to_owned()));
    let (code, text) = get(&diagnostics, "/healthz?verbose=1&exclude=disk&exclude=x");
    assert!(
        code == 200 && text.contains("[+]disk excluded: ok\n"),
        "{text}"
    );
    assert!(text.contains("no matches for \"x\""), "{text}");
    let one = "internal server error: it is full\n".to_owned();
    assert_eq!(get(&diagnostics, "/healthz/disk"), (500, one));
    let (code, text) = get(&diagnostics, "/readyz?verbose");
    assert!(
        code == 500 && text.contains("[-]broken failed: the check panicked"),
        "{text}"
    );
}

#[test]
fn metrics_of_the_programs_own_are_told_too() {
    let made: Counter = Counter::default();
    let diagnostics = Diagnostics::new()
        .metrics(|registry| registry.register("buckets_made", "Buckets made", made.clone()))
        .gauge("buckets", "Buckets", &[("place", "here")], || 2.5)
        .counter("visits", "Visits", &[], || 7);
    made.inc_by(3);
    let (_, text) = get(&diagnostics, "/metrics");
    for line in [
        "buckets_made_total 3",
        "buckets{place=\"here\"} 2.5",
        "visits_total 7",
    ] {
        assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
    }
}

#[test]
fn other_paths_and_methods_are_refused() {
    let diagnostics = Diagnostics::new();
    assert_eq!(get(&diagnostics, "/").0, 404);
    assert_eq!(get(&diagnostics, "/healthzz").0, 404);
    let request = Request::builder().method(Method::POST).uri("/healthz");
    let response = diagnostics.handle(&request.body(()).expect("a request"));
    assert_eq!(response.status(), 405);
}
