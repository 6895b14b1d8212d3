//! Custom objects: their verbs, subresources, versions and rows.

use super::*;
use crate::fixture::options;
use kubist_api::autoscaling::v1::Scale;
use kubist_kinds::{table_cells, table_columns};
use kubist_registry::WatchEvent;

#[tokio::test]
async fn custom_objects_are_created_and_updated_by_the_rules() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let tree = json!({
        "metadata": {"name": "w", "labels": {"k": "x"}},
        "spec": {"size": 3, "color": "red", "free": {"a": [1.5, null]}},
        "status": {"mine": true},
    });
    let created = create(&fixture, &rest, &tree).await.expect("it is fine");
    assert_eq!(created["apiVersion"], "example.com/v1");
    assert_eq!(
        (&created["kind"], &created["metadata"]["generation"]),
        (&json!("Widget"), &json!(1))
    );
    assert_eq!(
        (&created["spec"], &created["status"]),
        (&tree["spec"], &Value::Null)
    );

    let mut changed = created.clone();
    changed["spec"]["size"] = json!(4);
    let updated = put(&fixture, &rest, &changed).await.expect("it is fine");
    assert_eq!(updated["metadata"]["generation"], 2);
    let conflict = put(&fixture, &rest, &changed).await;
    assert!(conflict.is_err_and(|it| it.is_conflict()));
    let same = put(&fixture, &rest, &updated).await.expect("it is fine");
    assert_eq!(same, updated, "nothing is written");
    let mut unconditional = updated.clone();
    unconditional["metadata"]["resourceVersion"] = json!("");
    let refused = put(&fixture, &rest, &unconditional).await;
    assert!(refused.is_err_and(|it| it.is_invalid()));
    let bad = create(&fixture, &rest, &json!({"metadata": {"name": "B_"}})).await;
    assert!(bad.is_err_and(|it| it.is_invalid()));
    drop(task);
}

#[tokio::test]
async fn custom_objects_are_listed_watched_and_deleted() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let cx = fixture.cx();
    let everything = ListOptions::default();
    let watch = rest.watch(&cx, "default", None, &everything, None);
    let mut events = watch.await.expect("it can be watched");
    let tree = json!({"metadata": {"name": "w", "labels": {"k": "x"}}, "spec": {"size": 3}});
    let mut changed = create(&fixture, &rest, &tree).await.expect("it is fine");
    changed["spec"]["size"] = json!(4);
    put(&fixture, &rest, &changed).await.expect("it is fine");
    let tree = json!({"metadata": {"name": "z"}, "spec": {"color": "blue"}});
    create(&fixture, &rest, &tree).await.expect("it is fine");
    let page = async |query: &str| {
        let page = rest.list(&cx, "default", &options(query)).await;
        page.map(|page| names(&page))
    };
    assert_eq!(page("").await.expect("fine"), ["w", "z"]);
    assert_eq!(page("labelSelector=k").await.expect("fine"), ["w"]);
    assert_eq!(
        page("fieldSelector=spec.color=blue").await.expect("fine"),
        ["z"]
    );
    assert!(
        page("fieldSelector=spec.size=4")
            .await
            .is_err_and(|it| it.is_bad_request())
    );
    assert_eq!(page("limit=1").await.expect("fine"), ["w"]);

    let delete = DeleteOptions::default();
    let gone = rest
        .delete(&cx, "default", "w", &delete)
        .await
        .expect("fine");
    assert!(gone.gone && matches!(gone.answer, Created::Status(_)));
    let all = ListOptions::default();
    rest.delete_collection(&cx, "default", &all, &delete)
        .await
        .expect("fine");
    let mut seen = Vec::new();
    while seen.len() < 5 {
        for event in events.next().await.expect("it goes on") {
            seen.push(match event {
                WatchEvent::Added(it) => format!("+{}", shown(&it)["metadata"]["name"]),
                WatchEvent::Modified(it) => format!("~{}", shown(&it)["spec"]["size"]),
                WatchEvent::Deleted(it) => format!("-{}", shown(&it)["metadata"]["name"]),
                other => panic!("{other:?}"),
            });
        }
    }
    assert_eq!(seen, ["+\"w\"", "~4", "+\"z\"", "-\"w\"", "-\"z\""]);
    drop(task);
}

#[tokio::test]
async fn status_and_scale_have_their_own_paths() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let tree = json!({"metadata": {"name": "w"}, "spec": {"replicas": 2}});
    let created = create(&fixture, &rest, &tree).await.expect("it is fine");
    let status = rest.subresource("status").expect("it has one");
    let mut changed = created.clone();
    changed["status"] = json!({"replicas": 1, "selector": "a=b"});
    changed["spec"]["replicas"] = json!(9);
    changed["metadata"]["labels"] = json!({"a": "b"});
    let updated = put(&fixture, &status, &changed).await.expect("it is fine");
    assert_eq!(updated["spec"], created["spec"]);
    assert_eq!(updated["status"], changed["status"]);
    assert_eq!(updated["metadata"]["labels"], Value::Null);
    assert_eq!(updated["metadata"]["generation"], 1);
    let mut main = updated.clone();
    main["status"] = json!({});
    let same = put(&fixture, &rest, &main).await.expect("it is fine");
    assert_eq!(same, updated, "the main path leaves the status alone");

    let scale = rest.subresource("scale").expect("it has one");
    let (cx, any) = (fixture.cx(), ResourceVersion::default());
    let got = scale.get(&cx, "default", "w", &any).await.expect("fine");
    let mut got: Scale = typed(&got);
    assert_eq!(
        (
            got.spec.replicas,
            got.status.replicas,
            &*got.status.selector
        ),
        (2, 1, "a=b")
    );
    got.spec.replicas = 5;
    let (new, options) = (Replacement(Box::new(got)), PostOptions::default());
    scale
        .update(&cx, "default", "w", &new, &options)
        .await
        .expect("fine");
    let stored = rest.get(&cx, "default", "w", &any).await.expect("fine");
    let stored = shown(&stored);
    assert_eq!(stored["spec"]["replicas"], 5);
    assert_eq!(stored["metadata"]["generation"], 2);
    drop(task);
}

#[tokio::test]
async fn an_object_is_one_in_all_versions() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let beta = served(&fixture, "v1beta1").await;
    let tree = json!({"metadata": {"name": "w"}, "spec": {"a": 1}});
    let created = create(&fixture, &beta, &tree).await.expect("it is fine");
    assert_eq!(created["apiVersion"], "example.com/v1beta1");
    let rest = served(&fixture, "v1").await;
    let (cx, any) = (fixture.cx(), ResourceVersion::default());
    let got = rest.get(&cx, "default", "w", &any).await.expect("fine");
    let mut expected = created;
    expected["apiVersion"] = json!("example.com/v1");
    assert_eq!(shown(&got), expected);
    assert!(
        fixture
            .registry
            .resource(GROUP, "v1alpha1", "widgets")
            .is_none()
    );
    // Objects are stored as JSON, as upstream.
    let key = b"/registry/example.com/widgets/default/w";
    let stored = kubist_storage::KvRead::get(&fixture.kv, key, None)
        .await
        .expect("it answers");
    let stored = stored.kv.expect("it is there");
    let stored: Value = serde_json::from_slice(&stored.value).expect("it is JSON");
    assert_eq!(stored["apiVersion"], "example.com/v1");
    assert_eq!(stored["spec"], json!({"a": 1}));
    drop(task);
}

#[tokio::test]
async fn a_row_has_the_columns_of_the_definition() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let columns: Vec<&str> = table_columns(rest.facts())
        .iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(columns, ["Name", "Size", "Age"]);
    let tree = json!({"metadata": {"name": "w"}, "spec": {"size": 3}});
    create(&fixture, &rest, &tree).await.expect("it is fine");
    fixture.clock.advance(65);
    let (cx, any) = (fixture.cx(), ResourceVersion::default());
    let got = rest.get(&cx, "default", "w", &any).await.expect("fine");
    let object = got.object().expect("readable");
    let cells = table_cells(rest.facts(), &**object, cx.now());
    assert_eq!(cells, [json!("w"), json!(3), json!("65s")]);
    let beta = served(&fixture, "v1beta1").await;
    let columns: Vec<&str> = table_columns(beta.facts())
        .iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(columns, ["Name", "Age"]);
    drop(task);
}
