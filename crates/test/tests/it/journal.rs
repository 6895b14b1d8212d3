//! The journal: who did what, and what was written.

use crate::objects::{map, maps};
use kubist::client::Patch;
use kubist_test::{Login, ObjectChange, TestServer};
use serde_json::json;

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

#[tokio::test(start_paused = true)]
async fn requests_have_their_user_program_outcome_and_writes() -> kubist_test::Result {
    let server = quiet().start().await?;
    let login = Login::user("alice", ["devs"]).with_user_agent("editor/2.0 (linux)");
    let client = server.client_of(&login)?;
    let maps: kubist::client::Api<kubist::api::core::v1::ConfigMap> =
        kubist::client::Api::namespaced(client, "default");
    let created = maps.create(&map("a", "1")).await?;
    maps.get("b").await.expect_err("it does not exist");
    let patch = Patch::Merge(json!({"data": {"value": "2"}}));
    let patched = maps.patch("a", &patch).await?;
    // Changes nothing.
    maps.patch("a", &patch).await?;
    maps.delete("a").await?;
    let entries = server.journal().entries();
    let seen: Vec<_> = entries
        .iter()
        .map(|it| (it.verb, it.code.unwrap_or(0)))
        .collect();
    let expected = [
        ("POST", 201),
        ("GET", 404),
        ("PATCH", 200),
        ("PATCH", 200),
        ("DELETE", 200),
    ];
    assert_eq!(seen, expected);
    assert!(
        entries
            .iter()
            .all(|it| &*it.user == "alice" && it.program() == "editor")
    );
    let writes: Vec<_> = entries.iter().flat_map(|it| &it.writes).collect();
    let changes: Vec<_> = writes.iter().map(|it| it.change).collect();
    let expected = [
        ObjectChange::Created,
        ObjectChange::Updated,
        ObjectChange::Deleted,
    ];
    assert_eq!(changes, expected);
    let versions: Vec<_> = writes
        .iter()
        .take(2)
        .map(|it| it.revision.to_string())
        .collect();
    let expected = [&created, &patched].map(|it| it.metadata.resource_version.to_string());
    assert_eq!(versions, expected);
    assert_eq!(writes[2].revision, server.revision());
    assert_eq!(
        entries[0].to_string(),
        format!(
            "2027-01-15T08:00:00.000000Z alice (editor) POST \
             /api/v1/namespaces/default/configmaps 201, created default/a at {}",
            versions[0]
        )
    );
    let counts = server.journal().counts();
    assert_eq!(counts.get(&("editor".into(), "PATCH")), Some(&2));
    assert_eq!(server.journal().count("editor", "DELETE"), 1);
    let last = server
        .journal()
        .last_write("", "configmaps", "default", "a");
    assert_eq!(last.map(|(_, it)| it.change), Some(ObjectChange::Deleted));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn dry_runs_and_refused_requests_write_nothing() -> kubist_test::Result {
    let server = quiet().start().await?;
    let dry = kubist::client::Api::<kubist::api::core::v1::ConfigMap>::namespaced(
        server.client().dry_run(),
        "default",
    );
    dry.create(&map("a", "1")).await?;
    maps(&server)
        .create(&map("not a name", "1"))
        .await
        .expect_err("the name is invalid");
    assert!(server.journal().writes().is_empty());
    assert_eq!(server.journal().requests(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_journal_is_bounded_and_its_counts_go_on() -> kubist_test::Result {
    let server = quiet().journal_entries_max(3).start().await?;
    let maps = maps(&server);
    for number in 0..5 {
        maps.create(&map(&format!("m{number}"), "")).await?;
    }
    let journal = server.journal();
    let kept: Vec<_> = journal.entries().iter().map(|it| it.number).collect();
    assert_eq!(
        (kept, journal.dropped(), journal.requests()),
        (vec![3, 4, 5], 2, 5)
    );
    assert_eq!(journal.count("kubist", "POST"), 5);
    journal.clear();
    assert_eq!((journal.requests(), journal.entries().len()), (0, 0));
    Ok(())
}
