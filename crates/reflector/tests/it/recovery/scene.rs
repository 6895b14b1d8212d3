//! Runs a script in every way.

use super::server::{Exchange, Server};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{FetchError, Indexer, Queue as _, RealFifo};
use kubist_reflector::{Config, InitialSync, Reflector, Report};
use std::sync::Arc;
use std::time::Duration;

/// How long nothing may happen before a finished script is over.
const QUIET: Duration = Duration::from_secs(20);
/// How long a script may wait for its next request.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);
/// The polling interval when each poll is followed by a drop.
const TURN: Duration = Duration::from_millis(50);

/// How a script is run.
#[derive(Clone, Copy, Debug)]
struct Way {
    seed: u64,
    batched: bool,
    /// Whether every step is dropped after its first poll.
    dropping: bool,
}

pub(super) async fn play(script: &str) {
    for seed in 1..=4 {
        for batched in [false, true] {
            let dropping = false;
            play_once(
                script,
                Way {
                    seed,
                    batched,
                    dropping,
                },
            )
            .await;
        }
    }
    let (seed, batched, dropping) = (1, false, true);
    play_once(
        script,
        Way {
            seed,
            batched,
            dropping,
        },
    )
    .await;
}

async fn play_once(script: &str, way: Way) {
    let lines: Vec<_> = script
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    let exchanges = lines.iter().filter(|it| it.contains(" ->"));
    let slack = if way.dropping {
        TURN * 3
    } else {
        Duration::from_millis(2)
    };
    let exchanges = exchanges.map(|it| Exchange::parse(it)).collect();
    let server = Server::new(exchanges, way.batched, slack);
    let mut indexer = Indexer::new();
    let source = Arc::clone(&server);
    let reflector = Reflector::new(source, config(&lines), way.seed).with_known(indexer.lister());
    let outcome = outcome(reflector, &server, &mut indexer, way).await;
    let lister = indexer.lister();
    let mut objects: Vec<_> = lister.list().iter().map(|it| version_of(it)).collect();
    objects.sort();
    objects.push(format!("rv={}", lister.resource_version()));
    for line in lines.iter().filter(|it| !it.contains(" ->")) {
        let (key, expected) = line.split_once(':').expect("key: value");
        let expected = expected.trim();
        match key {
            "store" => assert_eq!(objects.join(" "), expected, "{way:?}\n{script}"),
            "events" => assert_eq!(outcome.observed.join(" "), expected, "{way:?}\n{script}"),
            "reports" => assert_eq!(outcome.reports.join(", "), expected, "{way:?}\n{script}"),
            "stats" => {
                for word in expected.split(' ') {
                    let stats = &outcome.stats;
                    let word = word.replace('=', ": ");
                    let found = stats.contains(&format!(" {word},"))
                        || stats.contains(&format!(" {word} }}"));
                    assert!(found, "{way:?}: {word} in {stats}\n{script}");
                }
            }
            "config" => {}
            key => panic!("{key}?"),
        }
    }
}

/// The outcome of a script.
struct Outcome {
    observed: Vec<String>,
    reports: Vec<String>,
    stats: String,
}

/// Steps until the script is finished, and a while longer.
async fn outcome(
    mut reflector: Reflector<ObjectMeta>,
    server: &Server,
    indexer: &mut Indexer<ObjectMeta>,
    way: Way,
) -> Outcome {
    let (mut queue, mut changes, mut reports) = (RealFifo::new(), Vec::new(), Vec::new());
    let mut waited = Duration::ZERO;
    let limit = if way.dropping { TURN } else { QUIET };
    while !server.is_done() || waited < QUIET {
        let mut report = |it: Report| reports.push(show(&it));
        let step = reflector.step(&mut queue, &mut report);
        let moved = if way.dropping {
            let moved = poll_once(step).await;
            tokio::time::sleep(TURN).await;
            moved
        } else {
            tokio::time::timeout(limit, step).await.is_ok()
        };
        while let Some(batch) = queue.pop_batch() {
            for delta in batch.deltas {
                indexer.apply(delta, &mut changes);
            }
            indexer.publish();
        }
        waited = if moved {
            Duration::ZERO
        } else {
            waited + limit
        };
        let expected = server.expects();
        assert!(waited < PATIENCE, "{way:?}: this never came: {expected}");
    }
    Outcome {
        observed: changes.iter().map(|it| format!("{it:?}")).collect(),
        reports,
        stats: format!("{:?}", reflector.stats()),
    }
}

/// Polls once and drops; reports whether the future was done.
pub(super) async fn poll_once(future: impl Future<Output = ()>) -> bool {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

fn config(lines: &[&str]) -> Config {
    let mut config = Config::default();
    let words = lines.iter().filter_map(|it| it.strip_prefix("config:"));
    for word in words.flat_map(str::split_whitespace) {
        match word.split_once('=') {
            None if word == "paged" => config.initial_sync = InitialSync::ListThenWatch,
            Some(("page-size", size)) => config.page_size = Some(size.parse().expect("a size")),
            Some(("internal-window", seconds)) => {
                let seconds = seconds.parse().expect("seconds");
                config.internal_error_retry = Duration::from_secs(seconds);
            }
            _ => panic!("{word}?"),
        }
    }
    config
}

fn version_of(object: &ObjectMeta) -> String {
    format!("{}@{}", object.name, object.resource_version)
}

fn show(report: &Report) -> String {
    match report {
        Report::ListFailed(error) => format!("list failed ({})", word(error)),
        Report::WatchFailed(error, then) => format!("watch failed ({}): {then:?}", word(error)),
        Report::WatchSilent(then) => format!("watch silent: {then:?}"),
        Report::Stale { floor } => format!("stale {floor}"),
        Report::NotServed(_) => "not served".to_owned(),
        Report::Invalid(item) => format!("unreadable {}", item.name.clone().expect("named")),
        other => format!("{other:?}"),
    }
}

fn word(error: &FetchError) -> &'static str {
    match error {
        FetchError::Expired { .. } => "expired",
        FetchError::TooLargeResourceVersion { .. } => "too-large",
        FetchError::Throttled { .. } => "throttled",
        FetchError::ConnectionRefused { .. } => "refused",
        FetchError::Connection { .. } => "cut",
        FetchError::NotServed { .. } => "not-served",
        FetchError::Forbidden { .. } => "forbidden",
        FetchError::Invalid { .. } => "invalid",
        FetchError::Internal { .. } => "internal",
        FetchError::UnexpectedKind { .. } => "table",
        _ => "other",
    }
}
