//! Versions of definitions: deprecation, and the end of watches.

use super::*;
use kubist_registry::EventStream;

async fn change(fixture: &Fixture, edit: impl Fn(&mut CustomResourceDefinition)) {
    loop {
        let mut definition = cluster_get(fixture, "widgets.example.com")
            .await
            .expect("there");
        edit(&mut definition);
        match fixture.put(definition).await {
            Err(status) if status.is_conflict() => {}
            other => return drop(other.expect("it is fine")),
        }
    }
}

async fn watch(fixture: &Fixture, rest: &Rest) -> EventStream {
    let options = crate::fixture::options("resourceVersion=0");
    let watch = rest.watch(&fixture.cx(), "", None, &options, None).await;
    watch.expect("it begins")
}

async fn ends(mut watch: EventStream) -> Vec<&'static str> {
    let all = async {
        let mut types = Vec::new();
        while let Some(events) = watch.next().await {
            types.extend(events.iter().map(kubist_registry::WatchEvent::type_name));
        }
        types
    };
    let limit = std::time::Duration::from_secs(10);
    tokio::time::timeout(limit, all).await.expect("it ends")
}

#[tokio::test]
async fn the_end_of_a_definition_ends_its_watches_after_its_objects() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    create(&fixture, &rest, &json!({"metadata": {"name": "w"}}))
        .await
        .expect("it is fine");
    let watch = watch(&fixture, &rest).await;
    let deleted = fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await;
    assert!(!deleted.expect("it begins").gone);
    assert_eq!(ends(watch).await, ["ADDED", "DELETED"]);
    drop(task);
}

#[tokio::test]
async fn a_change_of_its_versions_ends_the_watches_of_a_definition_and_no_other_does() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let beta = served(&fixture, "v1beta1").await;
    let mut first = watch(&fixture, &rest).await;
    let second = watch(&fixture, &beta).await;
    change(&fixture, |it| {
        it.spec.versions[0].additional_printer_columns.clear();
    })
    .await;
    until(async || {
        let now = served(&fixture, "v1").await;
        (now.facts().columns.len() == 2).then_some(())
    })
    .await;
    create(&fixture, &rest, &json!({"metadata": {"name": "w"}}))
        .await
        .expect("it is fine");
    let events = first.next().await.expect("it goes on");
    assert_eq!(events[0].type_name(), "ADDED");
    change(&fixture, |it| it.spec.versions[1].served = false).await;
    ends(first).await;
    assert_eq!(ends(second).await, ["ADDED"]);
    drop(task);
}

#[tokio::test]
async fn a_definition_that_has_the_finalizer_already_gets_it_once() {
    let fixture = Fixture::new().await;
    let mut widgets = definition("widgets", "Widget", &versions());
    let cleanup = "customresourcecleanup.apiextensions.k8s.io";
    widgets.metadata.finalizers.push(cleanup.into());
    fixture.create(widgets).await;
    let deleted = fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await;
    assert!(!deleted.expect("it begins").gone);
    let marked = cluster_get(&fixture, "widgets.example.com")
        .await
        .expect("it waits");
    assert_eq!(marked.metadata.finalizers, [cleanup]);
}

#[tokio::test]
async fn a_deprecated_version_says_so() {
    let (fixture, task) = following().await;
    let mut widgets = definition("widgets", "Widget", &versions());
    widgets.spec.versions[1].deprecated = true;
    fixture.create(widgets).await;
    served(&fixture, "v1").await;
    let beta = served(&fixture, "v1beta1").await;
    assert_eq!(served(&fixture, "v1").await.deprecation(), None);
    let default = "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget";
    assert_eq!(beta.deprecation(), Some(default));
    change(&fixture, |it| {
        it.spec.versions[1].deprecation_warning = Some("use another".into());
    })
    .await;
    until(async || {
        let beta = served(&fixture, "v1beta1").await;
        (beta.deprecation() == Some("use another")).then_some(())
    })
    .await;
    change(&fixture, |it| {
        it.spec.versions[1].deprecation_warning = None;
        it.spec.versions[0].deprecated = true;
    })
    .await;
    until(async || {
        let beta = served(&fixture, "v1beta1").await;
        (beta.deprecation() == Some("example.com/v1beta1 Widget is deprecated")).then_some(())
    })
    .await;
    drop(task);
}
