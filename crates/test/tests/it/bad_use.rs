//! Bad use: what is named, and what to do about it.

use crate::objects::{map, maps};
use kubist::api::core::v1::ConfigMap;
use kubist::client::{Api, ApiError};
use kubist_test::{TestError, TestServer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

#[test]
fn without_a_runtime_the_error_names_the_attribute() {
    let mut started = std::pin::pin!(TestServer::start());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = started.as_mut().poll(&mut cx) else {
        panic!("there is no runtime");
    };
    assert!(matches!(error, TestError::NoRuntime));
    assert!(error.to_string().contains("#[tokio::test]"), "{error}");
}

#[test]
fn a_client_on_another_runtime_is_refused_and_does_not_hang() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().expect("there are resources")
    };
    let (one, two) = (runtime(), runtime());
    let server = one.block_on(quiet().start()).expect("it starts");
    let error = two
        .block_on(maps(&server).get("a"))
        .expect_err("its server does not run");
    let text = kubist::apimachinery::with_causes(&error);
    assert!(
        text.contains("this client belongs to a TestServer on another tokio runtime"),
        "{text}"
    );
    let error = one
        .block_on(maps(&server).get("a"))
        .expect_err("it does not exist");
    assert!(error.is_not_found(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_never_ends_does_not_hang_the_test() -> kubist_test::Result {
    let server = quiet().repeats_max(200).start().await?;
    server.run("spinner", |client, _| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        loop {
            // It does not exist, and there is no pause.
            drop(maps.get("a").await);
            if false {
                return Ok::<_, ApiError>(());
            }
        }
    })?;
    let error = server
        .object::<ConfigMap>("default", "b")
        .eventually(|_| true)
        .await;
    let text = error.expect_err("time does not pass").to_string();
    for part in [
        "a loop without a pause: \"spinner\" has sent GET \
         /api/v1/namespaces/default/configmaps/a more than 200 times",
        "TestServerBuilder::repeats_max",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let error = server
        .advance(Duration::from_secs(1))
        .await
        .expect_err("it is stuck");
    assert!(matches!(error, TestError::Stuck(_)), "{error}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn many_creates_at_one_moment_are_no_loop() -> kubist_test::Result {
    let server = quiet().repeats_max(20).start().await?;
    for number in 0..100 {
        maps(&server)
            .create(&map(&format!("m{number}"), ""))
            .await?;
    }
    server
        .objects::<ConfigMap>("default")
        .eventually(|all| all.len() == 100)
        .await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_only_yields_is_ended_by_the_watchdog() -> kubist_test::Result {
    let server = quiet()
        .real_time_max(Duration::from_millis(300))
        .start()
        .await?;
    server.run("yielder", |_, _| async {
        loop {
            tokio::task::yield_now().await;
            if false {
                return Ok::<_, ApiError>(());
            }
        }
    })?;
    let error = server
        .object::<ConfigMap>("default", "b")
        .eventually(|_| true)
        .await;
    let text = error.expect_err("time does not pass").to_string();
    assert!(
        text.contains(
            "a_loop_that_only_yields_is_ended_by_the_watchdog has been running for 0.3 s"
        ),
        "{text}"
    );
    assert!(text.contains("TestServerBuilder::real_time_max"), "{text}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_written_to_forever_does_not_settle() -> kubist_test::Result {
    let server = quiet().start().await?;
    server.run("writer", |client, _| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        for number in 0.. {
            maps.create(&map(&format!("m{number}"), "")).await?;
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        Ok::<_, ApiError>(())
    })?;
    let (quiet, bound) = (Duration::from_secs(10), Duration::from_secs(60));
    let error = server
        .settled(quiet, bound)
        .await
        .expect_err("it never rests");
    assert!(
        error.to_string().contains("most recently: 2027-01-15T08:0"),
        "{error}"
    );
    assert!(
        error.to_string().contains("kubernetes-admin (writer) POST"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn what_runs_ends_with_its_server_whatever_is_kept() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let ticks = Arc::new(AtomicU64::new(0));
    let own = Arc::clone(&ticks);
    let handle = server.run("ticking", |_client, _stop| async move {
        while own.fetch_add(1, Ordering::Relaxed) < 100_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok::<(), ApiError>(())
    })?;
    let journal = server.journal().clone();
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(server);
    let at_the_end = ticks.load(Ordering::Relaxed);
    assert!(at_the_end > 0);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(ticks.load(Ordering::Relaxed), at_the_end);
    drop((handle, journal));
    Ok(())
}
