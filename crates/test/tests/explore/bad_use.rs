//! What cannot be explored is found, and the report says what to do.

use futures_util::FutureExt as _;
use kubist::api::core::v1::ConfigMap;
use kubist::client::{Api, ApiError, Client};
use kubist_test::explore::{Exploration, Limits, Problem, Scenario, explore};
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long an exploration may take that finds at once what is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

fn limits() -> Limits {
    Limits {
        blocked: Duration::from_secs(2),
        requests: 2_000,
        writes: Some(500),
        ..Limits::default()
    }
}

async fn create(client: Client) -> Result<ConfigMap, ApiError> {
    let mut map = ConfigMap::default();
    map.metadata.generate_name = "map-".into();
    Api::namespaced(client, "default").create(&map).await
}

/// Explores a controller, and returns what was found; its story has this advice.
#[expect(
    clippy::disallowed_methods,
    reason = "it measures whether something hangs"
)]
fn found<F>(
    advice: &str,
    controller: impl Fn(Client, CancellationToken) -> F + Send + Sync + 'static,
) -> Problem
where
    F: Future<Output = Result<(), Infallible>> + Send + 'static,
{
    let begin = Instant::now();
    let scenario = Scenario::new("bad use")
        .controller("bad", controller)
        .step("something is created", create)
        .limits(limits());
    let explored = explore(0..20, &scenario);
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    problem_of(&explored, advice)
}

fn problem_of(explored: &Exploration, advice: &str) -> Problem {
    let failure = explored.failure().expect("it is found");
    let story = failure.story.to_string();
    assert!(story.contains(advice), "{story}");
    failure.problem.clone()
}

#[test]
fn a_task_that_outlives_its_controller_is_found() {
    let problem = found(
        "spawn into a JoinSet that the controller owns",
        |_, stop| async move {
            let mut tasks = JoinSet::new();
            tasks.spawn(pending::<()>());
            tasks.detach_all();
            stop.cancelled().await;
            Ok(())
        },
    );
    assert!(matches!(problem, Problem::Outlived { .. }), "{problem}");
}

#[test]
fn a_thread_that_wakes_a_controller_is_found() {
    let problem = found("do not use threads", |_, stop| async move {
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let (waits, wait) = std::sync::mpsc::sync_channel(1);
        let mut thread = Some(std::thread::spawn(move || {
            wait.recv().unwrap_or(());
            sender.send(())
        }));
        // It wakes once the controller waits for it, and before the world is over.
        poll_fn(|context| {
            let poll = receiver.poll_unpin(context).map(drop);
            waits.try_send(()).unwrap_or(());
            if let Some(thread) = thread.take() {
                drop(thread.join());
            }
            poll
        })
        .await;
        stop.cancelled().await;
        Ok(())
    });
    assert!(matches!(problem, Problem::Elsewhere { .. }), "{problem}");
}

#[test]
fn a_thread_for_blocking_work_is_found() {
    let problem = found("do not use threads, spawn_blocking", |_, stop| async move {
        drop(tokio::task::spawn_blocking(|| 7).await);
        stop.cancelled().await;
        Ok(())
    });
    assert!(matches!(problem, Problem::Elsewhere { .. }), "{problem}");
}

#[test]
fn a_socket_is_found() {
    let problem = found("cannot open sockets", |_, stop| async move {
        drop(tokio::net::TcpListener::bind("127.0.0.1:0").await);
        stop.cancelled().await;
        Ok(())
    });
    assert!(matches!(problem, Problem::Panicked { .. }), "{problem}");
}

#[test]
fn a_runtime_within_the_runtime_is_found() {
    let problem = found(
        "must not start or block on a runtime",
        |_, stop| async move {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.expect("it is built").block_on(async {});
            stop.cancelled().await;
            Ok(())
        },
    );
    assert!(matches!(problem, Problem::Panicked { .. }), "{problem}");
}

#[test]
fn a_client_that_is_used_on_another_thread_is_found() {
    let problem = found("do not use threads", |client, stop| async move {
        let thread = std::thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_time().build().expect("it is built");
            runtime.block_on(async { drop(create(client).await) });
        });
        drop(thread.join());
        stop.cancelled().await;
        Ok(())
    });
    assert!(matches!(problem, Problem::Elsewhere { .. }), "{problem}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is the bad use")]
fn a_real_sleep_is_found() {
    let problem = found("instead of std::thread::sleep", |_, stop| async move {
        std::thread::sleep(Duration::from_secs(6));
        stop.cancelled().await;
        Ok(())
    });
    assert!(matches!(problem, Problem::Blocked { .. }), "{problem}");
}

/// Ends the loop of the test after the test.
static OVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_loop_that_never_yields_is_found() {
    let problem = found("end loops", |_, stop| async move {
        while !stop.is_cancelled() && !OVER.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        Ok(())
    });
    OVER.store(true, Ordering::Relaxed);
    assert!(matches!(problem, Problem::Blocked { .. }), "{problem}");
}

#[test]
fn a_loop_of_requests_is_found() {
    let problem = found("requeue with a delay", |client, _| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        loop {
            drop(maps.get_opt("nothing").await);
        }
    });
    assert!(matches!(problem, Problem::Busy { .. }), "{problem}");
}

#[test]
fn a_loop_of_writes_is_found() {
    let problem = found("without an end", |client, _| async move {
        loop {
            drop(create(client.clone()).await);
        }
    });
    assert!(matches!(problem, Problem::WriteLoop { .. }), "{problem}");
}

#[test]
fn a_controller_that_does_not_stop_is_found() {
    let problem = found("soon after its CancellationToken", |_, _| pending());
    assert!(matches!(problem, Problem::DoesNotStop { .. }), "{problem}");
}

#[test]
fn a_controller_that_ends_again_and_again_is_found() {
    let problem = found("ended by itself", |_, _| async { Ok(()) });
    assert!(matches!(problem, Problem::Ended { .. }), "{problem}");
}

#[test]
fn an_invariant_that_panics_is_found() {
    let scenario = Scenario::new("bad invariant")
        .step("something is created", create)
        .invariant("it is fine", |_| panic!("nothing is fine"));
    let problem = problem_of(&explore(0..3, &scenario), "return Err with a message");
    let Problem::InvariantPanicked { name, message } = problem else {
        panic!("{problem}");
    };
    assert_eq!(name, "it is fine");
    assert!(message.starts_with("nothing is fine"), "{message}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is the bad use")]
fn an_invariant_that_blocks_is_named() {
    let scenario = Scenario::new("slow invariant")
        .step("something is created", create)
        .invariant("it is fast", |_| Ok(()))
        .invariant("it waits", |_| {
            std::thread::sleep(Duration::from_secs(6));
            Ok(())
        })
        .limits(limits());
    let problem = problem_of(&explore(0..3, &scenario), "instead of std::thread::sleep");
    let Problem::Blocked { last } = problem else {
        panic!("{problem}");
    };
    assert_eq!(last, "the invariant \"it waits\" is asked");
}

#[test]
fn a_step_that_fails_or_never_ends_is_named() {
    let fails = Scenario::new("failing step").step("an error", |_| async { Err::<(), _>("no") });
    let problem = problem_of(&explore(0..3, &fails), "\"an error\" failed: no");
    assert!(matches!(problem, Problem::StepFailed { .. }), "{problem}");
    let hangs =
        Scenario::new("endless step").step("for ever", |_| pending::<Result<(), Infallible>>());
    let problem = problem_of(&explore(0..3, &hangs), "it takes longer than");
    assert!(matches!(problem, Problem::StepFailed { .. }), "{problem}");
}

#[test]
fn a_preparation_that_fails_is_named() {
    let scenario =
        Scenario::new("unprepared").prepare("an error", |_| async { Err::<(), _>("no") });
    let problem = problem_of(
        &explore(0..3, &scenario),
        "cannot be set up: \"an error\": no",
    );
    assert!(matches!(problem, Problem::Setup { .. }), "{problem}");
}

#[test]
fn random_numbers_from_elsewhere_are_found() {
    use std::hash::{BuildHasher as _, RandomState};
    let problem = found("Client::ambient", |client, stop| async move {
        let name = format!("map-{}", RandomState::new().hash_one(7));
        let mut map = ConfigMap::default();
        map.metadata.name = name.as_str().into();
        drop(Api::namespaced(client, "default").create(&map).await);
        stop.cancelled().await;
        Ok(())
    });
    assert!(
        matches!(problem, Problem::NotReproducible { .. }),
        "{problem}"
    );
}
