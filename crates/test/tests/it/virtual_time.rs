//! Virtual time: dates, timers, and runs that repeat.

use crate::objects::{map, maps};
use kubist::api::coordination::v1::Lease;
use kubist::api::core::v1::{ConfigMap, Event};
use kubist::apimachinery::{MicroTime, Time};
use kubist::client::ApiError;
use kubist::leader_election::{LeaderElectionConfig, LeaderElector, LeaseLock};
use kubist_test::{TestServer, VIRTUAL_START};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn all_dates_come_from_one_virtual_clock() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    sleep(Duration::from_secs(100)).await;
    let made = maps(&server).create(&map("a", "")).await?;
    let date = |seconds: i64| Some(Time::from_unix(1_800_000_000 + seconds));
    assert_eq!(made.metadata.creation_timestamp, date(100));
    assert_eq!(made.metadata.managed_fields[0].time, date(100));
    server.advance(Duration::from_millis(1500)).await?;
    assert_eq!(
        server.clock().date(),
        VIRTUAL_START + Duration::from_millis(101_500)
    );
    assert_eq!(
        server.client().ambient().time(),
        date(101).unwrap_or_default()
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_for_hours_of_virtual_time() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    server.run("elected", |client, token| async move {
        let lock = LeaseLock::new(client, "default", "elected");
        let mut elector = LeaderElector::new(LeaderElectionConfig::new(lock)).expect("it is valid");
        elector
            .run(token, |term| async move { term.token().cancelled().await })
            .await
    })?;
    server
        .object::<Lease>("default", "elected")
        .eventually(|_| true)
        .await?;
    let begun = Instant::now();
    server.advance(HOUR * 2).await?;
    assert_eq!(begun.elapsed(), HOUR * 2);
    let lease = server
        .object::<Lease>("default", "elected")
        .eventually(|_| true)
        .await?;
    let renewed = lease.spec.renew_time.map_or(0, MicroTime::unix);
    let now = 1_800_000_000 + 7200;
    assert!((now - 10..=now + 5).contains(&renewed), "{renewed}");
    let renewals = server.journal().count("elected", "PUT");
    assert!(
        (3_000..4_000).contains(&renewals),
        "{renewals} renewals in two hours"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn events_expire_after_an_hour_of_virtual_time() -> kubist_test::Result {
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {namespace: \
                 default}}";
    let server = TestServer::builder()
        .controllers([])
        .yaml(event)
        .start()
        .await?;
    server
        .object::<Event>("default", "e")
        .never(HOUR, |it| it.metadata.name.is_empty())
        .await?;
    server
        .object::<Event>("default", "e")
        .eventually_gone()
        .await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_backoff_of_an_hour_passes_at_once() -> kubist_test::Result {
    let server = TestServer::start().await?;
    server.run("patient", |client, _| async move {
        let maps: kubist::client::Api<ConfigMap> =
            kubist::client::Api::namespaced(client, "default");
        let mut pause = Duration::from_secs(1);
        while maps.get("go").await.is_err() {
            sleep(pause).await;
            pause = (pause * 2).min(HOUR);
        }
        maps.create(&map("went", "")).await.map(drop)
    })?;
    server.advance(HOUR).await?;
    maps(&server).create(&map("go", "")).await?;
    let went = server
        .object::<ConfigMap>("default", "went")
        .within(HOUR * 2);
    went.eventually(|_| true).await?;
    Ok(())
}

#[tokio::test]
async fn without_a_paused_clock_time_is_real() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    let made = maps(&server).create(&map("a", "")).await?;
    let created = made.metadata.creation_timestamp.map_or(0, Time::unix);
    assert!(created > 1_700_000_000 && server.clock().date() > Duration::from_secs(1_700_000_000));
    Ok::<_, ApiError>(())?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_threads_work_in_real_time() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..20 {
        let maps = maps(&server);
        tasks.spawn(async move { maps.create(&map(&format!("m{number}"), "")).await });
    }
    for created in tasks.join_all().await {
        created?;
    }
    server
        .objects::<ConfigMap>("default")
        .eventually(|all| all.len() == 20)
        .await?;
    server.shutdown().await;
    Ok(())
}
