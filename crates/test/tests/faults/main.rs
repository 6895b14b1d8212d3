//! Faults of a test server, as its clients see them.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ListOptions, ObjectName, Status, StrOption as _};
use kubist::cache::{Lister, WatchItem};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::informers::SharedInformerFactory;
use kubist_test::faults::{Failure, Requests, Rule, Verb};
use kubist_test::{Login, Snapshot, TestServer};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map
}

fn maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}

/// The client of a program with this name.
fn program(server: &TestServer, name: &str) -> kubist_test::Result<Client> {
    server.client_of(&Login::admin().with_user_agent(name))
}

async fn set(api: &Api<ConfigMap>, name: &str, value: &str) -> Result<ConfigMap, ApiError> {
    let patch = Patch::Merge(json!({"data": {"value": value}}));
    api.patch(name, &patch).await
}

/// Options of a watch from a version on.
fn since(version: &str) -> ListOptions {
    ListOptions {
        resource_version: version.into(),
        ..ListOptions::default()
    }
}

/// Reports whether an error is the expected one.
type Is = fn(&ApiError) -> bool;

fn creates() -> Requests {
    Requests::verb(Verb::Create).of::<ConfigMap>()
}

#[tokio::test(start_paused = true)]
async fn failures_are_the_statuses_of_a_server() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    let faults = server.faults();
    let cases: [(Failure, Is); 4] = [
        (Failure::Conflict, |it| it.is_already_exists()),
        (Failure::InternalError, |it| {
            it.status().is_some_and(Status::is_internal_error)
        }),
        (Failure::Unavailable, |it| {
            it.status().is_some_and(Status::is_service_unavailable)
        }),
        (Failure::Timeout, |it| {
            it.status().is_some_and(Status::is_timeout)
        }),
    ];
    for (failure, is) in cases {
        let rule = faults.on(creates()).once().fail(failure.clone());
        let error = api.create(&map("a")).await.expect_err("it fails");
        assert!(is(&error), "{failure}: {error}");
        assert_eq!(rule.acted(), 1);
    }
    api.create(&map("a")).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_throttled_is_sent_again_after_the_time() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let wait = Duration::from_secs(7);
    let failure = Failure::TooManyRequests(wait);
    let rule = server.faults().on(creates()).times(2).fail(failure);
    let begin = Instant::now();
    maps(server.client()).create(&map("a")).await?;
    assert_eq!(begin.elapsed().as_secs(), 2 * wait.as_secs());
    assert_eq!(rule.acted(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_write_may_be_done_although_its_answer_says_otherwise() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    let faults = server.faults();
    drop(
        faults
            .on(creates().within("default"))
            .once()
            .fail_after(Failure::Timeout),
    );
    assert!(api.create(&map("a")).await.is_err());
    drop(faults.on(creates()).once().break_after());
    assert!(api.create(&map("b")).await.is_err());
    drop(faults.on(creates()).once().break_before());
    assert!(api.create(&map("c")).await.is_err());
    assert!(api.get_opt("a").await?.is_some());
    assert!(api.get_opt("b").await?.is_some());
    assert!(api.get_opt("c").await?.is_none());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rules_are_about_some_requests_and_end() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let faults = server.faults();
    let (one, other) = (program(&server, "one/1.0")?, program(&server, "other")?);
    let rule = faults
        .on(creates().by("one").named(""))
        .skip(1)
        .fail(Failure::InternalError);
    maps(one.clone()).create(&map("a")).await?; // skipped
    maps(other).create(&map("b")).await?;
    assert!(maps(one.clone()).create(&map("c")).await.is_err());
    rule.lift();
    maps(one.clone()).create(&map("c")).await?;
    let minute = Duration::from_secs(60);
    let gets = Requests::verb(Verb::Get).named("c");
    drop(faults.on(gets).lasting(minute).fail(Failure::InternalError));
    assert!(maps(one.clone()).get("c").await.is_err());
    sleep(minute).await;
    maps(one).get("c").await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_never_acts_can_fail_the_test() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let faults = server.faults();
    drop(
        faults
            .on(creates().by("nobody"))
            .must_act()
            .fail(Failure::Conflict),
    );
    let error = faults.check().expect_err("nobody creates");
    let told = "1 rules never acted: create configmaps by nobody is answered 409";
    assert_eq!(error.to_string(), told);
    maps(program(&server, "nobody")?)
        .create(&map("a"))
        .await
        .unwrap_err();
    assert_eq!(faults.check(), Ok(()));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn requests_take_time_or_for_ever() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    let second = Duration::from_secs(1);
    let slow = server.faults().on(creates()).delay(second);
    let begin = Instant::now();
    api.create(&map("a")).await?;
    assert_eq!(begin.elapsed(), second);
    slow.lift();
    drop(server.faults().on(creates()).hang());
    assert!(timeout(60 * second, api.create(&map("b"))).await.is_err());
    assert!(api.get_opt("b").await?.is_none());
    Ok(())
}

/// Runs an informer of config maps, and returns what it shows.
fn cache(client: Client) -> (SharedInformerFactory<Client>, Lister<ConfigMap>) {
    let factory = SharedInformerFactory::new(client);
    let lister = factory.informer::<ConfigMap>().lister_unsynced();
    factory.start();
    (factory, lister)
}

fn shown(lister: &Lister<ConfigMap>, name: &str) -> Option<String> {
    let map = lister.get(&ObjectName::new("default", name))?;
    Some(
        map.data
            .get("value")
            .map(ToString::to_string)
            .unwrap_or_default(),
    )
}

const SOON: Duration = Duration::from_secs(2);

#[tokio::test(start_paused = true)]
async fn watches_are_held_and_then_get_everything() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let (factory, lister) = cache(program(&server, "cache")?);
    sleep(SOON).await;
    let watches = Requests::verb(Verb::Watch).by("cache");
    let held = server.faults().on(watches).hold_watches();
    set(&api, "a", "1").await?;
    sleep(SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some(""));
    held.lift();
    sleep(SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some("1"));
    factory.shutdown().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_lags_is_behind_by_revisions() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let before = server.revision();
    set(&api, "a", "1").await?;
    set(&api, "a", "2").await?;
    let reads = Requests::reads().by("cache");
    let rule = server.faults().on(reads).lag(2);
    let (factory, lister) = cache(program(&server, "cache")?);
    sleep(SOON).await;
    assert_eq!(lister.resource_version().to_u64(), Some(before));
    assert_eq!(shown(&lister, "a").as_deref(), Some(""));
    set(&api, "a", "3").await?;
    sleep(SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some("1"));
    rule.lift();
    sleep(SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some("3"));
    factory.shutdown().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn reads_of_objects_lag_only_if_that_is_asked_for() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let before = server.revision();
    set(&api, "a", "1").await?;
    api.delete("a").await?;
    let gets = Requests::verb(Verb::Get);
    let rule = server.faults().on(gets.clone()).stand_still_at(before);
    assert!(api.get_opt("a").await?.is_none());
    rule.lift();
    drop(server.faults().on(gets).lag_with_gets(1));
    assert!(api.get("a").await?.data.get("value").is("1"));
    assert!(api.get_opt("b").await?.is_none());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_cut_is_resumed_and_one_that_is_gone_lists_again() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let (factory, lister) = cache(program(&server, "cache")?);
    sleep(SOON).await;
    let watches = || Requests::verb(Verb::Watch).by("cache");
    let cut = server.faults().on(watches()).once().cut_watches();
    set(&api, "a", "1").await?;
    sleep(10 * SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some("1"));
    assert_eq!(cut.acted(), 1);
    let gone = server
        .faults()
        .on(watches())
        .once()
        .end_watches(Failure::Gone);
    set(&api, "a", "2").await?;
    sleep(30 * SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some("2"));
    assert_eq!(gone.acted(), 1);
    factory.shutdown().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_dropped_except_the_one_that_ends_a_list() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let rule = server
        .faults()
        .on(Requests::verb(Verb::Watch))
        .drop_bookmarks();
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let (factory, lister) = cache(server.client());
    sleep(SOON).await;
    assert_eq!(shown(&lister, "a").as_deref(), Some(""));
    let version = lister.resource_version();
    // Another kind is written, and minutes pass, as bookmarks would tell.
    sleep(Duration::from_secs(180)).await;
    assert!(rule.acted() > 1);
    assert_eq!(lister.resource_version(), version);
    factory.shutdown().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_server_breaks_watches_and_refuses_connections() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let mut watch = api.watch(&ListOptions::default()).await?;
    server.faults().restart_server(Duration::from_secs(5));
    let broke = async {
        while let Some(batch) = watch.next().await {
            if batch.is_err() {
                return true;
            }
        }
        false
    };
    assert!(timeout(SOON, broke).await.unwrap_or(false));
    let error = set(&api, "a", "1").await.expect_err("nothing listens");
    assert!(error.status().is_none(), "{error}");
    let error = server.client().server_version().await;
    error.expect_err("nothing listens for discovery, either");
    sleep(Duration::from_secs(5)).await;
    set(&api, "a", "1").await?;
    Ok(())
}

/// A watch of config maps.
type Watch = BoxStream<'static, Result<WatchItem<ConfigMap>, ApiError>>;

/// Reports whether a watch breaks soon, whatever it delivers before.
async fn breaks_soon(watch: &mut Watch) -> bool {
    let broke = async {
        while let Some(item) = watch.next().await {
            if item.is_err() {
                return true;
            }
        }
        false
    };
    timeout(SOON, broke).await.unwrap_or(false)
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_server_breaks_watches_that_are_held_or_behind() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    let api = maps(server.client());
    api.create(&map("a")).await?;
    let faults = server.faults();
    let down = Duration::from_secs(5);
    let watches = || faults.on(Requests::verb(Verb::Watch));
    for rule in [
        &|| watches().hold_watches(),
        &|| watches().lag(100),
        &|| watches().stand_still_at(1),
    ] as [&dyn Fn() -> Rule; 3]
    {
        let version = server.revision().to_string();
        let mut watch = api.watch(&since(&version)).await?;
        let rule = rule();
        set(&api, "a", &version).await?;
        assert!(timeout(SOON, watch.next()).await.is_err(), "{rule} now");
        assert_eq!(rule.acted(), 1, "{rule}");
        faults.restart_server(down);
        assert!(breaks_soon(&mut watch).await, "{rule}");
        rule.lift();
        sleep(down).await;
        // Nothing is lost.
        let mut watch = api.watch(&since(&version)).await?;
        assert!(timeout(SOON, watch.next()).await.is_ok(), "{rule}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_restart_of_the_server_breaks_requests_that_wait() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let (api, faults) = (maps(server.client()), server.faults());
    let hour = Duration::from_secs(3600);
    let a = map("a");
    for hangs in [true, false] {
        let rule = faults.on(creates()).once();
        let rule = if hangs { rule.hang() } else { rule.delay(hour) };
        let begin = Instant::now();
        let (created, ()) = tokio::join!(api.create(&a), async {
            sleep(SOON).await;
            faults.restart_server(SOON);
        });
        let error = created.expect_err("its connection broke");
        assert!(error.status().is_none(), "{error}");
        assert!(begin.elapsed() < hour, "{rule}");
        sleep(SOON).await;
    }
    assert!(api.get_opt("a").await?.is_none());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_paused_client_learns_of_a_restart_when_it_goes_on() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(program(&server, "one")?);
    let mut watch = api.watch(&ListOptions::default()).await?;
    let pause = server.faults().pause("one");
    server.faults().restart_server(SOON);
    assert!(timeout(10 * SOON, watch.next()).await.is_err(), "it waits");
    drop(pause);
    assert!(breaks_soon(&mut watch).await);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_must_act_is_reported_after_clear() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let faults = server.faults();
    let acts = faults.on(creates()).once().must_act();
    let acts = acts.delay(Duration::from_secs(1));
    let misses = faults.on(creates().by("nobody")).must_act();
    drop(misses.fail(Failure::Conflict));
    maps(server.client()).create(&map("a")).await?;
    assert_eq!(acts.acted(), 1);
    faults.clear();
    // It is over, so it will never act.
    let nobody = maps(program(&server, "nobody")?);
    nobody.create(&map("b")).await?;
    let error = faults.check().expect_err("one has not acted");
    let told = "1 rules never acted: create configmaps by nobody is answered 409";
    assert_eq!(error.to_string(), told);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_began_with_a_file_lags_to_its_beginning() -> kubist_test::Result {
    let folder = tempfile::tempdir().expect("there is a place for it");
    let file = folder.path().join("state.backup");
    let server = TestServer::builder().controllers([]).start().await?;
    maps(server.client()).create(&map("a")).await?;
    server.snapshot().write(&file).await?;
    let quiet = TestServer::builder().controllers([]);
    let server = Snapshot::read(&file, quiet)?.start().await?;
    let begin = server.revision();
    let api = maps(server.client());
    set(&api, "a", "1").await?;
    for revisions in [3, u64::MAX] {
        let reads = Requests::reads().by("cache");
        let rule = server.faults().on(reads).lag_with_gets(revisions);
        let behind = maps(program(&server, "cache")?);
        let list = behind.list(&ListOptions::default()).await?;
        assert_eq!(list.metadata.resource_version, begin.to_string());
        assert_eq!(behind.get("a").await?.data.len(), 0);
        let (factory, lister) = cache(program(&server, "cache")?);
        sleep(SOON).await;
        assert_eq!(shown(&lister, "a").as_deref(), Some(""), "{revisions}");
        rule.lift();
        sleep(SOON).await;
        assert_eq!(shown(&lister, "a").as_deref(), Some("1"), "{revisions}");
        factory.shutdown().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_paused_waits() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let api = maps(program(&server, "one")?);
    let pause = server.faults().pause("one");
    let minute = Duration::from_secs(60);
    assert!(timeout(minute, api.create(&map("a"))).await.is_err());
    let one = program(&server, "one")?;
    assert!(timeout(minute, one.server_version()).await.is_err());
    maps(program(&server, "other")?).create(&map("b")).await?;
    drop(pause);
    api.create(&map("a")).await?;
    Ok(())
}
