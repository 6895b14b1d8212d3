//! Forks, the past, and snapshots.

use crate::objects::{map, maps, value};
use kubist::api::core::v1::{ConfigMap, Event, Namespace};
use kubist::cache::WatchItem;
use kubist_test::{Snapshot, TestError, TestServer, VIRTUAL_START};
use std::sync::LazyLock;
use std::time::Duration;

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

#[tokio::test(start_paused = true)]
async fn a_fork_has_the_same_objects_and_goes_its_own_way() -> kubist_test::Result {
    let server = quiet().start().await?;
    let original = maps(&server).create(&map("a", "1")).await?;
    server.advance(Duration::from_secs(90)).await?;
    let fork = server.fork().await?;
    assert_eq!(maps(&fork).get("a").await?, original);
    assert_eq!(fork.clock().date(), VIRTUAL_START + Duration::from_secs(90));
    let edited = maps(&fork).edit("a", |it| it.data.clear()).await?;
    let newer = |map: &ConfigMap| map.metadata.resource_version.parse::<u64>().unwrap_or(0);
    assert!(newer(&edited) > newer(&original), "versions go on");
    maps(&server).create(&map("b", "")).await?;
    maps(&fork).create(&map("c", "")).await?;
    assert_eq!(maps(&server).get("a").await?, original);
    maps(&server)
        .get("c")
        .await
        .expect_err("it is in the fork only");
    maps(&fork)
        .get("b")
        .await
        .expect_err("it was created later");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_fork_draws_other_uids_than_its_origin() -> kubist_test::Result {
    let server = quiet().start().await?;
    let fork = server.fork().await?;
    let twin = server.fork().await?;
    let uid = async |server: &TestServer| {
        let created = maps(server).create(&map("a", "")).await?;
        Ok::<_, TestError>(created.metadata.uid)
    };
    let (of_server, of_fork, of_twin) = (uid(&server).await?, uid(&fork).await?, uid(&twin).await?);
    assert_ne!(of_server, of_fork);
    assert_eq!(of_fork, of_twin, "two forks of one state are the same");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_a_fork_sees_what_was_written_before_it() -> kubist_test::Result {
    use futures_util::StreamExt as _;
    let server = quiet().start().await?;
    let begin = server.revision();
    maps(&server).create(&map("a", "1")).await?;
    let fork = server.fork().await?;
    let options = kubist::apimachinery::ListOptions {
        resource_version: begin.to_string().into(),
        ..Default::default()
    };
    let mut events = maps(&fork).watch(&options).await?;
    let first = events.next().await.transpose()?;
    let is_a = |it: &WatchItem<ConfigMap>| match it {
        WatchItem::Added(map) => &*map.metadata.name == "a",
        _ => false,
    };
    assert!(first.as_ref().is_some_and(is_a), "it is in the history");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_past_can_be_read_and_forked() -> kubist_test::Result {
    let server = quiet().start().await?;
    maps(&server).create(&map("a", "1")).await?;
    maps(&server).create(&map("b", "1")).await?;
    let then = server.revision();
    maps(&server)
        .edit("a", |it| drop(it.data.insert("value".into(), "2".into())))
        .await?;
    maps(&server).delete("b").await?;
    let past = server.at(then)?;
    let old = past.get::<ConfigMap>("default", "a").await?;
    assert_eq!(old.as_ref().map(value), Some("1"));
    assert_eq!(past.get::<ConfigMap>("default", "c").await?, None);
    assert_eq!(past.list::<ConfigMap>("default").await?.len(), 2);
    assert!(past.get::<Namespace>("", "default").await?.is_some());
    let fork = past.fork().await?;
    assert_eq!(fork.revision(), then, "nothing has been written to it");
    assert_eq!(value(&maps(&fork).get("b").await?), "1");
    let created = maps(&fork).create(&map("d", "")).await?;
    assert_eq!(created.metadata.resource_version.parse(), Ok(then + 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_compacted_or_to_come_is_an_error() -> kubist_test::Result {
    use kubist::storage::{KvMaintenance as _, Revision};
    let server = quiet().start().await?;
    maps(&server).create(&map("a", "1")).await?;
    let past = server.at(server.revision())?;
    maps(&server).create(&map("b", "1")).await?;
    let (newest, next) = (server.revision(), server.revision() + 1);
    match server.at(next) {
        Err(TestError::Future {
            revision,
            newest: of,
        }) => {
            assert_eq!((revision, of), (next, newest));
        }
        other => panic!("{other:?}"),
    }
    let error = server.at(0).expect_err("no state has this revision");
    assert!(matches!(error, TestError::NoRevision { .. }), "{error}");
    let told = format!("there is no revision 0: those from 1 to {newest} can be read");
    assert_eq!(error.to_string(), told);
    assert!(matches!(server.at(u64::MAX), Err(TestError::Future { .. })));
    server
        .store()
        .compact(Revision(newest))
        .await
        .expect("it is there");
    let is_compacted = |error: &TestError| match error {
        TestError::Compacted { revision, oldest } => (*revision, *oldest) == (newest - 1, newest),
        _ => false,
    };
    let error = server.at(newest - 1).expect_err("it is compacted");
    assert!(is_compacted(&error), "{error:?}");
    let error = past
        .list::<ConfigMap>("default")
        .await
        .expect_err("it is compacted");
    assert!(is_compacted(&error), "{error:?}");
    // A fork of it was held.
    assert_eq!(maps(&past.fork().await?).get("a").await?.data.len(), 1);
    Ok(())
}

static SHOP: LazyLock<Snapshot> = LazyLock::new(|| {
    let prepared = Snapshot::prepare(TestServer::builder(), async |server: &TestServer| {
        maps(server).create(&map("prepared", "1")).await?;
        server.advance(Duration::from_secs(60)).await
    });
    prepared.expect("it can be prepared")
});

async fn add_to_the_shop() -> kubist_test::Result {
    let server = SHOP.start().await?;
    assert_eq!(
        server.clock().date(),
        VIRTUAL_START + Duration::from_secs(60)
    );
    assert_eq!(value(&maps(&server).get("prepared").await?), "1");
    maps(&server).create(&map("own", "")).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_prepared_state_serves_several_tests() -> kubist_test::Result {
    add_to_the_shop().await
}

#[tokio::test(start_paused = true)]
async fn one_prepared_state_serves_several_tests_and_none_sees_another() -> kubist_test::Result {
    add_to_the_shop().await?;
    add_to_the_shop().await
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_file_begins_another_server() -> kubist_test::Result {
    let folder = tempfile::tempdir().expect("there is a place for it");
    let file = folder.path().join("state.backup");
    let server = quiet().start().await?;
    let stored = maps(&server).create(&map("a", "1")).await?;
    server.snapshot().write(&file).await?;
    let snapshot = Snapshot::read(&file, quiet())?;
    assert_eq!(snapshot.revision(), server.revision());
    let again = snapshot.start().await?;
    assert_eq!(maps(&again).get("a").await?, stored);
    let next = maps(&again).create(&map("b", "1")).await?;
    let version = next
        .metadata
        .resource_version
        .parse::<u64>()
        .expect("it is a number");
    assert!(version > snapshot.revision());

    let text = std::fs::read(&file).expect("it was written");
    std::fs::write(&file, &text[..text.len() - 9]).expect("it can be written");
    let error = Snapshot::read(&file, quiet()).expect_err("it is cut off");
    assert!(
        error.to_string().contains("cannot use the snapshot"),
        "{error}"
    );
    Snapshot::read(&folder.path().join("none"), quiet()).expect_err("it is not there");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_was_to_expire_expires_in_a_fork_at_its_time() -> kubist_test::Result {
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {namespace: \
                 default}}";
    let server = quiet().yaml(event).start().await?;
    server.advance(Duration::from_secs(59 * 60)).await?;
    let fork = server.fork().await?;
    fork.object::<Event>("default", "e")
        .eventually(|_| true)
        .await?;
    fork.object::<Event>("default", "e")
        .within(Duration::from_secs(62))
        .eventually_gone()
        .await?;
    Ok(())
}
