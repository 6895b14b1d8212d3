//! Assertions that wait, and what they say when they fail.

use crate::objects::{map, maps, value};
use kubist::api::core::v1::{ConfigMap, Namespace};
use kubist_test::{Login, TestError, TestServer};
use std::time::Duration;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

/// Sets the values of `a`, one a second.
fn write(server: &TestServer, values: &[&str]) -> kubist_test::Result {
    let login = Login::user("bob", [""; 0]).with_user_agent("writer/1");
    let api: kubist::client::Api<ConfigMap> =
        kubist::client::Api::namespaced(server.client_of(&login)?, "default");
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let work = move || async move {
        for value in values {
            sleep(SECOND).await;
            match api.create(&map("a", &value)).await {
                Err(error) if error.is_already_exists() => {
                    api.edit("a", |it| {
                        *it = ConfigMap {
                            metadata: it.metadata.clone(),
                            ..map("a", &value)
                        }
                    })
                    .await?;
                }
                created => drop(created?),
            }
        }
        sleep(SECOND).await;
        api.delete("a").await.map(drop)
    };
    server.run("writer", |_, _| work())?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn eventually_waits_for_a_version_that_is_soon_replaced() -> kubist_test::Result {
    let server = quiet().start().await?;
    write(&server, &["1", "2", "3"])?;
    let object = || server.object::<ConfigMap>("default", "a");
    let found = object().eventually(|it| value(it) == "2").await?;
    assert_eq!(value(&found), "2");
    object().eventually_gone().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn eventually_says_what_was_seen_who_wrote_it_and_what_differs() -> kubist_test::Result {
    let server = quiet().start().await?;
    write(&server, &["1", "2"])?;
    let object = server
        .object::<ConfigMap>("default", "a")
        .within(Duration::from_millis(2500));
    let error = object
        .eventually(|it| value(it) == "3")
        .await
        .expect_err("there is no 3");
    let text = error.to_string();
    for part in [
        "ConfigMap default/a, eventually: not within 2.5s\n",
        "  at crates/test/tests/it/assertions.rs:",
        "  it is 2027-01-15T08:00:02.500000Z\n",
        "  the last that was seen: ConfigMap default/a, version ",
        "  written by: 2027-01-15T08:00:02.000000Z bob (writer) PATCH \
         /api/v1/namespaces/default/configmaps/a 200, updated default/a at ",
        "  its fields were last changed by: writer (Update) at 2027-01-15T08:00:02Z\n",
        "    data.value: \"1\" -> \"2\"\n",
        "  the object:\n    apiVersion: v1\n    data:\n      value: \"2\"\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert!(!text.contains("managedFields"), "{text}");
    assert_eq!(format!("{error:?}"), text);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn never_sees_every_version_however_short() -> kubist_test::Result {
    let server = quiet().start().await?;
    let object = || server.object::<ConfigMap>("default", "a");
    let never = object().never(SECOND * 10, |it| value(it) == "2");
    let write = async {
        let api = maps(&server);
        api.create(&map("a", "1")).await?;
        // Three versions at one moment.
        for value in ["2", "3"] {
            api.edit("a", |it| drop(it.data.insert("value".into(), value.into())))
                .await?;
        }
        Ok::<_, TestError>(())
    };
    let (seen, written) = tokio::join!(never, write);
    written?;
    let text = seen.expect_err("it was 2 for a moment").to_string();
    assert!(
        text.starts_with("ConfigMap default/a, never for 10s: but after 0ns"),
        "{text}"
    );
    let before = tokio::time::Instant::now();
    object().never(SECOND * 10, |it| value(it) == "2").await?;
    assert_eq!(before.elapsed(), SECOND * 10);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn stable_waits_until_an_object_is_left_alone() -> kubist_test::Result {
    let server = quiet().start().await?;
    write(&server, &["1", "2", "3"])?;
    let object = || server.object::<ConfigMap>("default", "a");
    let error = object().within(SECOND * 2).stable(SECOND * 2).await;
    let text = error.expect_err("it changes each second").to_string();
    assert!(text.contains("stable for 2s: not within 2s"), "{text}");
    // It is deleted in the end.
    assert_eq!(object().stable(SECOND * 2).await?, None);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn several_objects_are_expected_by_their_labels() -> kubist_test::Result {
    let server = quiet().start().await?;
    let api = maps(&server);
    for (name, tier) in [("a", "front"), ("b", "back"), ("c", "front")] {
        let mut map = map(name, "");
        map.metadata.labels.insert("tier".into(), tier.into());
        api.create(&map).await?;
    }
    let front = || server.objects::<ConfigMap>("default").labels("tier=front");
    let found = front().eventually(|all| all.len() == 2).await?;
    let names: Vec<_> = found.iter().map(|it| &*it.metadata.name).collect();
    assert_eq!(names, ["a", "c"]);
    let error = front()
        .within(SECOND)
        .eventually(<[ConfigMap]>::is_empty)
        .await;
    let text = error.expect_err("there are two").to_string();
    assert!(
        text.contains(
            "the configmaps of default with labels tier=front, eventually: not within 1s"
        ),
        "{text}"
    );
    assert!(
        text.contains("  2 configmaps: default/a, default/c\n"),
        "{text}"
    );
    front()
        .labels("tier in (")
        .eventually(|_| true)
        .await
        .expect_err("it is no selector");
    let error = server
        .object::<Namespace>("", "shop")
        .within(SECOND)
        .eventually(|_| true)
        .await;
    let text = error.expect_err("it does not exist").to_string();
    assert!(
        text.starts_with("Namespace shop, eventually: not within 1s\n"),
        "{text}"
    );
    assert!(text.contains("no such object was seen"), "{text}");
    Ok(())
}

#[tokio::test]
async fn assertions_work_in_real_time_too() -> kubist_test::Result {
    let server = quiet().start().await?;
    assert!(!server.clock().is_virtual());
    maps(&server).create(&map("a", "1")).await?;
    server
        .object::<ConfigMap>("default", "a")
        .eventually(|it| value(it) == "1")
        .await?;
    let short = Duration::from_millis(20);
    server
        .object::<ConfigMap>("default", "a")
        .never(short, |it| value(it) == "2")
        .await?;
    let error = server
        .object::<ConfigMap>("default", "b")
        .within(short)
        .eventually(|_| true)
        .await;
    error.expect_err("it does not exist");
    server.advance(short).await.expect_err("time is real");
    Ok(())
}
