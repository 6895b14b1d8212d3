//! Tests of delete, for one object and for collections.

use super::*;
use kubist_registry::Verb;

#[tokio::test]
async fn delete_heeds_preconditions_and_dry_runs() {
    over_all(async |tester| {
        let who = tester.who();
        let created = tester.create("a").await;
        let (name, meta) = (created.meta().name.clone(), created.meta());
        let none = DeleteOptions::default();
        assert_eq!(code(tester.delete("none", &none).await), 404, "{who}");
        let uid = DeleteOptions::default().with_uid("other");
        assert_eq!(code(tester.delete(&name, &uid).await), 409, "{who}: uid");
        let old = DeleteOptions::default().with_resource_version("1");
        assert_eq!(
            code(tester.delete(&name, &old).await),
            409,
            "{who}: version"
        );
        let dry = DeleteOptions {
            dry_run: vec!["All".into()],
            ..DeleteOptions::default()
        };
        tester.delete(&name, &dry).await.expect("it would be fine");
        let still = object_of(&tester.get(&name).await.expect("it is still there"));
        assert!(still.equals(&*created), "{who}: a dry run");
        let right = DeleteOptions::default()
            .with_uid(meta.uid.clone())
            .with_resource_version(meta.resource_version.clone());
        let deleted = tester.delete(&name, &right).await;
        let deleted = deleted.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let waits = waits(&tester.rest, &*created);
        assert_eq!(deleted.gone, !waits, "{who}");
        assert_eq!(
            code(tester.get(&name).await),
            if waits { 200 } else { 404 },
            "{who}"
        );
    })
    .await;
}

#[tokio::test]
async fn delete_waits_for_finalizers_and_an_update_ends_it() {
    over_all(async |tester| {
        let who = tester.who();
        if matches!(
            tester.rest.facts().plural,
            "namespaces" | "customresourcedefinitions"
        ) {
            return;
        }
        let mut object = tester.object("a");
        object.meta_mut().finalizers.push("x.io/y".into());
        let created = tester.create_in(tester.namespace(), object, false).await;
        let created = created.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let name = object_of(&created).meta().name.clone();
        let deleted = tester.delete(&name, &DeleteOptions::default()).await;
        let deleted = deleted.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        assert!(!deleted.gone, "{who}");
        let mut waiting = object_of(&tester.get(&name).await.expect("it waits"));
        assert!(waiting.meta().is_terminating(), "{who}");
        let mut revived = waiting.boxed_clone();
        revived.meta_mut().deletion_timestamp = None;
        revived.meta_mut().labels.insert("new".into(), "1".into());
        let revived = tester.put(revived).await;
        let revived = revived.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        assert!(
            object_of(&revived).meta().is_terminating(),
            "{who}: it goes on"
        );
        waiting = object_of(&revived);
        waiting.meta_mut().finalizers.clear();
        let last = tester.put(waiting).await;
        last.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        assert_eq!(
            code(tester.get(&name).await),
            404,
            "{who}: nothing to wait for"
        );
    })
    .await;
}

#[tokio::test]
async fn a_collection_is_deleted_with_its_selectors() {
    over_all(async |tester| {
        let who = tester.who();
        if !tester.rest.has(Verb::DeleteCollection) || tester.has_own_name() {
            return;
        }
        let created = tester.create("a").await;
        tester.create("b").await;
        let cx = tester.fixture.cx();
        let selected = options("labelSelector=of=a");
        let all = DeleteOptions::default();
        let deleted = tester
            .rest
            .delete_collection(&cx, tester.namespace(), &selected, &all);
        let deleted = deleted
            .await
            .unwrap_or_else(|status| panic!("{who}: {status:?}"));
        assert_eq!(names(&deleted), ["a"], "{who}");
        let waits = waits(&tester.rest, &*created);
        let got = code(tester.get("a").await);
        assert_eq!(got, if waits { 200 } else { 404 }, "{who}");
        assert_eq!(code(tester.get("b").await), 200, "{who}");
    })
    .await;
}
