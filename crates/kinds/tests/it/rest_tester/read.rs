//! Tests of get, list and watch.

use super::*;
use kubist_apimachinery::ListOptions;
use kubist_kinds::{table_cells, table_columns};
use kubist_registry::{Verb, WatchEvent};

#[tokio::test]
async fn get_finds_by_name_and_namespace() {
    over_all(async |tester| {
        let who = tester.who();
        let created = tester.create("a").await;
        let name = created.meta().name.clone();
        let got = object_of(&tester.get(&name).await.expect("it is there"));
        assert!(got.equals(&*created), "{who}");
        let missing = tester.get("none").await.expect_err("it is not there");
        let details = missing.details.expect("it says what is missing");
        let facts = tester.rest.facts();
        assert_eq!(
            (&*details.kind, &*details.group, &*details.name),
            (facts.plural, facts.group, "none"),
            "{who}"
        );
        if facts.namespaced {
            assert_eq!(code(tester.get_in("other", &name).await), 404, "{who}");
            let twin = tester
                .create_in("other", tester.object_for("other", "a"), false)
                .await;
            twin.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        }
    })
    .await;
}

#[tokio::test]
async fn list_selects_by_label_and_name_and_fills_tables() {
    over_all(async |tester| {
        let who = tester.who();
        let before = tester.list("").await.len();
        let one = tester.create("a").await.meta().name.to_string();
        let mut all = 1;
        if !tester.has_own_name() {
            tester.create("b").await;
            all = 2;
        }
        assert_eq!(tester.list("").await.len(), before + all, "{who}");
        assert_eq!(
            tester.list("labelSelector=of=a").await,
            std::slice::from_ref(&one),
            "{who}"
        );
        assert!(
            tester.list("labelSelector=of=none").await.is_empty(),
            "{who}"
        );
        let by_name = format!("fieldSelector=metadata.name={one}");
        assert_eq!(
            tester.list(&by_name).await,
            std::slice::from_ref(&one),
            "{who}"
        );
        let unknown = tester
            .rest
            .list(
                &tester.fixture.cx(),
                tester.namespace(),
                &options("fieldSelector=spec.nonsense=x"),
            )
            .await;
        assert_eq!(code(unknown), 400, "{who}");
        let stored = tester.get(&one).await.expect("it is there");
        let facts = tester.rest.facts();
        let object = object_of(&stored);
        let cells = table_cells(facts, &*object, tester.fixture.cx().now());
        assert_eq!(cells.len(), table_columns(facts).len(), "{who}");
        assert_eq!(
            cells[0].as_str().is_some(),
            table_columns(facts)[0].type_ == "string",
            "{who}"
        );
    })
    .await;
}

#[tokio::test]
async fn watch_delivers_what_labels_and_names_select() {
    over_all(async |tester| {
        let who = tester.who();
        if !tester.rest.has(Verb::Watch) {
            return;
        }
        let cx = tester.fixture.cx();
        let everything = ListOptions::default();
        let page = tester.rest.list(&cx, tester.namespace(), &everything);
        let version = page.await.expect("fine").metadata.resource_version;
        let name = tester.object("a").meta().name.clone();
        for query in [
            "labelSelector=of=a".to_owned(),
            format!("fieldSelector=metadata.name={name}"),
        ] {
            let from = format!("{query}&resourceVersion={version}");
            let from = options(&from);
            let watch = tester
                .rest
                .watch(&cx, tester.namespace(), None, &from, None);
            let mut events = watch.await.expect("it can be watched");
            if tester.get(&name).await.is_err() {
                if !tester.has_own_name() {
                    tester.create("b").await;
                }
                let created = tester.create("a").await;
                let mut other = created.boxed_clone();
                other.meta_mut().labels.insert("of".into(), "b".into());
                tester.put(other).await.expect("it is the newest");
            }
            let mut seen = Vec::new();
            while seen.len() < 2 {
                for event in events.next().await.expect("it goes on") {
                    let (what, stored) = match event {
                        WatchEvent::Added(it) => ("added", it),
                        WatchEvent::Modified(it) => ("modified", it),
                        WatchEvent::Deleted(it) => ("deleted", it),
                        other => panic!("{who}: {other:?}"),
                    };
                    assert_eq!(object_of(&stored).meta().name, name, "{who}");
                    seen.push(what);
                }
            }
            let last = if query.starts_with("label") {
                "deleted"
            } else {
                "modified"
            };
            assert_eq!(seen, ["added", last], "{who}: {query}");
        }
    })
    .await;
}
