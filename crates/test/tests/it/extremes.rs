//! Times that are too long or too short, and names that nothing can have.

use crate::objects::{map, maps};
use kubist::api::core::v1::{ConfigMap, Service};
use kubist::api::rbac::v1::Role;
use kubist_test::faults::{Failure, Requests, Verb};
use kubist_test::{TestError, TestServer};
use std::time::Duration;
use tokio::time::timeout;

const FOR_EVER: Duration = Duration::MAX;
const MINUTE: Duration = Duration::from_secs(60);

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_too_long_for_an_assertion() -> kubist_test::Result {
    let server = quiet().start().await?;
    maps(&server).create(&map("a", "1")).await?;
    let a = || server.object::<ConfigMap>("default", "a").within(FOR_EVER);
    a().eventually(|_| true).await?;
    a().stable(MINUTE).await?;
    server
        .object::<ConfigMap>("default", "b")
        .within(FOR_EVER)
        .eventually_gone()
        .await?;
    // They would go on, and neither has panicked.
    assert!(timeout(MINUTE, a().stable(FOR_EVER)).await.is_err());
    assert!(
        timeout(MINUTE, a().never(FOR_EVER, |_| false))
            .await
            .is_err()
    );
    server.settled(MINUTE, FOR_EVER).await?;
    assert!(
        timeout(MINUTE, server.settled(FOR_EVER, FOR_EVER))
            .await
            .is_err()
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn time_is_not_advanced_by_ages_at_once() -> kubist_test::Result {
    let server = quiet().start().await?;
    let error = server.advance(FOR_EVER).await.expect_err("it is too long");
    assert!(matches!(error, TestError::TooLong { .. }), "{error}");
    assert!(
        error.to_string().ends_with("at most by 10950 days"),
        "{error}"
    );
    server.advance(MINUTE).await
}

#[tokio::test(start_paused = true)]
async fn time_begins_before_dates_end() -> kubist_test::Result {
    for date in [FOR_EVER, Duration::from_secs(221_845_392_001)] {
        let error = quiet().starting_at(date).start().await;
        let error = error.expect_err("it is too late");
        assert!(matches!(error, TestError::BeginsTooLate { .. }), "{error}");
    }
    let late = Duration::from_secs(221_845_392_000);
    let server = quiet().starting_at(late).start().await?;
    let created = maps(&server).create(&map("a", "1")).await?;
    let date = created.metadata.creation_timestamp.map(|it| it.to_string());
    assert_eq!(date.as_deref(), Some("9000-01-01T00:00:00Z"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_time_is_too_long_for_a_fault() -> kubist_test::Result {
    let server = quiet()
        .real_time_max(FOR_EVER)
        .repeats_max(u64::MAX)
        .journal_entries_max(usize::MAX)
        .start()
        .await?;
    let faults = server.faults();
    let creates = || faults.on(Requests::verb(Verb::Create)).lasting(FOR_EVER);
    let slow = [creates().delay(FOR_EVER), creates().delay(FOR_EVER)];
    let api = maps(&server);
    assert!(timeout(MINUTE, api.create(&map("a", ""))).await.is_err());
    slow.iter().for_each(kubist_test::faults::Rule::lift);
    let rule = creates().fail(Failure::TooManyRequests(FOR_EVER));
    drop(timeout(MINUTE, api.create(&map("a", ""))).await);
    assert!(rule.acted() > 0);
    rule.lift();
    let still = faults.on(Requests::reads()).stand_still_at(u64::MAX);
    drop(timeout(MINUTE, api.get("a")).await);
    still.lift();
    api.create(&map("a", "")).await?;
    faults.restart_server(FOR_EVER);
    let error = api.get("a").await.expect_err("nothing listens");
    assert!(error.status().is_none(), "{error}");
    faults.clear();
    api.get("a").await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_assertion_that_would_see_nothing_is_refused() -> kubist_test::Result {
    let server = quiet().start().await?;
    maps(&server).create(&map("a", "1")).await?;
    let a = || server.object::<ConfigMap>("default", "a");
    let error = a().stable(Duration::ZERO).await;
    let error = error.expect_err("nothing is seen").to_string();
    assert!(
        error.starts_with("ConfigMap default/a, stable for no time: "),
        "{error}"
    );
    let all = server.objects::<ConfigMap>("default");
    let error = all.stable(Duration::ZERO).await;
    error.expect_err("nothing is seen");
    let error = server.settled(Duration::ZERO, MINUTE).await;
    assert!(matches!(error, Err(TestError::NoTime)), "{error:?}");
    // What is there is looked at, even in no time.
    a().never(Duration::ZERO, |it| it.data.is_empty()).await?;
    let error = a().never(Duration::ZERO, |it| !it.data.is_empty()).await;
    error.expect_err("it is so now");
    a().within(Duration::ZERO).eventually(|_| true).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn names_that_no_object_can_have_are_refused() -> kubist_test::Result {
    let server = quiet().start().await?;
    for (namespace, name, what) in [
        ("default", "Settings", "the name \"Settings\" is invalid: "),
        ("default", "a_b", "the name \"a_b\" is invalid: "),
        ("default", "", "the name is empty"),
        ("Default", "a", "the namespace \"Default\" is invalid: "),
    ] {
        let expect = || server.object::<ConfigMap>(namespace, name);
        let told = [
            expect().never(MINUTE, |_| true).await.map(drop),
            expect().stable(MINUTE).await.map(drop),
            expect().eventually(|_| true).await.map(drop),
            expect().eventually_gone().await,
        ];
        for told in told {
            let told = told.expect_err("there can be no such object").to_string();
            assert!(told.contains("no such object can exist: "), "{told}");
            assert!(told.contains(what), "{told}");
        }
    }
    // Other kinds have other rules.
    let service = server.object::<Service>("default", "kube.dns");
    service.never(MINUTE, |_| true).await?;
    let role = server.object::<Role>("default", "system:reader");
    role.never(MINUTE, |_| true).await?;
    let role = server.object::<Role>("default", "a/b");
    role.never(MINUTE, |_| true)
        .await
        .expect_err("it is no segment");
    let maps = server.objects::<ConfigMap>("Default");
    let told = maps
        .never(MINUTE, |_| true)
        .await
        .expect_err("no namespace");
    assert!(
        told.to_string().contains("no such object can exist"),
        "{told}"
    );
    Ok(())
}
